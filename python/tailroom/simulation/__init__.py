"""One simulation: run it, and what it returns."""
