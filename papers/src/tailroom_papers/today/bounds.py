"""The bounds of the claims, with their words and reasons."""

from tailroom.reproduction.bounds import Bounds

BOUNDS = Bounds.of(__package__)
