"""Numbers that any implementation can check itself against: scripts, and what the sources expect.

`sets` holds the vectors, `judge` compares results with them, `runs` has tailroom's own results.
"""
