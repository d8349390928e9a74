"""Checks of one mean beside another, and how reports write what is compared."""

from collections.abc import Sequence

from tailroom.reproduction.claim import Check, shown
from tailroom.statistics.intervals import Interval


def more(
    what: str, ours: Interval | None, other: Interval | None, words: str, *, percent: bool = False
) -> Check:
    """Whether a mean is above another one; undecided where their intervals overlap.

    Args:
        what: What is measured.
        ours: Of what the claim says that it has more.
        other: Of what it is compared with.
        words: What the claim says: "more than under FIFO".
        percent: Whether people read it in percent.
    """
    holds = None
    if ours and other and (ours.low > other.high or ours.high < other.low):
        holds = ours.low > other.high
    return Check(what, f"{words} ({shown(other, percent)})", ours, holds, percent)


def less(
    what: str, ours: Interval | None, other: Interval | None, words: str, *, percent: bool = False
) -> Check:
    """Whether a mean is below another one; undecided where their intervals overlap."""
    check = more(what, ours, other, words, percent=percent)
    holds = None if check.holds is None else not check.holds
    return Check(what, check.stated, ours, holds, percent)


def percent(part: float, digits: int = 0) -> str:
    """A part of a whole in percent."""
    return f"{100 * part:.{digits}f} %"


def sentence(parts: Sequence[str]) -> str:
    """What is said of each of several cases, as one sentence."""
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
