"""What the buffers that `size` tried bring and cost, with the targets."""

import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tailroom.errors import MetricError
from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic, plain
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.simulation.metric_catalogue import axis_label, axis_scale, metric_of
from tailroom.studies.size_study.amounts import approximate
from tailroom.studies.size_study.answer_warnings import percent
from tailroom.studies.size_study.targets import limits_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.known import Tried
    from tailroom.studies.size_study.targets import Target

GOT = "utilization"
"""The y axis of the trade-off."""
DELAYS = ("queue_delay_s_mean", "queue_delay_s_p99", "queue_delay_s_p95", "queue_delay_s_p50")
"""Its x axis: the delay that a target bounds, else the first."""
MISSED: dict[str, Any] = {"color": style.COLOURS[2], "alpha": 0.13, "linewidth": 0, "zorder": 0}
ANSWER: dict[str, Any] = {"color": style.COLOURS[3], "linestyle": ":", "linewidth": 1.6}
INTERVAL: dict[str, Any] = {"color": style.COLOURS[3], "alpha": 0.15, "linewidth": 0}
BUT_FOR_THE_LOSS: dict[str, Any] = {"color": "0.6", "linestyle": "-.", "linewidth": 1}
HOLDING: dict[str, Any] = {
    "color": style.COLOURS[1],
    "marker": "o",
    "markersize": 4.5,
    "label": "model",
}
FAILING: dict[str, Any] = {
    **HOLDING,
    "markerfacecolor": "white",
    "label": "model, an assumption fails",
}
OWN_LOOK: dict[str, Any] = {
    "color": "black",
    "marker": "o",
    "markersize": 3,
    "linewidth": 1,
    "label": "simulation, 95 %",
}
"""Style of the simulated means of one metric."""
TITLE_WIDTH = 66
"""Width of the title next to the legend, in characters."""
Curve: TypeAlias = "Callable[[Axes], None]"
"""Draws one panel over the limits."""


def draw(size: "Size") -> Figure:
    """Draws what each buffer brings and costs.

    Panels over the buffer: one per target, the loss, the shares of the groups, and the buffers that
    models require; and one of utilization against queueing delay. What misses a target is shaded.
    """
    curves = [*_target_curves(size), *_loss_curve(size), *_share_curves(size)]
    required = _required(size)
    heights = [2.1] * len(curves) + [0.5 + 0.16 * len(required)] * bool(required) + [2.6]
    figure = PlainTextFigure(figsize=(8, sum(heights) + 1.1), layout="constrained")
    panels = list(figure.subplots(len(heights), height_ratios=heights, squeeze=False)[:, 0])
    what = f"Buffer of link {size.link.name}" if size.varied.is_limit else size.varied.key
    words = textwrap.fill(f"{what}: {_answer(size)}", TITLE_WIDTH)
    figure.suptitle(words, x=0.01, ha="left", fontsize="medium")
    over = panels[:-1]
    for panel in over[1:]:
        panel.sharex(over[0])
    for panel, curve in zip(over, curves, strict=False):
        curve(panel)
    for panel in over:
        _mark_answer(panel, size)
        panel.tick_params(labelbottom=panel is over[len(curves) - 1])
    answer = None if size.answer is None else size.varied.axis[0] * size.answer
    style.scale_over(over[0], _values(size), answer)
    if required:
        _draw_required(over[-1], required)
    over[len(curves) - 1].set_xlabel(size.varied.axis[1])
    has_time = "s" not in approximate(size.varied, size.link)
    if size.varied.is_limit and has_time and size.varied.quantity != "duration":
        _milliseconds_above(over[0], size)
    points = _draw_trade_off(panels[-1], size)
    style.figure_legend(figure, list(_handles(size, over)), style.LEGEND_ROOM)
    # The overlap of labels is known only after the layout.
    figure.draw_without_rendering()
    labels = list(zip(size.tried, points, strict=False))
    # The label of the answer comes first: labels that would overlap it are left out.
    labels.sort(key=lambda label: label[0].limit != size.answer)
    scale, _ = size.varied.axis
    style.label_points(
        panels[-1],
        [point for _, point in labels],
        [plain(scale * tried.limit) for tried, _ in labels],
    )
    return figure


