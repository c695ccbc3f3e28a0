"""One module per lesson: how each of its exercises is judged. Written once, in NumPy, for every track."""
