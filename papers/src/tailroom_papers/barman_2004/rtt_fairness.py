"""RTT fairness against utilization: two flows with RTTs of 40 and 80 ms over the buffer."""

from collections.abc import Sequence
from itertools import pairwise
from math import nan
from typing import Any

import numpy as np

from tailroom.simulation.metrics import jain_index
from tailroom_papers.barman_2004 import two_flows
from tailroom_papers.barman_2004.two_flows import JAIN, OVER, UNDER, packets
from tailroom_papers.framework import *

UTILIZATION = "links.bottleneck.utilization"
RATIOS = (1, 2, 5, 10, 20, 50, 100)
"""Ticks."""
SLICES = 20
"""Of a run, for Jain's index over time."""
MARK = {"color": "black", "marker": "o", "markerfacecolor": "white"}
FAIR = 0.9
"""Drawn: Jain's index of shares of 2 : 1."""


def studies(form: Form) -> Sequence[Study]:
    """Buffers from a few percent of the smaller bandwidth-delay product to three times it."""
    limits = form.of(
        (UNDER, OVER),
        (UNDER, "2499 packets", OVER),
        (
            "124 packets",
            UNDER,
            "1249 packets",
            "2499 packets",
            "4999 packets",
            OVER,
            "14999 packets",
        ),
    )
    return [two_flows.study("two", limits, form)]


def draw(results: PartResults) -> Figure:
    """The trade-off, the index and the ratio over the buffer, and the index over time."""
    title = "Two HighSpeed flows, RTT 40 and 80 ms, 1 Gbit/s, DropTail"
    figure, (tradeoff, index, ratio, time) = figure_of(title, 2, 2, (9.0, 7.6))
    points = results.study("two").points
    _tradeoff(tradeoff, points)
    x = [packets(point) for point in points]
    _index(index, points, x)
    _ratios(ratio, points, x)
    for panel, letter in ((index, "b"), (ratio, "c")):
        style.scale_over(panel, x)
        frame(panel, x=f"({letter})  buffer (packets)")
    _over_time(time, points)
    return figure


def _tradeoff(panel: Axes, points: Sequence[PointResults]) -> None:
    used = [point.interval(UTILIZATION) for point in points]
    fair = [point.interval(JAIN) for point in points]
    draw_intervals(
        panel, [mean.mean if mean else nan for mean in fair], used, MARK, scale=100, across=True
    )
    draw_intervals(panel, [100 * mean.mean if mean else nan for mean in used], fair, MARK, most=1.0)
    for point in points:
        at = (100 * point.mean(UTILIZATION), point.mean(JAIN))
        look: dict[str, Any] = {"textcoords": "offset points", "xytext": (5, -10)}
        panel.annotate(f"{packets(point):,}", at, fontsize="small", **look)
    panel.margins(0.15)
    label = "(a)  utilization (%); labels: buffer in packets"
    frame(panel, x=label, y="Jain's index", ylim=(0.48, 1.02))


def _index(panel: Axes, points: Sequence[PointResults], x: Sequence[int]) -> None:
    draw_marks(panel, x, points, JAIN, MARK, most=1.0)
    for at, point in zip(x, points, strict=True):
        values = point.values(JAIN)
        panel.plot([at] * len(values), values, "x", color="0.55", markersize=4)
    panel.axhline(FAIR, **style.LIMIT_LINE)
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "fontsize": "small"}
    panel.annotate("shares of 2 : 1", (0.02, FAIR + 0.01), **place)
    panel.set(ylim=(0.48, 1.02), ylabel="Jain's index")


def _ratios(panel: Axes, points: Sequence[PointResults], x: Sequence[int]) -> None:
    for at, point in zip(x, points, strict=True):
        values = np.exp(point.values(two_flows.log_ratio))
        panel.plot([at] * len(values), values, "x", color="0.55", markersize=4)
    means = [two_flows.typical_ratio(point) for point in points]
    panel.plot(x, means, color="black", marker="o", markerfacecolor="white", label="simulated")
    said = [point.mean(two_flows.expected_ratio) for point in points]
    label = f"flows that lose together:\nRTT ratio ^ {two_flows.AT_REST:.2f}"
    panel.plot(x, said, color="#D55E00", linestyle="--", marker="+", label=label)
    panel.set(yscale="log", ylim=(0.8, 150), ylabel="throughput ratio")
    panel.set_yticks(RATIOS, [f"{ratio} : 1" for ratio in RATIOS])
    panel.minorticks_off()
    panel.legend(fontsize="small", frameon=False, loc="lower left")


