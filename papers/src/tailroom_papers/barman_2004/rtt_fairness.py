"""Fairness and convergence of two flows with RTTs of 40 and 80 ms over the buffer."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction import claim
from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun
from tailroom.simulation.metrics import jain_index
from tailroom_papers.barman_2004 import two_flows
from tailroom_papers.barman_2004.curves import NS2_LOOK
from tailroom_papers.barman_2004.settings import LIMIT
from tailroom_papers.barman_2004.two_flows import FAIR, FAIR_WORDS, JAIN, OVER, UNDER
from tailroom_papers.reference import ns2

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATIOS = (1, 2, 5, 10, 20, 50, 100)
"""Ticks."""
SLICES = 20
"""Of a run, for Jain's index over time."""


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


def packets(point: PointResults) -> int:
    """The buffer as ns-2 counts."""
    return int(point.number(LIMIT)) + 1


def draw(results: PartResults) -> Figure:
    """Jain's index and the ratio over the buffer, and the index over time."""
    figure = Figure(figsize=(8.6, 9), layout="constrained")
    index, ratio, time = figure.subplots(3, 1)
    style.title(
        figure,
        "Two HighSpeed flows, RTT 40 and 80 ms, 1 Gbit/s, DropTail: fairness over the buffer. "
        "Crosses are single runs, bars 95 % confidence intervals",
    )
    points = results.study("two").points
    x = [packets(point) for point in points]
    _means(index, points, JAIN)
    theirs = {int(row["case"].split()[1]): row["jain"] for row in ns2("S3 ").to_pylist()}
    index.plot(list(theirs), list(theirs.values()), label="ns-2", **NS2_LOOK)
    index.axhline(FAIR, label="shares of 2 : 1", **style.LIMIT_LINE)
    index.set_ylim(0.48, 1.02)
    index.set_ylabel("Jain's index")
    _ratios(ratio, points, x)
    for panel in (index, ratio):
        panel.set_xlabel("buffer (packets)")
        style.scale_over(panel, x)
    _over_time(time, points)
    for panel in (index, ratio, time):
        panel.grid(alpha=0.25)
        style.legend_beside(panel)
    return figure


def _means(panel: "Axes", points: Sequence[PointResults], metric: str) -> None:
    by_buffer = [(packets(point), point.interval(metric)) for point in points]
    told = [(x, interval) for x, interval in by_buffer if interval is not None]
    panel.errorbar(
        [x for x, _ in told],
        [interval.mean for _, interval in told],
        yerr=[interval.half_width for _, interval in told],
        color="black",
        marker="o",
        markerfacecolor="white",
        capsize=3,
        label="simulated",
    )
    for point in points:
        values = point.values(metric)
        panel.plot([packets(point)] * len(values), values, "x", color="0.45", markersize=5)


def _ratios(panel: "Axes", points: Sequence[PointResults], x: Sequence[int]) -> None:
    for point in points:
        values = np.exp(point.values(two_flows.log_ratio))
        panel.plot([packets(point)] * len(values), values, "x", color="0.45", markersize=5)
    means = [two_flows.typical_ratio(point) for point in points]
    panel.plot(x, means, color="black", marker="o", markerfacecolor="white", label="simulated")
    said = [point.mean(two_flows.expected_ratio) for point in points]
    panel.plot(
        x,
        said,
        color="#D55E00",
        linestyle="--",
        marker="+",
        label=f"flows that lose together,\nat rest: RTT ratio ^ {two_flows.AT_REST:.2f}",
    )
    panel.set_yscale("log")
    panel.set_yticks(RATIOS, [f"{ratio} : 1" for ratio in RATIOS])
    panel.minorticks_off()
    panel.set_ylim(0.8, 120)
    panel.set_ylabel("throughput ratio")


def _over_time(panel: "Axes", points: Sequence[PointResults]) -> None:
    looks = style.marked_line_styles()
    for point in style.evenly_spread(list(points), 4):
        seconds, mean = index_over_time(point.runs)
        panel.plot(seconds, mean, label=f"{packets(point):,} packets", **next(looks))
    panel.set_ylim(0.48, 1.02)
    panel.set_xlabel("time (s)")
    panel.set_ylabel("Jain's index in a\n20th of the run, mean")


def index_over_time(runs: Sequence[StoredRun]) -> tuple[list[float], list[float]]:
    """Ends of the slices of a run, and the mean of Jain's index in each."""
    end = runs[0].summary["measured_to_s"]
    edges = np.linspace(0, end, SLICES + 1)
    tables = [run.table("flow_series") for run in runs]
    means = []
    for begin, close in pairwise(edges):
        indices = [jain_index(two_flows.rates_between(table, begin, close)) for table in tables]
        means.append(float(np.mean([index for index in indices if index is not None])))
    return [float(edge) for edge in edges[1:]], means


def convergence(results: PartResults) -> Judgement:
    """Whether two flows come to share fairly."""
    points = {limit: two_flows.at(results, limit) for limit in (UNDER, OVER)}
    checks = tuple(
        claim.above(
            f"Jain's index at the end of the run, {packets(point):,} packets",
            point.interval(two_flows.late_jain),
            FAIR,
            FAIR_WORDS,
        )
        for point in points.values()
    )
    under, over = points.values()
    largest = results.study("two").points[-1]
    return Judgement(
        checks,
        "In the second half of the runs the flow with the shorter RTT gets "
        f"{two_flows.typical_ratio(under):.3g} times as much with {packets(under):,} packets, "
        f"{two_flows.typical_ratio(over):.3g} times with {packets(over):,} and "
        f"{two_flows.typical_ratio(largest):.3g} times with {packets(largest):,}. Flows that lose "
        "together converge to equal rates only if their RTTs, with queueing delay, are equal. "
        f"Before that, there are {under.mean(reductions_a_minute):.3g} reductions a minute with "
        f"{packets(under):,} packets and {over.mean(reductions_a_minute):.3g} with "
        f"{packets(over):,}, and by the window law a difference halves in "
        f"{over.mean(two_flows.reductions_to_halve):.2g} of them.",
    )


def reductions_a_minute(run: StoredRun) -> float:
    """Episodes in which the link drops packets."""
    summary = run.summary
    seconds = summary["measured_to_s"] - summary["measured_from_s"]
    return float(60 * summary["links"]["bottleneck"]["congestion_episodes"] / seconds)


PART = Part(
    "rtt-fairness",
    "RTT fairness and convergence of two flows over the buffer",
    studies,
    draw,
    (
        Claim(
            "convergence",
            "It is important to investigate the effects of buffering on convergence to fairness "
            "(the paper leaves open whether it is reached).",
            "Sec. I",
            convergence,
        ),
    ),
    "The dashed line is our own derivation: windows that always fall together recover in one "
    "cycle what they lost, so the rate of a flow is proportional to its RTT, with the mean "
    f"queueing delay, to the power of -{two_flows.AT_REST:.2f}.",
)
