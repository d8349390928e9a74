"""The bounds of the claims, from `bounds.toml`."""

from tailroom.reproduction.bounds import Bounds

BOUNDS = Bounds.of(__package__)
