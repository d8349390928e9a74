"""Congestion windows and the queue over time, as in Figures 5 and 6 of Barman et al. (2004)."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom import written_numbers
from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.simulation.result import Result

MOST_LINKS = 4
"""Largest number of readable panels."""


def draw(result: "Result") -> Figure:
    """Upper panel: windows of flows; below: the queue of each link, with its limit.

    Up to ten flows have a line style each. Of more flows, each group has a line for the mean window
    and a band from the smallest to the largest. Without a series of windows, as where all flows
    arrive and depart, there are only queues; of many links, those that lose most, then those that
    let packets wait longest.

    Raises:
        ArgumentError: No series was recorded.
    """
    links = _most_notable(result)
    flows = result.series("cwnd").column("flow").unique().to_pylist()
    heights = [3] * bool(flows) + [2] * len(links)
    figure = PlainTextFigure(figsize=(9, 0.3 + 1.1 * sum(heights)), layout="constrained")
    panels = figure.subplots(len(heights), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    part = f"{len(links)} of {len(result.links)} links, by loss and queueing delay"
    shown = part if len(links) < len(result.links) else ""
    figure.suptitle(style.run_title(result.summary, shown))
    if flows:
        _draw_windows(panels[0], result, flows)
    for panel, link in zip(panels[bool(flows) :], links, strict=True):
        _draw_queue(panel, result, link)
    for panel in panels:
        style.time_axis(panel, result)
        panel.set_ylim(bottom=0)
        style.legend_at_right(panel)
        panel.label_outer()
    return figure


def _most_notable(result: "Result") -> list[str]:
    """The links that lose most, or else let packets wait longest, in the order of the scenario."""

    def notability(link: str) -> tuple[float, float]:
        measured = result.links[link]
        return measured["loss_fraction"] or 0.0, measured["queue_delay_s_p99"] or 0.0

    chosen = set(sorted(result.links, key=notability, reverse=True)[:MOST_LINKS])
    return [link for link in result.links if link in chosen]


def _draw_windows(panel: "Axes", result: "Result", flows: list[str]) -> None:
    panel.set_ylabel("congestion window (packets)")
    if len(flows) <= style.MOST_LINES:
        for flow, look in zip(flows, style.line_styles(), strict=False):
            window = result.series("cwnd", flow=flow)
            panel.plot(window["time_s"], window["cwnd_packets"], label=flow, **look)
    else:
        _draw_groups(panel, result, flows)


def _draw_groups(panel: "Axes", result: "Result", flows: list[str]) -> None:
    """The mean window of each group, and a band from the smallest to the largest."""
    group_of = {flow["name"]: flow["group"] for flow in result.flows}
    groups: dict[str, list[str]] = {}
    for flow in flows:
        groups.setdefault(group_of.get(flow, flow), []).append(flow)
    names = style.evenly_spread(list(groups))
    for group, look in zip(names, style.line_styles(), strict=False):
        members = groups[group]
        series = [result.series("cwnd", flow=flow) for flow in members]
        windows = np.array([one["cwnd_packets"] for one in series])
        time_s = np.asarray(series[0]["time_s"])
        if len(members) > 1:
            ends = windows.min(axis=0), windows.max(axis=0)
            panel.fill_between(time_s, *ends, color=look["color"], **style.band(len(names)))
        words = f"mean of {len(members)}, smallest to largest" if len(members) > 1 else "1 flow"
        panel.plot(time_s, windows.mean(axis=0), label=f"{group}\n({words})", **look)


def _draw_queue(panel: "Axes", result: "Result", link: str) -> None:
    queue = result.series("queue", link=link)
    style.envelope(panel, queue["time_s"], queue["queue_packets"], "queue")
    limit_packets = result.links[link]["limit_packets"]
    # A queue of packets smaller than those of the long flows may pass a limit in bytes.
    label = f"limit, {written_numbers.packet_limit(limit_packets)}"
    panel.axhline(limit_packets, label=label, **style.LIMIT_LINE)
    panel.set_ylabel(f"queue at {link}\n(packets)")