def _over_time(panel: Axes, points: Sequence[PointResults]) -> None:
    some = {f"{packets(point):,} packets": point for point in style.evenly_spread(list(points), 4)}
    for label, point, look in styled(some):
        panel.plot(*index_over_time(point.runs), label=label, **look)
    frame(panel, x="(d)  time (s)", y="Jain's index in a 20th of the run", ylim=(0.48, 1.02))
    panel.legend(fontsize="small", frameon=False, ncols=2)


def index_over_time(runs: Sequence[StoredRun]) -> tuple[list[float], list[float]]:
    """Ends of the slices of a run, and the mean of Jain's index in each."""
    end = runs[0].summary["measured_to_s"]
    edges = np.linspace(0, end, SLICES + 1)
    tables = [run.table("flow_series") for run in runs]
    means = []
    for begin, close in pairwise(edges):
        indices = [jain_index(two_flows.rates_between(table, begin, close)) for table in tables]
        known = [index for index in indices if index is not None]
        means.append(float(np.mean(known)) if known else float("nan"))
    return [float(edge) for edge in edges[1:]], means


def tradeoff(results: PartResults) -> Judgement:
    """Whether the buffer that is fairer costs utilization."""
    under, over = (two_flows.at(results, limit) for limit in (UNDER, OVER))
    carried = paired_difference(over, under, UTILIZATION)
    fairer = paired_difference(over, under, JAIN)

    def why() -> str:
        largest = results.study("two").points[-1]
        return (
            "A trade-off over the buffer requires that fairness rises where utilization falls. "
            f"From {packets(under):,} to {packets(over):,} packets Jain's index changes by "
            f"{shown(fairer)} and utilization from {shown(under.interval(UTILIZATION), True)} to "
            f"{shown(over.interval(UTILIZATION), True)}. What a larger buffer costs is "
            f"delay: on average {1e3 * under.mean(two_flows.wait_s):.3g} ms with "
            f"{packets(under):,} packets and {1e3 * over.mean(two_flows.wait_s):.3g} ms with "
            f"{packets(over):,}. Even with {packets(largest):,} packets the flow with the shorter "
            f"RTT gets {two_flows.typical_ratio(largest):.3g} times as much as the other. There "
            f"are {under.mean(reductions_a_minute):.3g} reductions a minute with "
            f"{packets(under):,} packets and {over.mean(reductions_a_minute):.3g} with "
            f"{packets(over):,}, and by the window law a difference halves in "
            f"{over.mean(two_flows.reductions_to_halve):.2g} of them."
        )

    what, stated = "utilization, over- minus under-buffered", "falls where fairness rises (below 0)"
    return Judgement((below(what, carried, 0.0, stated, percent=True),), why)


def reductions_a_minute(run: StoredRun) -> float:
    """Episodes in which the link drops packets."""
    summary = run.summary
    seconds = summary["measured_to_s"] - summary["measured_from_s"]
    return float(60 * summary["links"]["bottleneck"]["congestion_episodes"] / seconds)


PART = Part(
    "rtt-fairness",
    "RTT fairness and utilization of two flows over the buffer",
    studies,
    draw,
    (
        Claim(
            "tradeoff",
            "One should consider the effect of buffer size on the tradeoff between RTT fairness "
            "and utilization.",
            "Sec. III-A",
            tradeoff,
        ),
    ),
    "The paper calls it important to investigate convergence to fairness and states no result: "
    "panel (d) shows it. The dashed line in (c) is our own derivation: windows that always fall "
    "together recover in one cycle what they lost, so the rate of a flow is proportional to its "
    f"RTT, with the mean queueing delay, to the power of -{two_flows.AT_REST:.2f}.",
    caption="(a) Jain's index against utilization; labels are buffers in packets. (b) Jain's index "
    "and (c) the ratio of the throughputs over the buffer; crosses are single runs, circles are "
    "means (geometric in c). (d) Jain's index over time, mean of the runs. Bars are 95 % "
    "confidence intervals; (a) to (c) are measured in the second half of the runs.",
)
