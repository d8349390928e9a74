"""Checks that compare two points run by run, and their wording in reports."""

from collections.abc import Sequence

from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.framework import *


def more(  # noqa: PLR0913 - a comparison has these parts
    what: str,
    ours: PointResults,
    other: PointResults,
    metric: Metric,
    words: str,
    *,
    percent: bool = False,
) -> Check:
    """Checks whether a metric is larger at one point than at another, as a paired difference.

    Args:
        what: The difference, in a few words.
        ours: The point that the claim states to have more.
        other: The point that it is compared with.
        metric: The metric.
        words: The words of the claim: "more than under FIFO".
        percent: Whether reports show percentage points.
    """
    return above(what, paired_difference(ours, other, metric), 0.0, words, percent=percent)


def less(  # noqa: PLR0913 - a comparison has these parts
    what: str,
    ours: PointResults,
    other: PointResults,
    metric: Metric,
    words: str,
    *,
    percent: bool = False,
) -> Check:
    """Checks whether a metric is smaller at one point than at another, as a paired difference."""
    return below(what, paired_difference(ours, other, metric), 0.0, words, percent=percent)


def considerably_less(
    what: str, ours: PointResults, other: PointResults, metric: Metric, words: str
) -> Check:
    """Checks whether a metric is at most half of that at another point, as a paired ratio."""
    stated = f"{words} (ratio below {BOUNDS['considerably'].value:g})"
    return below(what, paired_ratio(ours, other, metric), BOUNDS["considerably"], stated)


def percent(part: float, digits: int = 0) -> str:
    """A part of a whole in percent."""
    return f"{100 * part:.{digits}f} %"


def sentence(parts: Sequence[str]) -> str:
    """Joins statements on several cases into a sentence."""
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
