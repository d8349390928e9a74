"""Congestion windows and the queue over time, as in Figures 5 and 6 of Barman et al. (2004)."""

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.simulation import metric_units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.simulation.result import Result

MOST_WINDOWS = 20
"""Largest number of windows that are all drawn; of more flows, some per group are drawn."""

MOST_LINKS = 4
"""Largest number of readable panels."""


def draw(result: "Result") -> Figure:
    """Upper panel: windows of flows; below: the queue of each link, with its limit.

    Up to ten flows have a line style each. With more flows, each group has a colour, and some of
    its flows are drawn.

    Raises:
        ArgumentError: No series was recorded.
    """
    links = style.evenly_spread(list(result.links), MOST_LINKS)
    figure = PlainTextFigure(figsize=(9, 3.6 + 2.2 * len(links)), layout="constrained")
    panels = figure.subplots(
        1 + len(links), squeeze=False, sharex=True, height_ratios=[3] + [2] * len(links)
    )[:, 0]
    figure.suptitle(result.summary["title"])
    _draw_windows(panels[0], result)
    for panel, link in zip(panels[1:], links, strict=True):
        _draw_queue(panel, result, link)
    for panel in panels:
        style.time_axis(panel, result)
        panel.set_ylim(bottom=0)
        style.legend_beside(panel)
        panel.label_outer()
    return figure


def _draw_windows(panel: "Axes", result: "Result") -> None:
    windows = result.series("cwnd")
    flows = windows.column("flow").unique().to_pylist()
    if len(flows) <= style.MOST_LINES:
        looks = dict(zip(flows, style.line_styles(), strict=False))
        labels = {flow: flow for flow in flows}
    else:
        looks, labels = _by_group(flows, result)
    for flow, look in looks.items():
        window = result.series("cwnd", flow=flow)
        panel.plot(window["time_s"], window["cwnd_packets"], label=labels.get(flow), **look)
    panel.set_ylabel("congestion window (packets)")
    if not flows:
        panel.set_title("no flow under congestion control", fontsize="small", loc="left")
    elif len(looks) < len(flows):
        panel.set_title(f"{len(looks)} of {len(flows)} flows", fontsize="small", loc="left")


def _by_group(
    flows: list[str], result: "Result"
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """A line style for the flows that are shown, and a label for the first of each group."""
    group_of = {flow["name"]: flow["group"] for flow in result.flows}
    groups: dict[str, list[str]] = {}
    for flow in flows:
        groups.setdefault(group_of.get(flow, flow), []).append(flow)
    names = style.evenly_spread(list(groups))
    few = len(flows) <= MOST_WINDOWS
    most = len(flows) if few else max(2, style.MOST_LINES // len(names))
    looks: dict[str, dict[str, Any]] = {}
    labels: dict[str, str] = {}
    for group, look in zip(names, style.line_styles(), strict=False):
        members = groups[group]
        shown = style.evenly_spread(members, most)
        looks.update((flow, {**look, "linewidth": 0.7}) for flow in shown)
        count = f"{len(members)} flows" if len(members) > 1 else "1 flow"
        labels[shown[0]] = f"{group} ({count})"
    return looks, labels


def _draw_queue(panel: "Axes", result: "Result", link: str) -> None:
    queue = result.series("queue", link=link)
    panel.plot(queue["time_s"], queue["queue_packets"], color="black", linewidth=0.8, label="queue")
    limit_packets = result.links[link]["limit_packets"]
    # A queue of packets smaller than those of the long flows may pass a limit in bytes.
    label = f"limit, {metric_units.packet_limit(limit_packets)}"
    panel.axhline(limit_packets, label=label, **style.LIMIT_LINE)
    panel.set_ylabel(f"queue at {link}\n(packets)")
