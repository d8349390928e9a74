"""What the buffers that `size` tried bring and cost, with the targets."""

import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure

from tailroom.errors import MetricError
from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic, plain
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.simulation.metric_catalogue import axis_label, axis_scale, metric_of
from tailroom.studies.size_study.answer_warnings import percent
from tailroom.studies.size_study.targets import limits_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.search import Tried
    from tailroom.studies.size_study.targets import Target

TRADE_OFF = ("queue_delay_s_mean", "utilization")
"""Metrics of the trade-off: x axis, y axis."""
OWN_LOOK: dict[str, Any] = {
    "color": "black",
    "marker": "o",
    "markersize": 3,
    "linewidth": 1,
    "label": "simulation, 95 %",
}
"""Style of the simulated means of one metric."""
Curve: TypeAlias = "Callable[[Axes], None]"
"""Draws one panel over the limits."""


def draw(size: "Size") -> Figure:
    """Draws what each buffer brings and costs.

    Panels over the buffer: one per target, the loss, the shares of the groups; and one of
    utilization against mean queueing delay.
    """
    curves = [*_target_curves(size), *_loss_curve(size), *_share_curves(size)]
    count = len(curves) + 1
    figure = PlainTextFigure(figsize=(8, 2.5 * count + 0.7), layout="constrained")
    panels = figure.subplots(count)
    what = f"Buffer of link {size.link.name}" if size.varied.is_limit else size.varied.key
    figure.suptitle(textwrap.fill(f"{what}: {_answer(size)}", 76))
    for panel, curve in zip(panels, curves, strict=False):
        curve(panel)
        _finish(panel, size)
    if size.varied.is_limit:
        _milliseconds_above(panels[0], size)
    points = _draw_trade_off(panels[-1], size)
    # The overlap of labels is known only after the layout.
    figure.draw_without_rendering()
    labels = list(zip(size.tried, points, strict=False))
    # The label of the answer comes first: labels that would overlap it are left out.
    labels.sort(key=lambda label: label[0].limit != size.smallest)
    scale, _ = size.varied.axis
    style.label_points(
        panels[-1],
        [point for _, point in labels],
        [plain(scale * tried.limit) for tried, _ in labels],
    )
    return figure


def _answer(size: "Size") -> str:
    """The answer with its price, which are not told apart."""
    smallest = size.smallest
    if smallest is None:
        return f"no tested {size.varied.noun} meets every target"
    value, verb = size.varied.text(smallest), "meets"
    if size.varied.is_limit:
        value = f"{value} ({1e3 * smallest / size.link.capacity_pps:.3g} ms)"
        verb = "meet" if smallest > 1 else "meets"
    loss = size.loss_of(smallest)
    lost = (
        "" if loss is None else f", and {percent(loss)}\N{NO-BREAK SPACE}% of the packets are lost"
    )
    if size.misses_loss_target:
        return (
            f"{value} {verb} the targets{lost}; no tested {size.varied.noun} loses less than wanted"
        )
    return f"{value} {verb} every target{lost}"


def _target_curves(size: "Size") -> Iterator[Curve]:
    for target in size.targets:
        yield partial(_draw_target, size=size, target=target)


def _loss_curve(size: "Size") -> Iterator[Curve]:
    """The loss, if no target has it."""
    metric = f"links.{size.link.name}.loss_fraction"
    if metric in size.shown_metrics and not any(map(limits_loss, size.targets)):
        yield partial(_draw_metric, size=size, metric=metric, look=OWN_LOOK)


def _share_curves(size: "Size") -> Iterator[Curve]:
    """The shares of the goodput, if there are several groups of permanent flows."""
    groups = list(dict.fromkeys(flow_class.group for flow_class in size.link.classes))
    if len(groups) > 1 and size.tried:
        yield partial(_draw_shares, size=size, groups=groups)


