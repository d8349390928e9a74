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
        """Returns the value for this form.

        Args:
            smoke: Value for `SMOKE`.
            quick: Value for `QUICK`.
            full: Value for `FULL`.
        """
        return {Form.SMOKE: smoke, Form.QUICK: quick, Form.FULL: full}[self]
