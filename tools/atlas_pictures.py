"""The pictures of the atlas: one per kind of link."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.buffer_atlas.cells import CONTROLS, QUEUES, rate_words
from tailroom.buffer_atlas.data import UTILIZATIONS
from tailroom.buffer_atlas.kinds import Kind
from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic

Row = Mapping[str, Any]
DASHES: dict[str, Any] = dict(zip(CONTROLS, (*style.DASHES, (0, (1, 3))), strict=True))
"""A dash per control; a colour is a queue discipline."""
LOWEST = 0.7
"""Lowest utilization that is drawn."""


def draw(kind: Kind, answers: Sequence[Row], curves: Sequence[Row]) -> Figure | None:
    """Utilization over the buffer of each site under CUBIC, and of each queue at the typical site.

    Args:
        kind: The kind of link.
        answers: Answers of its cells.
        curves: Simulated values of its cells.

    Returns:
        The picture; `None` if no cell behind DropTail was computed.
    """
    cells = {row["cell"]: row for row in answers}
    simple = [
        row
        for row in cells.values()
        if (row["queue"], row["traffic"], row["control"]) == ("drop_tail", "long", "cubic")
        and any(curve["cell"] == row["cell"] for curve in curves)
    ]
    if not simple:
        return None
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = style.line_styles()
    for row in sorted(simple, key=lambda row: (row["rate_bps"], row["flows"])):
        words = f"{rate_words(row['rate_bps'])}/s, {row['flows']:,} flow{'s' * (row['flows'] > 1)}"
        _curve(left, row, curves, next(styles), words)
    left.set_title("DropTail, long flows under CUBIC", fontsize="medium")
    left.set_xlabel("buffer (bdp)")
    _utilization_axis(left)
    left.set_xscale("log")
    label_logarithmic(left.xaxis)

    site = _typical(kind, simple)
    for row in sorted(cells.values(), key=lambda row: (row["queue"], row["control"])):
        if _site(row) == site and row["traffic"] == "long":
            words = f"{QUEUES[row['queue']]}, {CONTROLS[row['control']].words}"
            line = {
                "color": style.COLOURS[list(QUEUES).index(row["queue"])],
                "linestyle": DASHES[row["control"]],
                "linewidth": 1.1,
            }
            _delays(right, row, curves, line, words)
    right.set_title(
        f"{rate_words(site[0])}/s, {site[3]:,} flow{'s' * (site[3] > 1)}: every queue and control",
        fontsize="medium",
    )
    right.set_xlabel("mean queueing delay (ms)")
    _utilization_axis(right)
    right.set_xscale("log")
    label_logarithmic(right.xaxis)
    figure.suptitle(kind.words)
    return figure


def _site(row: Row) -> tuple[float, float, float, int]:
    return row["rate_bps"], row["shortest_rtt_s"], row["longest_rtt_s"], row["flows"]


def _typical(kind: Kind, rows: Sequence[Row]) -> tuple[float, float, float, int]:
    """The typical site with the largest rate that has data; else the last one that has."""
    known = {_site(row) for row in rows}
    sites = [
        (site.rate_bps, site.shortest_rtt_ms / 1e3, site.longest_rtt_ms / 1e3, site.flows)
        for site in kind.sites
        if site.is_typical
    ]
    return next((site for site in reversed(sites) if site in known), max(known))


def _curve(
    axes: Axes, row: Row, curves: Sequence[Row], line: Mapping[str, Any], words: str
) -> None:
    points = _drawn(row, curves)
    axes.plot(
        [curve["value"] / row["bdp_packets"] for curve in points],
        [curve["utilization"] for curve in points],
        label=words,
        marker=".",
        markersize=4,
        **line,
    )


def _delays(
    axes: Axes, row: Row, curves: Sequence[Row], line: Mapping[str, Any], words: str
) -> None:
    points = _drawn(row, curves)
    if points:
        axes.plot(
            [1e3 * curve["queue_delay_s_mean"] for curve in points],
            [curve["utilization"] for curve in points],
            label=words,
            marker=".",
            markersize=4,
            **line,
        )


def _drawn(row: Row, curves: Sequence[Row]) -> list[Row]:
    """The simulated values of a cell from the last one below the lowest utilization on."""
    points = [curve for curve in curves if curve["cell"] == row["cell"]]
    below = [at for at, curve in enumerate(points) if curve["utilization"] < LOWEST]
    return points[max(below, default=0) :]


def _utilization_axis(axes: Axes) -> None:
    for target in UTILIZATIONS:
        axes.axhline(target, **{**style.LIMIT_LINE, "linewidth": 0.6})
    axes.set_ylim(LOWEST, 1.005)
    axes.set_yticks([0.7, 0.8, 0.9, 0.95, 1.0], ["70 %", "80 %", "90 %", "95 %", "100 %"])
    axes.set_ylabel("utilization")
    axes.grid(visible=True, which="major", color="0.92")
    axes.legend(fontsize="x-small", frameon=False, loc="lower right")
