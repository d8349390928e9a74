"""The pictures of the atlas: one per kind of link."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.buffer_atlas.data import UTILIZATIONS
from tailroom.buffer_atlas.kinds import Kind
from tailroom.buffer_atlas.terms import CONTROLS, QUEUES, rate_words
from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic

Row = Mapping[str, Any]
PANELS = {
    "CUBIC": ("cubic", "cubic_paced"),
    "BBRv3 and Prague": ("bbr3", "prague"),
    "half of each": ("cubic_and_bbr3", "cubic_and_prague"),
}
"""The controls of each panel of the typical site."""
LOWEST = 0.7
"""Lowest utilization that is drawn."""


def draw(kind: Kind, answers: Sequence[Row], curves: Sequence[Row]) -> Figure | None:
    """Utilization over the buffer of each site under CUBIC, and over the delay at the typical site.

    Bars are 95 % intervals of the means.

    Args:
        kind: The kind of link.
        answers: Answers of its cells.
        curves: Simulated values of its cells.

    Returns:
        The picture; `None` if no cell behind DropTail was computed.
    """
    computed = {curve["cell"] for curve in curves}
    cells = {row["cell"]: row for row in answers if row["cell"] in computed}.values()
    simple = [
        row
        for row in cells
        if (row["queue"], row["traffic"], row["control"]) == ("drop_tail", "long", "cubic")
    ]
    if not simple:
        return None
    figure = Figure(figsize=(10, 9.2), layout="constrained")
    sites, *panels = figure.subplots(2, 2).flat
    styles = style.line_styles()
    for row in sorted(simple, key=lambda row: (row["rate_bps"], row["flows"])):
        words = f"{rate_words(row['rate_bps'])}/s, {_flows(row['flows'])}"
        points = _drawn(row, curves)
        buffers = [curve["value"] / row["bdp_packets"] for curve in points]
        _line(sites, buffers, points, words, next(styles))
    _label(sites, "DropTail, long flows under CUBIC", "buffer (bdp)")

    long = [row for row in cells if row["traffic"] == "long"]
    sites_of = [_site(row) for row in long]
    # The site with the most queues and controls, and of those the fastest.
    site = max(sites_of, key=lambda one: (sites_of.count(one), one))
    typical = [row for row in long if _site(row) == site]
    for axes, (words, controls) in zip(panels, PANELS.items(), strict=True):
        axes.sharex(panels[0])
        _queues(axes, [row for row in typical if row["control"] in controls], curves)
        title = f"{rate_words(site[0])}/s, {_flows(site[3])}: {words}"
        _label(axes, title, "mean queueing delay (ms)")
    figure.suptitle(kind.words)
    return figure


def _queues(axes: Axes, rows: Sequence[Row], curves: Sequence[Row]) -> None:
    """A line per queue and control; a colour is a queue, a dash a control."""
    queues, controls = list(QUEUES), list(CONTROLS)
    dashes: dict[str, Any] = {}
    for row in sorted(
        rows, key=lambda row: (queues.index(row["queue"]), controls.index(row["control"]))
    ):
        points = _drawn(row, curves)
        line = {
            "color": style.COLOURS[queues.index(row["queue"])],
            "linestyle": dashes.setdefault(row["control"], style.DASHES[len(dashes)]),
            "linewidth": 1.1,
        }
        delays_ms = [1e3 * curve["queue_delay_s_mean"] for curve in points]
        words = f"{QUEUES[row['queue']]}, {CONTROLS[row['control']].words}"
        _line(axes, delays_ms, points, words, line)


def _flows(number: int) -> str:
    return f"{number:,} flow{'s' * (number > 1)}"


def _site(row: Row) -> tuple[float, float, float, int]:
    return row["rate_bps"], row["shortest_rtt_s"], row["longest_rtt_s"], row["flows"]


def _line(
    axes: Axes, at: Sequence[float], points: Sequence[Row], words: str, line: Mapping[str, Any]
) -> None:
    """A line through the means, with their 95 % intervals as far as a utilization goes."""
    utilizations = np.array([curve["utilization"] for curve in points])
    arms = np.array([curve["utilization_half_width"] or 0.0 for curve in points])
    bars = np.nan_to_num([arms, np.minimum(arms, 1 - utilizations)])
    look: dict[str, Any] = {"marker": ".", "markersize": 4, "elinewidth": 0.7, **line}
    axes.errorbar(at, utilizations, yerr=bars, label=words, **look)


def _drawn(row: Row, curves: Sequence[Row]) -> list[Row]:
    """The simulated values of a cell from the last one below the lowest utilization on."""
    points = [curve for curve in curves if curve["cell"] == row["cell"]]
    below = [at for at, curve in enumerate(points) if curve["utilization"] < LOWEST]
    return points[max(below, default=0) :]


def _label(axes: Axes, title: str, words: str) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(words)
    axes.set_xscale("log")
    label_logarithmic(axes.xaxis)
    for target in UTILIZATIONS:
        axes.axhline(target, **{**style.LIMIT_LINE, "linewidth": 0.6})
        place: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
        axes.text(1.01, target, f"{100 * target:g} %", fontsize="x-small", color="0.3", **place)
    axes.set_ylim(LOWEST, 1.005)
    axes.set_yticks([0.7, 0.8, 0.9, 0.95, 1.0], ["70 %", "80 %", "90 %", "95 %", "100 %"])
    axes.set_ylabel("utilization")
    axes.grid(visible=True, which="major", color="0.92")
    if axes.get_legend_handles_labels()[1]:
        # Below the panel, where it covers no line.
        under: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17)}
        axes.legend(fontsize="small", frameon=False, ncols=2, **under)
    else:
        at = axes.transAxes
        axes.text(0.5, 0.5, "no cell computed", transform=at, ha="center", va="center", color="0.5")
