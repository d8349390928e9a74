"""The bounds of the paper's claims."""

from tailroom.reproduction.bounds import Bounds

BOUNDS = Bounds.of(str(__package__))
"""From `bounds.toml`, by name."""
