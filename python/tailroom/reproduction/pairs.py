"""Comparison of two points run by run: a seed gives the flows the same starts at both points.

The effect of the starts cancels in the difference, so its interval is narrower.
"""

from tailroom.reproduction.part_results import Metric, PointResults
from tailroom.statistics.intervals import Interval, mean_interval


def difference(point: PointResults, other: PointResults, metric: Metric) -> Interval | None:
    """Returns a metric at one point minus that at another; `None` if no pair has both values."""
    return _mean([a - b for a, b in _pairs(point, other, metric)])


def ratio(point: PointResults, other: PointResults, metric: Metric) -> Interval | None:
    """Returns the ratio of a metric at two points, over pairs with a nonzero second value."""
    return _mean([a / b for a, b in _pairs(point, other, metric) if b])


def _pairs(point: PointResults, other: PointResults, metric: Metric) -> list[tuple[float, float]]:
    """Returns the values of both points for each common seed at which both are defined."""
    beside = {run.seed: run.value(metric) for run in other.runs}
    both = [(run.value(metric), beside.get(run.seed)) for run in point.runs]
    return [(a, b) for a, b in both if a is not None and b is not None]


def _mean(values: list[float]) -> Interval | None:
    return mean_interval(values) if values else None
