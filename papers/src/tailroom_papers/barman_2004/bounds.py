"""The bounds of the claims, from `bounds.toml`."""

from tailroom_papers.framework import *

BOUNDS = Bounds.of(__package__)
