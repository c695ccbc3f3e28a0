"""The instructor's side: a class is collected, judged in sealed children, recorded and reported."""
