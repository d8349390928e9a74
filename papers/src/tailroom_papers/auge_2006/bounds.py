"""The bounds of the paper's claims."""

from tailroom_papers.framework import *

BOUNDS = Bounds.of(str(__package__))
"""From `bounds.toml`, by name."""
