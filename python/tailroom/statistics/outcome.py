"""The outcome of a test: yes, no, or open."""

from collections.abc import Iterable
from enum import Enum
from typing import Never


class Outcome(Enum):
    """Whether a statement about a mean is true, as far as the runs tell.

    The values are those of JSON: true, false, and null. `Outcome(True)` is `Outcome.YES`.
    """

    YES = True
    NO = False
    OPEN = None
    """The runs are not conclusive."""

    def __bool__(self) -> Never:
        """Refuses: an open outcome is neither true nor false.

        Raises:
            TypeError: Always.
        """
        raise TypeError(f"{self} is no truth value; compare it with Outcome.YES, NO or OPEN")

    @classmethod
    def of_all(cls, outcomes: Iterable["Outcome"]) -> "Outcome":
        """Returns whether all statements are true: `NO` if one is false, else open if one is."""
        found = set(outcomes)
        return next((one for one in (cls.NO, cls.OPEN) if one in found), cls.YES)

    @classmethod
    def of_any(cls, outcomes: Iterable["Outcome"]) -> "Outcome":
        """Returns whether a statement is true: `YES` if one is, else open if one is open."""
        found = set(outcomes)
        return next((one for one in (cls.YES, cls.OPEN) if one in found), cls.NO)
