"""Congestion windows and the queue over time, as in Figures 5 and 6 of Barman et al. (2004)."""

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.results import Result

MOST_LINKS = 4
"""More panels would leave none of them readable."""


def draw(result: "Result") -> Figure:
    """Upper panel: windows of at most ten flows; below: the queue of each link, with its limit.

    Raises:
        ValueError: No series was recorded.
    """
    links = style.evenly_spread(list(result.links), MOST_LINKS)
    figure = Figure(figsize=(9, 3.6 + 2.2 * len(links)), layout="constrained")
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
    shown = style.evenly_spread(flows)
    for flow, line in zip(shown, style.line_styles(), strict=False):
        window = result.series("cwnd", flow=flow)
        panel.plot(window["time_s"], window["cwnd_packets"], label=flow, **line)
    panel.set_ylabel("congestion window (packets)")
    if not flows:
        panel.set_title("no flow under congestion control", fontsize="small", loc="left")
    elif len(shown) < len(flows):
        panel.set_title(f"{len(shown)} of {len(flows)} flows", fontsize="small", loc="left")


def _draw_queue(panel: "Axes", result: "Result", link: str) -> None:
    queue = result.series("queue", link=link)
    panel.plot(queue["time_s"], queue["queue_packets"], color="black", linewidth=0.8, label="queue")
    limit_packets = result.links[link]["limit_packets"]
    if limit_packets is not None:
        # A limit in bytes is converted at the mean packet size, so a queue of small ones may pass.
        about = "" if limit_packets == round(limit_packets) else "about "
        label = f"limit, {about}{limit_packets:,.0f} packets"
        panel.axhline(limit_packets, label=label, **style.LIMIT_LINE)
    panel.set_ylabel(f"queue at {link}\n(packets)")
