"""Checks that compare two points run by run, and their wording in reports."""

from collections.abc import Sequence

from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.framework import *


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
