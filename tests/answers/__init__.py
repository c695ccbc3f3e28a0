"""Right variants and wrong answers for every exercise, one module per lesson and track.

RIGHT maps an exercise to answers that must pass, WRONG to pairs (answer, words that its message must contain).
"""
