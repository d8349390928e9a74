"""The idle part of the links over time."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    from tailroom.simulation.result import Result

POINTS = 100
"""Number of points over the run."""
SMALLEST_RANGE = 2.0
"""Least upper end of the axis, in percent of the capacity."""


def draw(result: "Result") -> Figure:
    """One line per link: the part of its capacity that is not used.

    Each point is a mean over up to a hundredth of the run. The axis fits the time that the
    statistics cover; a utilization near 100 % would leave nothing to see on an axis of its own.

    Raises:
        ArgumentError: No series was recorded.
    """
    figure = PlainTextFigure(figsize=(9, 3.6), layout="constrained")
    panel = figure.subplots()
    figure.suptitle(result.summary["title"])
    largest = SMALLEST_RANGE
    links = style.evenly_spread(list(result.links))
    for link, line in zip(links, style.line_styles(), strict=False):
        series = result.series("utilization", link=link)
        time_s, used = (np.asarray(series[name]) for name in ("time_s", "utilization"))
        each = max(1, len(used) // POINTS)
        starts = np.arange(0, len(used), each)
        counts = np.diff(np.append(starts, len(used)))
        idle = 100 * (1 - np.add.reduceat(used, starts) / counts)
        ends = time_s[np.minimum(starts + each, len(used)) - 1]
        label = f"{link}, utilization {result.links[link]['utilization']:.1%}"
        panel.step(np.append(0, ends), np.append(idle[:1], idle), label=label, **line)
        largest = max([largest, *idle[ends > result.summary["measured_from_s"]].tolist()])
    style.time_axis(panel, result)
    panel.set_ylim(0, 1.05 * largest)
    panel.set_ylabel("idle (% of the capacity)")
    style.legend_at_right(panel)
    return figure
