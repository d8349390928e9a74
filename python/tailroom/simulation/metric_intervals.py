"""Confidence intervals of metrics, within the range that the catalogue states for each."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite

from tailroom.simulation.lower_bounds import Values
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.statistics.intervals import CONFIDENCE, Interval, mean_interval


def metric_interval(
    metric: str, values: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """Returns the mean of a metric over runs with its interval.

    Args:
        metric: Name of the metric, in full or in short.
        values: Its values in independent runs, at least one, in the unit of the metric; with their
            bounds (`Values`), if some are only lower bounds.
        confidence: Confidence level in (0, 1).

    Raises:
        ValueError: There are no values.
    """
    known = metric_of(metric).highest
    highest = inf if known is None else known
    # No metric is negative.
    interval = mean_interval(values, confidence, lowest=0.0, highest=highest)
    if not isinstance(values, Values):
        return interval
    most = None
    if all(map(isfinite, values.at_most)):
        most = mean_interval(values.at_most, confidence, lowest=0.0, highest=highest)
    return replace(interval, is_lower_bound=True, most=most)
