"""Two points of a sweep side by side."""

from tailroom.confidence import Interval, mean_interval
from tailroom.papers.found import Metric, PointFound


def difference(one: PointFound, other: PointFound, metric: Metric) -> Interval | None:
    """How much more of a metric the first point has, over the seeds that both have run."""
    pairs = zip(one.values(metric), other.values(metric), strict=False)
    apart = [a - b for a, b in pairs]
    return mean_interval(apart) if apart else None
