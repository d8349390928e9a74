"""Confidence intervals of metrics, within the range that the catalogue states for each."""

from collections.abc import Sequence
from math import inf

from tailroom.simulation.metric_catalogue import metric_of
from tailroom.statistics.intervals import CONFIDENCE, Interval, mean_interval


def metric_interval(
    metric: str, values: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """Returns the mean of a metric over runs with its interval.

    Args:
        metric: Name of the metric, in full or in short.
        values: Its values in independent runs, at least one, in the unit of the metric.
        confidence: Confidence level in (0, 1).

    Raises:
        ValueError: There are no values.
    """
    known = metric_of(metric).highest
    highest = inf if known is None else known
    return mean_interval(values, confidence, lowest=0.0, highest=highest)  # No metric is negative.
