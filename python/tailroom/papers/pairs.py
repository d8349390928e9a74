"""Two points compared run by run: runs of one seed have the same starts and background.

What is random at both points alike cancels, so that a difference is more certain than its sides;
and the other point's mean is not taken for exact, as it would be as the bound of a check.
"""

from collections.abc import Callable

from tailroom.confidence import Interval, mean_interval
from tailroom.papers.found import Metric, PointFound


def difference(one: PointFound, other: PointFound, metric: Metric) -> Interval | None:
    """By how much a metric at one point exceeds that at another; `None` if no run tells."""
    return _compared(one, other, metric, lambda a, b: a - b)


def ratio(one: PointFound, other: PointFound, metric: Metric) -> Interval | None:
    """A metric at one point over that at another, of the seeds for which that is not 0."""
    return _compared(one, other, metric, lambda a, b: a / b if b else None)


def _compared(
    one: PointFound,
    other: PointFound,
    metric: Metric,
    of: Callable[[float, float], float | None],
) -> Interval | None:
    """Over the seeds whose runs have the metric at both points."""
    beside = {run.seed: run.value(metric) for run in other.runs}
    pairs = [(run.value(metric), beside.get(run.seed)) for run in one.runs]
    found = [of(a, b) for a, b in pairs if a is not None and b is not None]
    known = [value for value in found if value is not None]
    return mean_interval(known) if known else None
