"""Arrivals at a link, a point for each packet, as in Figure 4 of Auge and Roberts (2006)."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.simulation import logged_packets

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tailroom.simulation.result import Result

GOLDEN_RATIO = (1 + 5**0.5) / 2
FILLING = 0.9
"""Part of a row's height that its points take."""
INCHES = {"width": 9.0, "arrivals": 3.0, "queue": 1.4}

PACKETS: dict[str, Any] = {"marker": ".", "color": "0.25", "markeredgewidth": 0}
SPECIAL: dict[str, tuple[str, dict[str, Any]]] = {
    "marked": ("marked", {"marker": "^", "markerfacecolor": "white"}),
    "overflow": ("dropped, buffer full", {"marker": "s", "markerfacecolor": "white"}),
    "early": ("dropped early", {"marker": "D", "markerfacecolor": "0.6"}),
    "head": ("dropped at the head", {"marker": "v", "markerfacecolor": "black"}),
    "policed": ("dropped by the policer", {"marker": "x"}),
}
"""Fates other than acceptance: words, and a marker that does not depend on colour."""


def _other_drop(reason: str) -> tuple[str, dict[str, Any]]:
    return f"dropped ({reason})", {"marker": "P", "markerfacecolor": "white"}


def draw(result: "Result") -> Figure:
    """For each link its arrivals by group and flow, above the queue that they find.

    Groups have bands of equal height, the last group on top; each flow has a row of its band. The
    height within a row has no meaning: arrivals are spread so that dense arrivals look dense.

    Raises:
        ArgumentError: No link records its arrivals.
    """
    table = logged_packets.at_links(result)
    if table is None:
        raise ArgumentError(
            "no arrivals were recorded; give a link a span of time, "
            'as in arrival_log = { from = "60 s", to = "62 s" }'
        )
    links = table.column("link").unique().to_pylist()
    heights = [INCHES["arrivals"], INCHES["queue"]] * len(links)
    figure = PlainTextFigure(figsize=(INCHES["width"], sum(heights) + 0.4), layout="constrained")
    panels = figure.subplots(len(heights), sharex=True, height_ratios=heights, squeeze=False)[:, 0]
    figure.suptitle(style.run_title(result.summary))
    for link, packets, queue in zip(links, panels[::2], panels[1::2], strict=True):
        draw_link(packets, queue, table.filter(pc.field("link") == link), result.summary)
        packets.set_title(link, loc="left", fontsize="small")
    panels[-1].set_xlabel("time (s)")
    time_s = table["time_s"].to_numpy()
    room = (time_s.max() - time_s.min()) / 100 or 0.01
    panels[-1].set_xlim(time_s.min() - room, time_s.max() + room)
    return figure


def draw_link(
    packets: "Axes", queue: "Axes", table: "pa.Table", summary: "Mapping[str, Any]"
) -> None:
    """Draws a link from its rows of `packets` and the summary of the run."""
    _draw_packets(packets, table, _rows(summary, table))
    _draw_queue(queue, table)


def _rows(summary: "Mapping[str, Any]", table: "pa.Table") -> dict[str, dict[str, int]]:
    """Returns the sending flows of each group, from the lowest row up."""
    groups: dict[str, dict[str, int]] = {name: {} for name in summary["groups"]}
    group_of = {flow["name"]: flow["group"] for flow in summary["flows"]}
    sent = set(table.column("flow").unique().to_pylist())
    # A flow that arrives and departs has its group's name.
    for flow in [*group_of, *groups]:
        members = groups[group_of.get(flow, flow)]
        if flow in sent:
            members.setdefault(flow, len(members))
    return {name: flows for name, flows in groups.items() if flows}


def _draw_packets(panel: "Axes", table: "pa.Table", rows: dict[str, dict[str, int]]) -> None:
    height = _heights(table, rows)
    time_s = table["time_s"].to_numpy()
    fate = np.asarray(table["fate"].to_pylist())
    size = float(np.clip(400 / len(time_s) ** 0.5, 1.2, 4))
    panel.plot(
        time_s,
        height,
        linestyle="none",
        markersize=size,
        rasterized=True,
        label="packet",
        **PACKETS,
    )
    others = sorted({*fate} - {*SPECIAL, "accepted"})
    for name, (words, shape) in {**SPECIAL, **{one: _other_drop(one) for one in others}}.items():
        chosen = fate == name
        if chosen.any():
            panel.plot(
                time_s[chosen],
                height[chosen],
                linestyle="none",
                markersize=5.5,
                markeredgecolor="black",
                label=f"{words} ({chosen.sum()})",
                **shape,
            )
    for edge in range(1, len(rows)):
        panel.axhline(edge, color="0.5", linewidth=0.8)
    panel.set_ylim(0, len(rows))
    names = [
        name if len(flows) == 1 else f"{name}\n({len(flows)} flows)" for name, flows in rows.items()
    ]
    panel.set_yticks(np.arange(len(rows)) + 0.5, names)
    panel.tick_params(axis="y", length=0)
    panel.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=5, fontsize="small", frameon=False)


def _heights(table: "pa.Table", rows: dict[str, dict[str, int]]) -> "NDArray[np.float64]":
    """Returns the height of each packet: a group is 1 high, its flows share the height."""
    flows = table["flow"].combine_chunks()
    row_heights = {
        flow: (band + place / len(members), 1 / len(members))
        for band, members in enumerate(rows.values())
        for flow, place in members.items()
    }
    bounds = np.array([row_heights.get(flow, (0, 0)) for flow in flows.dictionary.to_pylist()])
    lower, room = bounds[flows.indices.to_numpy()].T
    # Multiples of the golden ratio fill an interval evenly, whatever their number.
    spread = np.arange(len(flows)) * GOLDEN_RATIO % 1
    return np.asarray(lower + room * ((1 - FILLING) / 2 + FILLING * spread))


def _draw_queue(panel: "Axes", table: "pa.Table") -> None:
    panel.plot(
        table["time_s"], table["queue_packets"], color="black", linewidth=0.6, rasterized=True
    )
    panel.set_ylim(bottom=0)
    panel.set_ylabel("queue found\n(packets)")
    panel.grid(visible=True, color="0.92")
