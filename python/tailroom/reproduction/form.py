"""How thoroughly a paper is reproduced."""

from enum import Enum
from typing import TypeVar

T = TypeVar("T")


class Form(Enum):
    """How thoroughly a paper is reproduced."""

    SMOKE = "smoke"
    """Seconds: enough to see that nothing is broken."""
    QUICK = "quick"
    """About a minute on two cores: fewer points and seeds, shorter runs."""
    FULL = "full"
    """The paper's durations, and at least five seeds."""

    def of(self, smoke: T, quick: T, full: T) -> T:
        """Chooses one of three values."""
        return {Form.SMOKE: smoke, Form.QUICK: quick, Form.FULL: full}[self]
