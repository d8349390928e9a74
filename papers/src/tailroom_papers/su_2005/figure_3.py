"""Figure 3: fairness of four controls to flows with different round trip times."""

from itertools import islice
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from tailroom.plots import style
from tailroom.plots.log_axis import plain_ticks
from tailroom.reproduction.claim import Check, Claim, Judgement, above, between, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.mean_curves import bar_length
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import Metric, PartResults, PointResults, StoredRun
from tailroom.simulation.metrics import jain_index
from tailroom.statistics.intervals import mean_interval
from tailroom_papers.reference import ns2
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.over_time import (
    index_at_scale,
    index_in_window,
    index_up_to,
    sliding_mean,
)
from tailroom_papers.su_2005.setting import CONTROL, LIMIT, RTTS_MS, SCENARIO, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONTROLS = {
    "fhstcp": "FHSTCP, c = 10",
    "highspeed": "HighSpeed TCP",
    "scalable": "Scalable TCP",
    "reno": "standard TCP",
}
WINDOW_S = 10.0
"""Of the sliding index; the paper names none."""
SCALES_S = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
WITHIN = 1.25
"""Factor by which rates may miss the inverse ratio of RTTs; the paper gives none."""
FROM_S = 50.0
"""Where Figure 3 begins."""

USERS = {
    "count": 20,
    "path": ["bottleneck"],
    "congestion": "reno",
    "send_jitter": "none",
    "packet_size": "1000 B",
    "rtt": {"uniform": ["60 ms", "180 ms"]},
    "access_rate": "10 Gbit/s",
    "initial_window": 2,
    "max_window": 64,
    "rto_granularity": "10 ms",
    "source": {
        "kind": "objects",
        "arrivals_per_second": 1,
        "size": {"kind": "pareto", "shape": 1.2, "mean": "11520 B"},
    },
}
"""Web users as in the runs of ns-2."""
NS2_BUFFERS = (250, 2500)
NS2_ROWS = {
    ("highspeed", 2500): "S5 2500 hstcp web",
    ("reno", 2500): "S5 2500 sack web",
    ("reno", 250): "S5 250 sack web",
}
"""Cases of ns-2 by control and buffer; its Scalable TCP is the Linux variant."""


def studies(form: Form) -> list[Study]:
    """Four controls with their goodputs over time; and the path that ns-2 was run on."""
    seeds = form.of(3, 4, 20)
    return [
        Study(
            "controls",
            SCENARIO,
            grid={CONTROL: list(CONTROLS)},
            set=span(form),
            seeds=seeds,
            keep=("flow_series",),
        ),
        Study(
            "ns-2",
            "su-2005-fhstcp/rtt-fairness.toml",
            grid={
                CONTROL: list(CONTROLS),
                LIMIT: [f"{ns2_buffer - 1} packets" for ns2_buffer in NS2_BUFFERS],
            },
            set={**span(form), "flows.users": USERS},
            seeds=form.of(1, 4, 20),
        ),
    ]


def of(results: PartResults, control: str) -> PointResults:
    """The runs of a control."""
    return results.study("controls").at({CONTROL: control})


def fairer_than(results: PartResults, other: str) -> list[Check]:
    """FHSTCP's index less another control's, for the whole time and in sliding windows."""
    mine, theirs = of(results, "fhstcp"), of(results, other)
    whole = difference(mine, theirs, measures.fairness)
    windows = difference(mine, theirs, sliding_index)
    name = CONTROLS[other]
    return [
        above(f"index over the measured time: FHSTCP less {name}", whole, 0.0, "larger"),
        above(f"index in {WINDOW_S:g} s windows: FHSTCP less {name}", windows, 0.0, "larger"),
    ]


def sliding_index(run: StoredRun) -> float | None:
    """Mean of the index in sliding windows over the measured time."""
    return sliding_mean(run, WINDOW_S)


def judge_fairer(results: PartResults) -> Judgement:
    """Fairer than each of the three others, at both time scales."""
    checks = [check for other in list(CONTROLS)[1:] for check in fairer_than(results, other)]
    said = [
        f"{name}: {shown(of(results, control).interval(measures.fairness))} "
        f"({of(results, control).mean(sliding_index):.2f} in {WINDOW_S:g} s windows)"
        for control, name in CONTROLS.items()
    ]
    return Judgement(
        tuple(checks),
        f"The index over the measured time: {'; '.join(said)}. Equal windows, whose rates are "
        f"proportional to 1 / RTT, have {jain_index(1 / rtt for rtt in RTTS_MS):.2f} without "
        "queueing; queueing delay makes the round-trip times more similar.",
    )


def judge_against_rtt(results: PartResults) -> Judgement:
    """F1's rate over F3's is near the inverse ratio of their RTTs, nearer than under others."""
    checks, said = [], []
    for control, name in CONTROLS.items():
        log_ratio = of(results, control).interval(measures.against_rtt)
        if log_ratio is not None:
            said.append(f"{exp(log_ratio.mean):.2f} under {name}")
        if control == "fhstcp":
            bound = log(WITHIN)
            what = "ln of (rate F1 / rate F3) / (RTT F3 / RTT F1) under FHSTCP"
            checks.append(
                between(what, log_ratio, -bound, bound, f"0 (within a factor of {WITHIN})")
            )
    closer = [
        above(
            f"ln of the same ratio: {CONTROLS[other]} less FHSTCP",
            difference(of(results, other), of(results, "fhstcp"), measures.against_rtt),
            0.0,
            "larger",
        )
        for other in list(CONTROLS)[1:]
    ]
    return Judgement(
        (*checks, *closer),
        f"(rate F1 / rate F3) / (RTT F3 / RTT F1), 1 for equal windows, is {', '.join(said)} "
        f"(geometric means).",
    )


