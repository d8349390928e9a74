"""Extent of a reproduction."""

from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Form(Enum):
    """Extent of a reproduction."""

    SMOKE = "smoke"
    """Seconds: checks only that the code works."""
    QUICK = "quick"
    """About a minute on two cores: fewer points and seeds, shorter runs."""
    FULL = "full"
    """The paper's durations, and at least five seeds."""

    def of(self, smoke: T, quick: T, full: T) -> T:
        """Chooses one of three values."""
        return {Form.SMOKE: smoke, Form.QUICK: quick, Form.FULL: full}[self]
