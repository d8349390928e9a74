"""The smallest buffer with which a metric stays at a target."""

from collections.abc import Sequence
from math import exp, log

from tailroom_papers.framework import *


def smallest_fraction(
    fractions: Sequence[float], points: Sequence[PointResults], metric: Metric, target: float
) -> Interval | None:
    """The buffer from which on a metric stays at a target or above it; `None` if in no run it does.

    A run that is at the target with the smallest buffer already counts with that one.
    """
    runs = zip(*(point.values(metric) for point in points), strict=False)
    crossings = [stays_from(fractions, values, target) for values in runs]
    reached = [crossing for crossing in crossings if crossing is not None]
    return mean_interval(reached) if len(reached) == len(crossings) and reached else None


def stays_from(fractions: Sequence[float], values: Sequence[float], target: float) -> float | None:
    """Where a curve last rises to a target, linear in the logarithm; `None` if it ends below."""
    if values[-1] < target:
        return None
    below = [place for place, value in enumerate(values) if value < target]
    if not below:
        return fractions[0]
    left = below[-1]
    part = (target - values[left]) / (values[left + 1] - values[left])
    low, high = log(fractions[left]), log(fractions[left + 1])
    return exp(low + part * (high - low))