def draw(results: PartResults) -> "Figure":
    """Index up to t, in sliding windows, over time scales, and beside ns-2's."""
    figure, panels = drawing.figure_of(
        "Su et al. 2005, Figure 3: fairness of flows with RTTs of 80, 140 and 200 ms", 2, 2
    )
    points = [of(results, control) for control in CONTROLS]
    for point, name, look in zip(points, CONTROLS.values(), style.line_styles(), strict=False):
        wide = {**look, "linewidth": 1.6}
        _over_time(panels[0], point, wide, name, index_up_to)
        _over_time(panels[1], point, wide, name, lambda run: index_in_window(run, WINDOW_S))
        _over_scales(panels[2], point, wide, name)
    first = points[0].runs[0].summary
    panels[0].set_title("a) from the start up to time t", loc="left", fontsize="medium")
    panels[1].set_title(f"b) over the last {WINDOW_S:g} s", loc="left", fontsize="medium")
    panels[2].set_title("c) mean over windows of a length", loc="left", fontsize="medium")
    for axes in panels[:2]:
        axes.set_xlabel("time t (s)")
        axes.set_xlim(min(FROM_S, first["measured_from_s"]), first["measured_to_s"])
    panels[2].set_xlabel("length of the window (s)")
    panels[2].set_xscale("log")
    panels[2].xaxis.set_major_formatter(plain_ticks)
    _beside_ns2(panels[3], results)
    for axes in panels:
        axes.set_ylim(0.3, 1.02)
        axes.set_ylabel("fairness index")
    drawing.legend_below(figure, panels, 4)
    return figure


def _over_time(axes: "Axes", point: PointResults, look: dict[str, Any], name: str, of: Any) -> None:
    curves = [of(run) for run in point.runs]
    times = curves[0][0]
    each = [mean_interval([curve[1][place] for curve in curves]) for place in range(len(times))]
    axes.plot(times, [interval.mean for interval in each], label=name, **look)
    if len(curves) > 2:
        low, high = (
            [max(0.0, interval.low) for interval in each],
            [min(1.0, interval.high) for interval in each],
        )
        axes.fill_between(times, low, high, color=look["color"], **style.band(4))


def _over_scales(axes: "Axes", point: PointResults, look: dict[str, Any], name: str) -> None:
    last = point.runs[0].summary
    longest = last["measured_to_s"] - last["measured_from_s"]
    scales = [scale for scale in SCALES_S if scale <= longest]
    metrics: list[Metric] = [index_at_scale(scale) for scale in scales]
    means = [point.mean(metric) for metric in metrics]
    axes.plot(scales, means, label=name, **look)


def _beside_ns2(axes: "Axes", results: PartResults) -> None:
    rows = {row["case"]: row for row in ns2("S5 ").to_pylist()}
    study = results.study("ns-2")
    looks = islice(style.marked_line_styles(), 2)
    for buffer, look, aside in zip(NS2_BUFFERS, looks, (-0.12, 0.12), strict=True):
        points = [
            study.at({CONTROL: control, LIMIT: f"{buffer - 1} packets"}) for control in CONTROLS
        ]
        each = [point.interval(measures.fairness) for point in points]
        at = [place + aside for place in range(len(each))]
        axes.errorbar(
            at,
            [interval.mean if interval else np.nan for interval in each],
            [bar_length(interval) for interval in each],
            label=f"tailroom, 100 Mbit/s, {buffer} packets",
            capsize=3,
            **{**look, "linestyle": "none"},
        )
        theirs = [
            (at[place], rows[NS2_ROWS[control, buffer]])
            for place, control in enumerate(CONTROLS)
            if (control, buffer) in NS2_ROWS
        ]
        axes.errorbar(
            [place + 0.08 for place, _ in theirs],
            [row["jain"] for _, row in theirs],
            [row["jain_sd"] for _, row in theirs],
            label=f"ns-2 ± sd, the same, {buffer} packets",
            capsize=3,
            color="0.45",
            linestyle="none",
            marker="x" if buffer == 250 else "*",
            markersize=7,
        )
    axes.set_xticks(range(len(CONTROLS)), [name.split(",")[0] for name in CONTROLS.values()])
    axes.tick_params(axis="x", labelsize="small")
    axes.set_title("d) at 100 Mbit/s, over [50, 200] s", loc="left", fontsize="medium")


PART = Part(
    name="3",
    title="Fairness of four algorithms to different round trip times",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "fairer",
            "FHSTCP is fairer than HSTCP, STCP and standard TCP, at different time scales",
            "Sec. 3, Figure 3",
            judge_fairer,
        ),
        Claim(
            "against-rtt",
            "FHSTCP keeps the RTT unfairness inversely proportional to the RTT ratio",
            "Sec. 2",
            judge_against_rtt,
        ),
    ),
    note=(
        "The paper draws the index from 50 to 200 s and says that it is calculated at different "
        "time scales; both readings are drawn: the index of all data delivered until t, and the "
        "index of the data delivered in a sliding window. Panel d repeats the comparison on the "
        "path of the ns-2 runs, with 20 web users; ns-2 has no FHSTCP, and its Scalable TCP is "
        "another variant."
    ),
)
