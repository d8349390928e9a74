"""The idle part of the links over time."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from tailroom import written_numbers
from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.simulation.result import Result

POINTS = 100
"""Number of points over the run."""
MOST_LINKS = 4
"""Largest number of links with a line each; lines of more cross too often to be followed."""
SMALLEST_RANGE = 2.0
"""Least upper end of the axis, in percent of the capacity."""
FOOT = 0.03
"""Room below 0, as a fraction of the axis, for the line of a link that is never idle."""


def draw(result: "Result") -> Figure:
    """One line per link: the part of its capacity that is not used.

    Each point is a mean over up to a hundredth of the run. Of more than four links, a line is the
    mean, and a band has half of them, from the lower to the upper quartile. The axis fits the time
    that the statistics cover; a utilization near 100 % would leave nothing to see on an axis of its
    own.

    Raises:
        ArgumentError: No series was recorded.
    """
    figure = PlainTextFigure(figsize=(9, 3.6), layout="constrained")
    panel = figure.subplots()
    figure.suptitle(style.run_title(result.summary))
    links = list(result.links)
    ends, idle = _idle(result, links)
    if len(links) <= MOST_LINKS:
        for link, values, look in zip(links, idle, style.line_styles(), strict=False):
            used = written_numbers.percent(result.links[link]["utilization"])
            panel.step(ends, values, label=f"{link}, utilization {used}", **look)
        highest = idle
    else:
        _draw_band(panel, ends, idle)
        highest = np.percentile(idle, [75], axis=0)
    measured = highest[:, ends > result.summary["measured_from_s"]]
    largest = max(SMALLEST_RANGE, float(measured.max(initial=0.0)))
    style.time_axis(panel, result)
    panel.set_ylim(-FOOT * largest, 1.05 * largest)
    panel.set_ylabel("idle (% of the capacity)")
    style.legend_at_right(panel)
    return figure


def _idle(result: "Result", links: list[str]) -> tuple[Any, Any]:
    """The ends of the intervals in seconds, from 0, and the idle part of each link in percent."""
    series = [result.series("utilization", link=link) for link in links]
    time_s = np.asarray(series[0]["time_s"])
    used = np.array([one["utilization"] for one in series], dtype=float)
    each = max(1, len(time_s) // POINTS)
    starts = np.arange(0, len(time_s), each)
    counts = np.diff(np.append(starts, len(time_s)))
    idle = 100 * (1 - np.add.reduceat(used, starts, axis=1) / counts)
    ends = time_s[np.minimum(starts + each, len(time_s)) - 1]
    return np.append(0, ends), np.hstack([idle[:, :1], idle])


def _draw_band(panel: "Axes", ends: Any, idle: Any) -> None:
    """The mean of many links, and the range of the half of them in the middle."""
    low, high = np.percentile(idle, (25, 75), axis=0)
    look: dict[str, Any] = {"color": "0.8", "linewidth": 0, "label": "half of them"}
    panel.fill_between(ends, low, high, step="pre", **look)
    panel.step(ends, idle.mean(axis=0), color="black", label=f"mean of {len(idle)} links")
