"""Metrics of the buffers that `size` tried, with the targets."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.errors import MetricError
from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic, plain
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.simulation.metric_catalogue import axis_label, axis_scale, metric_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.targets import Target

TRADE_OFF = ("queue_delay_s_mean", "utilization")
"""Metrics of the trade-off: x axis, y axis."""


def draw(size: "Size") -> Figure:
    """One panel per target over the buffer, and one of utilization against mean queueing delay."""
    count = len(size.targets) + 1
    figure = PlainTextFigure(figsize=(8, 2.5 * count + 0.5), layout="constrained")
    panels = figure.subplots(count)
    figure.suptitle(f"Buffer of link {size.link.name}: {_answer(size)}")
    for panel, target in zip(panels, size.targets, strict=False):
        _draw_target(panel, size, target)
    points = _draw_trade_off(panels[-1], size)
    # The overlap of labels is known only after the layout.
    figure.draw_without_rendering()
    labels = list(zip(size.tried, points, strict=False))
    # The label of the answer comes first: labels that would overlap it are left out.
    labels.sort(key=lambda label: label[0].limit != size.limit_packets)
    style.label_points(
        panels[-1], [point for _, point in labels], [plain(tried.limit) for tried, _ in labels]
    )
    return figure


def _answer(size: "Size") -> str:
    if size.limit_packets is None:
        return "no tested buffer meets every target"
    return f"{size.limit_packets:,} packets meet every target"


def _draw_target(panel: "Axes", size: "Size", target: "Target") -> None:
    label, scale = axis_label(target.metric), axis_scale(target.metric)
    intervals = [tried.interval(target.metric) for tried in size.tried]
    limits = [tried.limit for tried in size.tried]
    bars = np.transpose([[scale * arm for arm in interval.bar] for interval in intervals])
    panel.errorbar(
        limits,
        [scale * interval.mean for interval in intervals],
        yerr=bars,
        color="black",
        marker="o",
        markersize=3,
        linewidth=1,
        capsize=2,
        label="simulation, 95 %",
    )
    words = "at least" if target.at_least else "at most"
    bound = f"{words} {scale * target.bound:.6g} {metric_of(target.metric).unit.axis}".rstrip()
    panel.axhline(scale * target.bound, **style.LIMIT_LINE, label=f"target: {bound}")
    _mark_answer(panel, size)
    style.scale_over(panel, limits)
    style.cap_at_highest(panel, target.metric)
    panel.set_xlabel("queue limit (packets)")
    panel.set_ylabel(label)
    style.legend_beside(panel)


def _mark_answer(panel: "Axes", size: "Size") -> None:
    if size.limit_packets is not None:
        panel.axvline(
            size.limit_packets, color="0.4", linestyle=":", label=f"{size.limit_packets:,} packets"
        )


def _draw_trade_off(panel: "Axes", size: "Size") -> list[tuple[float, float]]:
    """Draws the trade-off and returns the position of each buffer."""
    prefix = f"links.{size.link.name}."
    try:
        delays, shares = (
            [tried.interval(prefix + metric).mean for tried in size.tried] for metric in TRADE_OFF
        )
    except MetricError:
        panel.set_visible(False)
        return []
    across, up = map(axis_scale, TRADE_OFF)
    points = [(across * delay, up * share) for delay, share in zip(delays, shares, strict=True)]
    panel.plot(*np.transpose(points), "ko-", markersize=3, linewidth=1)
    panel.margins(0.06)
    if style.spans_decades([delay for delay, _ in points]):
        panel.set_xscale("log")
        label_logarithmic(panel.xaxis)
    style.cap_at_highest(panel, TRADE_OFF[1])
    paid, got = map(axis_label, TRADE_OFF)
    panel.set_xlabel(f"{paid}; the numbers are queue limits in packets")
    panel.set_ylabel(got)
    return points
