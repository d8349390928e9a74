"""Means over runs in pictures: lines with confidence bands, and the length of error bars."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from tailroom.plots import style
from tailroom.reproduction.part_results import Metric, PointResults
from tailroom.statistics.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_means(  # noqa: PLR0913 - each is one option of a line
    axes: "Axes",
    over: Sequence[float],
    points: Sequence[PointResults],
    metric: Metric,
    look: Mapping[str, Any],
    *,
    label: str = "",
    scale: float = 1.0,
    lines: int = 4,
) -> list[float]:
    """Draws the means of a nonnegative metric with the band of their 95 % intervals.

    Undefined means are left out; a single run has no band, a single point has a bar.

    Args:
        axes: Axes to draw into.
        over: Position of each point on the x axis.
        points: Points of a study.
        metric: Name or function of the metric.
        look: Style of the line, with its colour.
        label: Label for the legend, if the style has none.
        scale: Factor on the metric.
        lines: Number of lines in the panel; many lines have paler bands.

    Returns:
        The means as drawn.
    """
    pairs = zip(over, (point.interval(metric) for point in points), strict=True)
    known = [(x, interval) for x, interval in pairs if interval is not None]
    x = [x for x, _ in known]
    mean = scale * np.array([interval.mean for _, interval in known])
    half = scale * np.array([bar_length(interval) for _, interval in known])
    # A band on a logarithmic scale must not reach 0.
    low, high = np.maximum(mean - half, mean / 100), mean + half
    axes.fill_between(x, low, high, color=look["color"], **style.band(lines))
    if len(x) == 1:
        axes.vlines(x, low, high, color=look["color"], linewidth=1)
    axes.plot(x, mean, **{"label": label, **look})
    return [float(number) for number in mean]


def bar_length(interval: Interval | None) -> float:
    """Returns the half-width of an interval for an error bar; 0 for a single run."""
    return interval.half_width if interval and isfinite(interval.half_width) else 0.0
