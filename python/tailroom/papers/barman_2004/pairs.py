"""Two points compared run by run: runs of one seed have the same starts."""

from tailroom.confidence import Interval, mean_interval
from tailroom.papers.found import Metric, PointFound


def difference(one: PointFound, other: PointFound, metric: Metric) -> Interval:
    """By how much a metric at one point exceeds that at another."""
    pairs = zip(one.values(metric), other.values(metric), strict=True)
    return mean_interval([a - b for a, b in pairs])


def ratio(one: PointFound, other: PointFound, metric: Metric) -> Interval:
    """A metric at one point over that at another."""
    pairs = zip(one.values(metric), other.values(metric), strict=True)
    return mean_interval([a / b for a, b in pairs])
