"""What the comparison of graders is made of; the command is `tests/benchmarks/graders.py`."""
