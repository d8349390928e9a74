"""Means over runs in pictures: lines with confidence bands, and the length of error bars."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tailroom.plots import style
from tailroom.statistics.intervals import Interval
from tailroom_papers.framework.results import Metric, PointResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


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
    below, above = bars((interval for _, interval in known), scale)
    # A band on a logarithmic scale must not reach 0.
    low, high = np.maximum(mean - below, mean / 100), mean + above
    axes.fill_between(x, low, high, color=look["color"], **style.band(lines))
    if len(x) == 1:
        axes.vlines(x, low, high, color=look["color"], linewidth=1)
    axes.plot(x, mean, **{"label": label, **look})
    return [float(number) for number in mean]


def bars(
    intervals: Iterable[Interval | None], scale: float = 1.0, most: float | None = None
) -> "NDArray[np.float64]":
    """Returns the lengths of error bars below and above means, in two rows; 0 for a single run.

    Args:
        intervals: Means with their 95 % intervals.
        scale: Factor on the metric.
        most: Largest possible value of a nonnegative metric whose intervals do not state it, as
            those of functions; in the unit of the metric.
    """
    known = [interval or Interval(0.0, 0.0, 0) for interval in intervals]
    if most is not None:
        known = [replace(interval, lowest=0.0, highest=most) for interval in known]
    return scale * np.array([interval.bar for interval in known], float).reshape(-1, 2).T