def _answer(size: "Size") -> str:
    """The answer with its price, which are not told apart."""
    answer = size.answer
    if answer is None:
        return size.price or f"no tested {size.varied.noun} meets every target"
    if size.kept_sentence:
        return size.kept_sentence
    value, verb = size.varied.text(answer), "meets"
    if size.varied.counts_packets:
        verb = "meet" if answer > 1 else "meets"
        if not approximate(size.varied, size.link):
            value = f"{value} ({1e3 * answer / size.link.capacity_pps:.3g} ms)"
    loss = size.loss_of(answer)
    lost = (
        "" if loss is None else f", and {percent(loss)}\N{NO-BREAK SPACE}% of the packets are lost"
    )
    return f"{value} {verb} every target{lost}"


def _target_curves(size: "Size") -> Iterator[Curve]:
    for target in size.targets:
        yield partial(_draw_target, size=size, target=target)


def _loss_curve(size: "Size") -> Iterator[Curve]:
    """The loss, if no target has it."""
    metric = size.loss_metric
    if metric in size.shown_metrics and not any(map(limits_loss, size.targets)):
        yield partial(_draw_metric, size=size, metric=metric, look=OWN_LOOK)


def _share_curves(size: "Size") -> Iterator[Curve]:
    """The shares of the goodput, if there are several groups of permanent flows."""
    groups = list(dict.fromkeys(flow_class.group for flow_class in size.link.classes))
    if len(groups) > 1 and size.tried:
        yield partial(_draw_shares, size=size, groups=groups)


def _draw_target(panel: "Axes", *, size: "Size", target: "Target") -> None:
    _draw_metric(panel, size=size, metric=target.metric, look=OWN_LOOK)
    bound = axis_scale(target.metric) * target.bound
    words = "at least" if target.at_least else "at most"
    unit = metric_of(target.metric).unit.axis
    _shade(panel.axhspan, panel.get_ylim, panel.set_ylim, bound, below=target.at_least)
    panel.axhline(bound, **style.LIMIT_LINE)
    panel.set_title(f"target: {words} {bound:.6g} {unit}".rstrip(), loc="left", fontsize="small")


def _shade(
    span: "Callable[..., Any]",
    limits: "Callable[[], tuple[float, float]]",
    keep: "Callable[..., Any]",
    bound: float,
    *,
    below: bool,
) -> None:
    """Shades what is below or above a bound, as far as the axis reaches."""
    low, high = limits()
    ends = (low, min(max(bound, low), high)) if below else (max(min(bound, high), low), high)
    span(*ends, **MISSED)
    keep(low, high)


def _draw_metric(panel: "Axes", *, size: "Size", metric: str, look: Mapping[str, Any]) -> None:
    scale = axis_scale(metric)
    intervals = [size.shown(tried, metric) for tried in size.tried]
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
    panel.axhline(1, **style.LIMIT_LINE)
    panel.set_ylim(bottom=0)
    panel.set_ylabel("goodput per flow\nover equal share")


def _goodput(tried: "Tried", group: str) -> float:
    return tried.interval(f"groups.{group}.goodput_bps").mean


def _values(size: "Size") -> list[float]:
    """The tested values in the unit of the axis."""
    scale, _ = size.varied.axis
    return [scale * tried.limit for tried in size.tried]


def _mark_answer(panel: "Axes", size: "Size") -> None:
    """Marks the answer, its interval, and the value that suffices but for the loss."""
    scale, _ = size.varied.axis
    if size.answer is not None:
        panel.axvline(scale * size.answer, **ANSWER)
    if interval := size.interval:
        panel.axvspan(scale * interval.low, scale * interval.high, **INTERVAL)
    if _but_for_the_loss(size):
        panel.axvline(scale * (size.without_loss_target or 0), **BUT_FOR_THE_LOSS)


def _but_for_the_loss(size: "Size") -> bool:
    return size.without_loss_target not in (None, size.answer) and not size.everything


def _handles(size: "Size", panels: "list[Axes]") -> Iterator[Any]:
    """The entries of the one legend: simulation, targets, answer, groups."""
    runs = style.runs_words(len(tried.point.finished) for tried in size.tried)
    yield Line2D([], [], **{**OWN_LOOK, "label": f"{OWN_LOOK['label']},\n{runs}"})
    yield Patch(label="misses a target", **MISSED)
    if size.answer is not None:
        yield Line2D([], [], label=f"answer: {size.varied.text(size.answer)}", **ANSWER)
    if size.interval:
        yield Patch(label="95 % interval", **INTERVAL)
    if _but_for_the_loss(size):
        words = f"{size.varied.text(size.without_loss_target or 0)}: enough,\nbut for the loss"
        yield Line2D([], [], label=words, **BUT_FOR_THE_LOSS)
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        pairs = zip(handles, labels, strict=True)
        yield from (one for one, label in pairs if label != OWN_LOOK["label"])


