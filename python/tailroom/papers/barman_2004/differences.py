"""How far two points of studies are apart, and where a curve crosses a level."""

from collections.abc import Sequence
from math import exp, log

from tailroom.confidence import Interval, mean_interval
from tailroom.papers.found import Metric, PointFound


def difference(one: PointFound, other: PointFound, metric: Metric) -> Interval | None:
    """Mean of a metric at one point less that at the other, over runs of the same seed."""
    pairs = zip(one.values(metric), other.values(metric), strict=False)
    found = [a - b for a, b in pairs]
    return mean_interval(found) if found else None


def ratio(one: PointFound, other: PointFound, metric: Metric) -> Interval | None:
    """Mean of a metric at one point over that at the other, over runs of the same seed."""
    pairs = zip(one.values(metric), other.values(metric), strict=False)
    found = [a / b for a, b in pairs if b]
    return mean_interval(found) if found else None


def smallest_fraction(
    fractions: Sequence[float], points: Sequence[PointFound], metric: Metric, target: float
) -> Interval | None:
    """The buffer from which on a metric stays at a target or above it; `None` if in no run it does.

    Between two buffers the metric is taken as linear in the logarithm of the buffer. A run that is
    at the target with the smallest buffer already counts with that one.
    """
    runs = zip(*(point.values(metric) for point in points), strict=False)
    crossings = [crossing(fractions, values, target) for values in runs]
    found = [one for one in crossings if one is not None]
    return mean_interval(found) if len(found) == len(crossings) and found else None


def crossing(fractions: Sequence[float], values: Sequence[float], target: float) -> float | None:
    """Where a curve through these points last rises to a target; `None` if it ends below it."""
    if values[-1] < target:
        return None
    below = [place for place, value in enumerate(values) if value < target]
    if not below:
        return fractions[0]
    left = below[-1]
    part = (target - values[left]) / (values[left + 1] - values[left])
    low, high = log(fractions[left]), log(fractions[left + 1])
    return exp(low + part * (high - low))
