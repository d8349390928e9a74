"""Two points compared run by run: a seed gives the flows the same starts at both.

A difference of two such runs is more certain than either value, as what the starts do cancels.
"""

from tailroom.reproduction.found import Metric, PointFound
from tailroom.statistics.intervals import Interval, mean_interval


def difference(point: PointFound, other: PointFound, metric: Metric) -> Interval | None:
    """By how much a metric at one point exceeds that at another; `None` if no pair has both."""
    return _mean([a - b for a, b in _pairs(point, other, metric)])


def ratio(point: PointFound, other: PointFound, metric: Metric) -> Interval | None:
    """A metric at one point over that at another, over the pairs in which the other is not 0."""
    return _mean([a / b for a, b in _pairs(point, other, metric) if b])


def _pairs(point: PointFound, other: PointFound, metric: Metric) -> list[tuple[float, float]]:
    """The values of both points for each seed that both have and at which both are defined."""
    beside = {run.seed: run.value(metric) for run in other.runs}
    both = [(run.value(metric), beside.get(run.seed)) for run in point.runs]
    return [(a, b) for a, b in both if a is not None and b is not None]


def _mean(values: list[float]) -> Interval | None:
    return mean_interval(values) if values else None
