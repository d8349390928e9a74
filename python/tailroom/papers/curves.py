"""Means over runs as lines, with bands of their 95 % confidence intervals."""

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from tailroom.papers.found import Metric, PointFound
from tailroom.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_means(  # noqa: PLR0913 - each says one thing about a line
    panel: "Axes",
    places: Sequence[float],
    points: Sequence[PointFound],
    metric: Metric,
    look: Mapping[str, Any],
    *,
    scale: float = 1.0,
) -> list[float]:
    """A metric at each place on the x axis; returns the means as drawn.

    Where it is undefined the line has a gap, and where one run leaves its interval open there is no
    band. No metric is negative, so that no band goes below 0.
    """
    found = [point.interval(metric) for point in points]
    means = [scale * one.mean if one else nan for one in found]
    panel.plot(places, means, **look)
    ends = [
        (scale * max(one.low, 0.0), scale * one.high)
        if one and isfinite(one.half_width)
        else (nan, nan)
        for one in found
    ]
    low, high = [low for low, _ in ends], [high for _, high in ends]
    panel.fill_between(places, low, high, color=look["color"], **style.band(4))
    return means
