"""The bounds of the claims, with their words and reasons."""

from tailroom_papers.framework import *

BOUNDS = Bounds.of(__package__)