def _draw_target(panel: "Axes", *, size: "Size", target: "Target") -> None:
    _draw_metric(panel, size=size, metric=target.metric, look=OWN_LOOK)
    scale = axis_scale(target.metric)
    words = "at least" if target.at_least else "at most"
    bound = f"{words} {scale * target.bound:.6g} {metric_of(target.metric).unit.axis}".rstrip()
    panel.axhline(scale * target.bound, **style.LIMIT_LINE, label=f"target: {bound}")


def _draw_metric(panel: "Axes", *, size: "Size", metric: str, look: Mapping[str, Any]) -> None:
    scale = axis_scale(metric)
    intervals = [tried.interval(metric) for tried in size.tried]
    bars = np.transpose([[scale * arm for arm in interval.bar] for interval in intervals])
    means = [scale * interval.mean for interval in intervals]
    panel.errorbar(_values(size), means, yerr=bars, capsize=2, **look)
    panel.set_ylabel(axis_label(metric))
    if metric_of(metric).is_logarithmic:
        style.scale_up(panel, means)
    style.cap_at_highest(panel, metric)
    if min(means) >= 0 > panel.get_ylim()[0]:
        panel.set_ylim(bottom=0)


def _draw_shares(panel: "Axes", *, size: "Size", groups: list[str]) -> None:
    """Goodput of each group per flow, over that of all flows: 1 is an equal share."""
    flows = {
        group: sum(one.count for one in size.link.classes if one.group == group) for group in groups
    }
    rates = {group: np.array([_goodput(tried, group) for tried in size.tried]) for group in groups}
    total = np.sum(list(rates.values()), axis=0)
    for group, look in zip(style.evenly_spread(groups), style.marked_line_styles(), strict=False):
        share = rates[group] / total * size.link.flow_count / flows[group]
        panel.plot(_values(size), share, label=f"{flows[group]:,} of {group}", **look)
    panel.axhline(1, **style.LIMIT_LINE, label="equal share")
    panel.set_ylim(bottom=0)
    panel.set_ylabel("goodput per flow\nover an equal share")


def _goodput(tried: "Tried", group: str) -> float:
    return tried.interval(f"groups.{group}.goodput_bps").mean


def _values(size: "Size") -> list[float]:
    """The tested values in the unit of the axis."""
    scale, _ = size.varied.axis
    return [scale * tried.limit for tried in size.tried]


def _finish(panel: "Axes", size: "Size") -> None:
    """Marks the answer and labels the axis of the values, the answer first."""
    scale, label = size.varied.axis
    smallest, without, text = size.smallest, size.without_loss_target, size.varied.text
    if smallest is not None:
        panel.axvline(scale * smallest, color="0.4", linestyle=":", label=text(smallest))
    if interval := size.interval:
        low, high = scale * interval.low, scale * interval.high
        panel.axvspan(low, high, color="0.88", label="95 % interval")
    if without is not None and without != smallest:
        words = f"{text(without)}: enough,\nbut for the loss"
        panel.axvline(scale * without, color="0.7", linestyle="-.", linewidth=1, label=words)
    style.scale_over(panel, _values(size), None if smallest is None else scale * smallest)
    panel.set_xlabel(label)
    style.legend_beside(panel)


def _milliseconds_above(panel: "Axes", size: "Size") -> None:
    """Adds an axis of the same limits as times at the rate of the link."""
    packets_per_ms = size.link.capacity_pps / 1e3
    above = panel.secondary_xaxis(
        "top",
        functions=(partial(np.multiply, 1 / packets_per_ms), partial(np.multiply, packets_per_ms)),
    )
    above.set_xlabel("queue limit (ms)")
    ticks = panel.get_xticks()
    above.set_xticks(
        [tick / packets_per_ms for tick in ticks],
        [f"{tick / packets_per_ms:.3g}" for tick in ticks],
    )
    above.minorticks_off()


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
    what = "queue limits in packets" if size.varied.is_limit else size.varied.axis[1]
    panel.set_xlabel(f"{paid}; the numbers are {what}")
    panel.set_ylabel(got)
    return points
