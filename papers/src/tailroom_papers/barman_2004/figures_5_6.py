"""Figures 5 and 6: windows and queue of two flows, under- and over-buffered."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from tailroom_papers.barman_2004 import two_flows
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.settings import LIMIT
from tailroom_papers.barman_2004.two_flows import JAIN, OVER, UNDER
from tailroom_papers.framework import *

FAIR = BOUNDS["fair"].value
NAMES = ("HSTCP1 (RTT 80 ms)", "HSTCP2 (RTT 40 ms)")


def studies_5(form: Form) -> Sequence[Study]:
    """Under-buffered, and there with equal RTTs."""
    return [
        two_flows.study("two", [UNDER], form),
        two_flows.study("equal", [UNDER], form, two_flows.EQUAL_RTTS),
    ]


def studies_6(form: Form) -> Sequence[Study]:
    """Over-buffered, and under-buffered to compare with."""
    return [two_flows.study("two", [UNDER, OVER], form)]


def draw(figure_name: str, limit: str, results: PartResults) -> Figure:
    """Windows above, the queue below, over the whole run of the first seed."""
    point = two_flows.at(results, limit)
    run = point.runs[0]
    case = "under-buffered" if limit == UNDER else "over-buffered"
    title = (
        f"Figure {figure_name}: two HighSpeed flows, 1 Gbit/s, {case} "
        f"({two_flows.packets(point):,} packets)"
    )
    heights = {"height_ratios": [3, 2]}
    figure, (windows, queue) = figure_of(title, 2, 1, (8.6, 5.2), sharex=True, **heights)
    end, begin = run.summary["measured_to_s"], run.summary["measured_from_s"]
    _draw_windows(windows, run)
    series = run.table("link_series")
    look: dict[str, Any] = {"color": "black", "linewidth": 0.6, "label": "queue"}
    queue.plot(series["time_s"], series["queue_packets"], **look)
    queue.axhline(int(point.number(LIMIT)), label="largest queue", **style.LIMIT_LINE)
    for panel in (windows, queue):
        panel.axvspan(begin, end, color="0.94", zorder=0, label="judged")
    title = (
        f"judged from {begin:g} to {end:g} s, mean of {len(point.runs)} runs: Jain's index "
        f"{shown(point.interval(JAIN))}, 40 ms flow over 80 ms flow "
        f"{two_flows.typical_ratio(point):.3g} : 1"
    )
    label = f"time (s), seed {run.seed}"
    frame(windows, title=title, y="congestion window (packets)", ylim=(0, None), grid="")
    frame(queue, x=label, y="queue (packets)", xlim=(0, end), ylim=(0, None), grid="")
    windows.title.set_fontsize("small")
    return legend_below(figure, 5)


def _draw_windows(panel: Axes, run: StoredRun) -> None:
    series = run.table("flow_series")
    flows = [flow["name"] for flow in run.summary["flows"]]
    looks: tuple[dict[str, Any], ...] = (
        {"color": "#D55E00", "linewidth": 0.9},
        {"color": "#0072B2", "linewidth": 0.9},
    )
    for name, flow, look in zip(NAMES, reversed(flows), looks, strict=True):
        mine = series.filter([flow_name == flow for flow_name in series["flow"].to_pylist()])
        panel.plot(mine["time_s"], mine["cwnd_packets"], label=name, **look)


def due_to_rtts(results: PartResults) -> Judgement:
    """Unfairness due to the RTTs."""
    two, equal = two_flows.at(results, UNDER), two_flows.at(results, UNDER, "equal")
    fair, unequal, same = BOUNDS["fair"], "RTTs 40 and 80 ms", "both RTTs 60 ms"
    return Judgement(
        (
            two.below(f"Jain's index, {unequal}", JAIN, fair, f"unfair (below {FAIR:g})"),
            equal.above(f"Jain's index, {same}", JAIN, fair, f"fair (above {FAIR:g})"),
        ),
        f"The flow with half the RTT gets {two_flows.typical_ratio(two):.3g} times as much; flows "
        "that always lose together and differ only in RTT converge to "
        f"{two.mean(two_flows.expected_ratio):.3g} : 1 by HighSpeed's response function. With "
        f"equal RTTs Jain's index is {equal.mean(JAIN):.3f}.",
    )


def larger_is_fairer(results: PartResults) -> Judgement:
    """A larger buffer reduces the unfairness."""
    under, over = two_flows.at(results, UNDER), two_flows.at(results, OVER)
    ratios = [two_flows.typical_ratio(point) for point in (under, over)]
    ratio = "ln of the throughput ratio, over- minus under-buffered"
    expected = [point.mean(two_flows.expected_ratio) for point in (under, over)]
    return Judgement(
        (
            more("Jain's index, over- minus under-buffered", over, under, JAIN, "larger (above 0)"),
            less(ratio, over, under, two_flows.log_ratio, "smaller (below 0)"),
        ),
        f"The 40 ms flow gets {ratios[0]:.3g} times as much as the 80 ms flow under-buffered and "
        f"{ratios[1]:.3g} times over-buffered: queueing delay is part of both RTTs and makes them "
        f"more similar. Flows that always lose together converge to {expected[0]:.3g} : 1 and "
        f"{expected[1]:.3g} : 1 with the measured queueing delays.",
    )


CAPTION = (
    "Congestion windows of the two flows (above) and the queue (below) in the run of one seed, "
    "whole length. The shaded span is the one over which the numbers in the title and the claims "
    "are measured."
)
PART_5 = Part(
    "5",
    "Windows and queue of two flows, under-buffered",
    studies_5,
    partial(draw, "5", UNDER),
    (
        Claim(
            "due-to-rtts",
            "The unfairness evident from the window dynamics is due to the difference in RTTs of "
            "the two connections.",
            "Sec. III-A, Figure 5",
            due_to_rtts,
        ),
    ),
    "The paper prints neither the RTTs (one is almost twice the other) nor the buffers: 40 and "
    "80 ms, and 500 and 10,000 packets are ns-2's in the rows that we compare with. Numbers are "
    "measured in the second half of the runs, after the flows have forgotten their starts.",
    caption=CAPTION,
)
PART_6 = Part(
    "6",
    "Windows and queue of two flows, over-buffered",
    studies_6,
    partial(draw, "6", OVER),
    (
        Claim(
            "larger-is-fairer",
            "A larger bottleneck buffer reduces the unfairness between two connections.",
            "Sec. III-A, Figure 6",
            larger_is_fairer,
        ),
    ),
    caption=CAPTION,
)
