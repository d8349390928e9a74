"""Checks that compare two means, and their wording in reports."""

from collections.abc import Sequence

from tailroom.reproduction.claim import Check, shown
from tailroom.statistics.intervals import Interval


def more(
    what: str, ours: Interval | None, other: Interval | None, words: str, *, percent: bool = False
) -> Check:
    """Whether a mean is above another mean; undecided if their intervals overlap.

    Args:
        what: The measured quantity.
        ours: The mean that the claim states to be larger.
        other: The mean that it is compared with.
        words: The words of the claim: "more than under FIFO".
        percent: Whether reports show percent.
    """
    holds = None
    if ours and other and (ours.low > other.high or ours.high < other.low):
        holds = ours.low > other.high
    return Check(what, f"{words} ({shown(other, percent)})", ours, holds, percent)


def less(
    what: str, ours: Interval | None, other: Interval | None, words: str, *, percent: bool = False
) -> Check:
    """Whether a mean is below another mean; undecided if their intervals overlap."""
    check = more(what, ours, other, words, percent=percent)
    holds = None if check.holds is None else not check.holds
    return Check(what, check.stated, ours, holds, percent)


def percent(part: float, digits: int = 0) -> str:
    """A part of a whole in percent."""
    return f"{100 * part:.{digits}f} %"


def sentence(parts: Sequence[str]) -> str:
    """Joins statements on several cases into a sentence."""
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
