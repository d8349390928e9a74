"""Figures 5 and 6: windows and queue of two flows, under- and over-buffered."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction import claim, pairs
from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PartResults, StoredRun
from tailroom_papers.barman_2004 import two_flows
from tailroom_papers.barman_2004.two_flows import FAIR, FAIR_WORDS, JAIN, OVER, UNDER

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("HSTCP1 (RTT 80 ms)", "HSTCP2 (RTT 40 ms)")
SHOWN_S = 200.0


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
    """Windows above, the queue below; the first seed's run."""
    point = two_flows.at(results, limit)
    run = point.runs[0]
    figure = Figure(figsize=(8.6, 5.4), layout="constrained")
    windows, queue = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    case = "under-buffered" if limit == UNDER else "over-buffered"
    style.title(
        figure,
        f"Figure {figure_name}: two HighSpeed flows, 1 Gbit/s, {case} ({limit}). Jain's index "
        f"{claim.shown(point.interval(JAIN))}, 40 ms flow over 80 ms flow "
        f"{two_flows.typical_ratio(point):.3g} : 1",
    )
    _draw_windows(windows, run)
    series = run.table("link_series")
    queue.plot(series["time_s"], series["queue_packets"], color="black", linewidth=0.7)
    queue.axhline(int(limit.split(maxsplit=1)[0]), label="limit", **style.LIMIT_LINE)
    queue.set_ylabel("queue (packets)")
    queue.set_xlabel(f"time (s), seed {run.seed}")
    queue.set_xlim(0, min(SHOWN_S, run.summary["measured_to_s"]))
    for panel in (windows, queue):
        panel.set_ylim(bottom=0)
        style.legend_beside(panel)
    return figure


def _draw_windows(panel: "Axes", run: StoredRun) -> None:
    series = run.table("flow_series")
    flows = [flow["name"] for flow in run.summary["flows"]]
    looks = style.line_styles()
    for name, flow in zip(NAMES, reversed(flows), strict=True):
        mine = series.filter([flow_name == flow for flow_name in series["flow"].to_pylist()])
        panel.plot(mine["time_s"], mine["cwnd_packets"], label=name, **next(looks))
    panel.set_ylabel("congestion window (packets)")


def due_to_rtts(results: PartResults) -> Judgement:
    """Unfairness due to the RTTs."""
    two, equal = two_flows.at(results, UNDER), two_flows.at(results, UNDER, "equal")
    return Judgement(
        (
            claim.below(
                "Jain's index, RTTs 40 and 80 ms",
                two.interval(JAIN),
                FAIR,
                f"unfair (here: below {FAIR})",
            ),
            claim.above("Jain's index, both RTTs 60 ms", equal.interval(JAIN), FAIR, FAIR_WORDS),
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
    expected = [point.mean(two_flows.expected_ratio) for point in (under, over)]
    return Judgement(
        (
            claim.above(
                "Jain's index, over- minus under-buffered",
                pairs.difference(over, under, JAIN),
                0.0,
                "larger (above 0)",
            ),
            claim.below(
                "ln of the throughput ratio, over- minus under-buffered",
                pairs.difference(over, under, two_flows.log_ratio),
                0.0,
                "smaller (below 0)",
            ),
        ),
        f"The 40 ms flow gets {ratios[0]:.3g} times as much as the 80 ms flow under-buffered and "
        f"{ratios[1]:.3g} times over-buffered: queueing delay is part of both RTTs and makes them "
        f"more similar. Flows that always lose together converge to {expected[0]:.3g} : 1 and "
        f"{expected[1]:.3g} : 1 with the measured queueing delays.",
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
    "measured in the second half of the runs; the picture shows the first 200 s of one run.",
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
)