def _required(size: "Size") -> list[tuple[float, str, bool]]:
    """The finite buffers that models require: place on the axis, model, whether it fails."""
    varied = size.varied
    if not varied.is_limit:
        return []
    per_packet = varied.axis[0] * varied.steps_per_packet
    return sorted(
        (per_packet * answer.prediction.required_packets, answer.model.name, bool(answer.failing))
        for answer in size.predictions.answers
        if answer.prediction
        and answer.prediction.required_packets
        and isfinite(answer.prediction.required_packets)
    )


def _draw_required(panel: "Axes", required: list[tuple[float, str, bool]]) -> None:
    """A row per model: filled where its assumptions hold, open where one fails.

    An arrow at the edge stands for a buffer outside the axis.
    """
    low, high = panel.get_xlim()
    outside: dict[str, Any] = {"linestyle": "none", "clip_on": False}
    for is_failing, look in ((False, HOLDING), (True, FAILING)):
        rows = [row for row, (*_, fails) in enumerate(required) if fails == is_failing]
        inside = [row for row in rows if low <= required[row][0] <= high]
        below = [row for row in rows if required[row][0] < low]
        above = [row for row in rows if required[row][0] > high]
        if rows:
            places = [required[row][0] for row in inside]
            panel.plot(places, inside, linestyle="none", **look)
        for edge, marker, there in ((low, "<", below), (high, ">", above)):
            # A line without points that is not clipped would take room at the figure's corner.
            if there:
                arrows = {**look, **outside, "marker": marker, "label": "_outside"}
                panel.plot([edge] * len(there), there, **arrows)
    panel.set_yticks(range(len(required)), [name for _, name, _ in required], fontsize="x-small")
    panel.set_ylim(len(required) - 0.5, -0.5)
    panel.grid(axis="y", color="0.92")
    panel.set_xlim(low, high)
    panel.set_title("buffers that models require", loc="left", fontsize="small")


def _milliseconds_above(panel: "Axes", size: "Size") -> None:
    """Adds an axis of the same limits as times at the rate of the link."""
    per_packet = size.varied.axis[0] * size.varied.steps_per_packet
    per_ms = per_packet * size.link.capacity_pps / 1e3
    above = panel.secondary_xaxis(
        "top",
        functions=(partial(np.multiply, 1 / per_ms), partial(np.multiply, per_ms)),
    )
    above.set_xlabel("buffer (ms)")
    ticks = panel.get_xticks()
    above.set_xticks(
        [tick / per_ms for tick in ticks],
        [f"{tick / per_ms:.3g}" for tick in ticks],
    )
    above.minorticks_off()


def _draw_trade_off(panel: "Axes", size: "Size") -> list[tuple[float, float]]:
    """Draws the trade-off with its targets, and returns the position of each buffer."""
    prefix = f"links.{size.link.name}."
    bounds = {target.metric.rpartition(".")[2]: target for target in size.targets}
    paid = next((name for name in bounds if name in DELAYS), DELAYS[0])
    try:
        delays, shares = (
            [size.shown(tried, prefix + metric).mean for tried in size.tried]
            for metric in (paid, GOT)
        )
    except MetricError:
        panel.set_visible(False)
        return []
    across, up = axis_scale(paid), axis_scale(GOT)
    points = [(across * delay, up * share) for delay, share in zip(delays, shares, strict=True)]
    panel.plot(*np.transpose(points), "ko-", markersize=3, linewidth=1)
    panel.margins(0.06)
    if style.spans_decades([delay for delay, _ in points]):
        panel.set_xscale("log")
        label_logarithmic(panel.xaxis)
    style.cap_at_highest(panel, GOT)
    if target := bounds.get(GOT):
        _shade(panel.axhspan, panel.get_ylim, panel.set_ylim, up * target.bound, below=True)
    if target := bounds.get(paid):
        _shade(panel.axvspan, panel.get_xlim, panel.set_xlim, across * target.bound, below=False)
    for tried, point in zip(size.tried, points, strict=True):
        if tried.limit == size.answer:
            panel.plot(*point, "o", color=ANSWER["color"], markersize=6, zorder=3)
    what = "buffers in packets" if size.varied.counts_packets else size.varied.axis[1]
    panel.set_xlabel(f"{axis_label(paid)}; the numbers are {what}")
    panel.set_ylabel(axis_label(GOT))
    return points
