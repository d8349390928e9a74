"""Figure 3: fairness of four controls to flows with different round trip times."""

from collections.abc import Sequence
from itertools import islice
from math import exp, log, sqrt
from typing import Any

from tailroom.simulation.metrics import jain_index
from tailroom.statistics.distributions import student_quantile
from tailroom.statistics.intervals import CONFIDENCE
from tailroom_papers.framework import *
from tailroom_papers.reference import ns2_row
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.other_values import UNSTATED
from tailroom_papers.su_2005.over_time import (
    index_at_scale,
    index_in_window,
    index_up_to,
    sliding_mean,
)
from tailroom_papers.su_2005.paper_table import TABLE
from tailroom_papers.su_2005.readings import BASE, PLAUSIBLE, Reading
from tailroom_papers.su_2005.setting import BOUNDS, CONTROL, LIMIT, RATE, RTTS_MS, SCENARIO, span

CONTROLS = {
    "fhstcp": "FHSTCP, c = 10",
    "highspeed": "HighSpeed TCP",
    "scalable": "Scalable TCP",
    "reno": "standard TCP",
}
WINDOW_S = 10.0
"""Of the sliding index; the paper names none."""
SCALES_S = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
NS2_SCENARIO = "su-2005-fhstcp/rtt-fairness.toml"
"""The path of the runs of ns-2: 100 Mbit/s."""
FROM_S = 50.0
"""Where Figure 3 begins."""
STATED_INDEX = TABLE[10].fairness
"""The paper's Figure 3 has no numbers; its Table 1 has this one for the same flows."""

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


def of_controls(form: Form) -> Study:
    """The study of four controls with their goodputs over time."""
    grid, seeds, keep = {CONTROL: list(CONTROLS)}, form.of(3, 6, 50), ("flow_series",)
    return Study("controls", SCENARIO, grid, set=span(form), seeds=seeds, keep=keep)


def studies(form: Form) -> list[Study]:
    """Four controls with their goodputs over time; and the path that ns-2 was run on."""
    limits = [f"{ns2_buffer - 1} packets" for ns2_buffer in NS2_BUFFERS]
    grid = {CONTROL: list(CONTROLS), LIMIT: limits}
    changes = {**span(form), "flows.users": USERS}
    return [
        of_controls(form),
        Study("ns-2", NS2_SCENARIO, grid, set=changes, seeds=form.of(1, 4, 20)),
    ]


def variations(form: Form) -> list[Variation]:
    """Other paths and backgrounds, other readings of the pseudo-code, and the rest."""
    study = of_controls(form)
    seeds = form.of(2, 4, 20)
    claims = ("fairer", "against-rtt")
    names: Sequence[str] = form.of((), tuple(UNSTATED)[3:4], tuple(UNSTATED))
    readings = [reading for reading in PLAUSIBLE if reading.name != BASE]
    return [
        *_of_paths(study, form),
        *(UNSTATED[name].variation(name, study, claims, seeds) for name in names),
        *(
            Variation(
                reading.name,
                [study.varied({}, grid={CONTROL: controls_with(reading)}, seeds=seeds)],
                claims,
                reason=reading.reason,
            )
            for reading in form.of(readings[:0], readings[:1], readings)
        ),
    ]


def _of_paths(study: Study, form: Form) -> list[Variation]:
    """100 Mbit/s with two backgrounds, and with a longer buffer."""
    claims = ("fairer", "against-rtt")
    users = {"flows.users": USERS, "series.interval": "1 s"}
    seeds = form.of(2, 4, 20)
    small, large = (f"{ns2_buffer - 1} packets" for ns2_buffer in NS2_BUFFERS)
    on_ns2_path = study.varied(users, scenario=NS2_SCENARIO)
    same = study.varied({RATE: "100 Mbit/s", LIMIT: small}, seeds=seeds)
    short = on_ns2_path.varied({LIMIT: small}, seeds=form.of(2, 6, 100))
    long = on_ns2_path.varied({LIMIT: large}, seeds=seeds)
    return [
        Variation(
            "100 Mbps, 250 packets, 20 web users",
            [short],
            claims,
            reason="the lowest plausible rate, with a buffer of rate times 20 ms and web users as "
            "in the runs of ns-2 in place of short flows and web sessions (panel d)",
        ),
        Variation(
            "100 Mbps, 250 packets",
            [same],
            claims,
            reason="the lowest plausible rate, with a buffer of rate times 20 ms",
        ),
        Variation(
            "100 Mbps, 2500 packets, 20 web users",
            [long],
            claims,
            plausible=False,
            reason="a buffer of 200 ms, which is more than rate times delay of a bottleneck whose "
            "delay is at most half of the shortest RTT",
        ),
    ][: form.of(1, 2, 3)]


def controls_with(reading: Reading) -> list[object]:
    """Returns the four controls, FHSTCP by a reading of its pseudo-code."""
    mine = {"kind": "fhstcp", **reading.control}
    return [mine, *(control for control in CONTROLS if control != "fhstcp")]


def of(results: PartResults, control: str) -> PointResults:
    """Returns the runs of a control."""
    return results.study("controls").points[list(CONTROLS).index(control)]


def fairer_than(results: PartResults, other: str) -> list[Check]:
    """FHSTCP's index less another control's, for the whole time and in sliding windows."""
    mine, theirs = of(results, "fhstcp"), of(results, other)
    over = {
        "over the measured time": measures.fairness,
        f"in {WINDOW_S:g} s windows": sliding_index,
    }
    return [
        more(f"index {words}: FHSTCP less {CONTROLS[other]}", mine, theirs, metric, "larger")
        for words, metric in over.items()
    ]


def sliding_index(run: StoredRun) -> float | None:
    """Mean of the index in sliding windows over the measured time."""
    return sliding_mean(run, WINDOW_S)


def judge_fairer(results: PartResults) -> Judgement:
    """Fairer than each of the three others, at both time scales."""
    checks = [check for other in list(CONTROLS)[1:] for check in fairer_than(results, other)]
    return Judgement(tuple(checks), lambda: _why_fairer(results))


def _why_fairer(results: PartResults) -> str:
    said = [
        f"{name}: {shown(of(results, control).interval(measures.fairness))} "
        f"({of(results, control).mean(sliding_index):.2f} in {WINDOW_S:g} s windows)"
        for control, name in CONTROLS.items()
    ]
    return (
        f"The index over the measured time: {'; '.join(said)}. Equal windows, whose rates are "
        f"proportional to 1 / RTT, have {jain_index(1 / rtt for rtt in RTTS_MS):.2f} without "
        "queueing; queueing delay makes the round-trip times more similar."
    )


def judge_against_rtt(results: PartResults) -> Judgement:
    """F1's rate over F3's is near the inverse ratio of their RTTs, nearer than under others."""
    checks, said = [], []
    for control, name in CONTROLS.items():
        log_ratio = of(results, control).interval(measures.against_rtt)
        if log_ratio is not None:
            said.append(f"{exp(log_ratio.mean):.2f} under {name}")
        if control == "fhstcp":
            factor = BOUNDS["inversely-proportional"].value
            what = "ln of (rate F1 / rate F3) / (RTT F3 / RTT F1) under FHSTCP"
            words = f"0 (within a factor of {factor})"
            checks.append(between(what, log_ratio, -log(factor), log(factor), words))
    mine = of(results, "fhstcp")
    for control in list(CONTROLS)[1:]:
        what, theirs = (
            f"ln of the same ratio: {CONTROLS[control]} less FHSTCP",
            of(results, control),
        )
        checks.append(more(what, theirs, mine, measures.against_rtt, "larger"))
    return Judgement(
        tuple(checks),
        f"(rate F1 / rate F3) / (RTT F3 / RTT F1), 1 for equal windows, is {', '.join(said)} "
        f"(geometric means).",
    )


def draw(results: PartResults) -> Figure:
    """Draws the index up to t, in sliding windows, over time scales, and compared with ns-2's."""
    figure, panels = figure_of("Figure 3: fairness of flows with RTTs of 80, 140 and 200 ms", 2, 2)
    start, sliding, scales, with_ns2 = panels
    points = {name: of(results, control) for control, name in CONTROLS.items()}
    for name, point, look in styled(points, style.line_styles()):
        wide = {**look, "linewidth": 1.6, "label": name}
        _over_time(start, point, wide, index_up_to)
        _over_time(sliding, point, wide, lambda run: index_in_window(run, WINDOW_S))
        _over_scales(scales, point, wide)
    for axes in (start, scales):
        axes.axhline(STATED_INDEX, label="Su et al., Table 1, c = 10", **style.LIMIT_LINE)
    _compare_with_ns2(with_ns2, results)
    first = next(iter(points.values())).runs[0].summary
    span_s = (min(FROM_S, first["measured_from_s"]), first["measured_to_s"])
    frame(start, title="a) from the start up to time t", x="time t (s)", xlim=span_s)
    frame(sliding, title=f"b) over the last {WINDOW_S:g} s", x="time t (s)", xlim=span_s)
    frame(scales, title="c) mean over windows of a length", x="length of the window (s)", log="x")
    for axes in panels:
        axes.set(ylim=(0.3, 1.02), ylabel="fairness index")
    return legend_below(figure, 3)


def _over_time(axes: Axes, point: PointResults, look: dict[str, Any], of: Any) -> None:
    curves = [of(run) for run in point.runs]
    times = curves[0][0]
    each = [mean_interval([curve[1][place] for curve in curves]) for place in range(len(times))]
    axes.plot(times, [interval.mean for interval in each], **look)
    if len(curves) > 2:
        low = [max(0.0, interval.low) for interval in each]
        high = [min(1.0, interval.high) for interval in each]
        axes.fill_between(times, low, high, color=look["color"], **style.band(4))


def _over_scales(axes: Axes, point: PointResults, look: dict[str, Any]) -> None:
    last = point.runs[0].summary
    longest = last["measured_to_s"] - last["measured_from_s"]
    scales = [scale for scale in SCALES_S if scale <= longest]
    axes.plot(scales, [point.mean(index_at_scale(scale)) for scale in scales], **look)


def _compare_with_ns2(axes: Axes, results: PartResults) -> None:
    study = results.study("ns-2")
    looks = zip(NS2_BUFFERS, islice(drawing.marks(), 4, None), (-0.15, 0.15), strict=False)
    for buffer, look, aside in looks:
        limit, link = f"{buffer - 1} packets", f"100 Mbit/s, {buffer} packets"
        ours = [study.at({CONTROL: control, LIMIT: limit}) for control in CONTROLS]
        over = [place + aside for place in range(len(CONTROLS))]
        label = f"tailroom, {link}"
        draw_marks(axes, over, ours, measures.fairness, look, label=label, most=1)
        theirs = [_of_ns2(control, buffer) for control in CONTROLS]
        cross = look | {"marker": "x", "label": f"ns-2, {link}"}
        draw_intervals(axes, [place + 0.1 for place in over], theirs, cross, most=1)
    names = [name.split(",")[0] for name in CONTROLS.values()]
    frame(axes, title="d) 100 Mbit/s, 20 web users", names=names, grid="y")
    axes.tick_params(axis="x", labelsize="small")


def _of_ns2(control: str, buffer: int) -> Interval | None:
    """The index of the runs of ns-2 with its 95 % interval; `None` if there are none."""
    row = ns2_row(NS2_ROWS.get((control, buffer), "none"))
    if row is None:
        return None
    count = int(row["n_seeds"])
    quantile = student_quantile(count - 1, 0.5 + CONFIDENCE / 2)
    return Interval(row["jain"], quantile * row["jain_sd"] / sqrt(count), count)


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
    variations=variations,
    caption=(
        "Jain's fairness index of three flows under the same control. a) Of all data delivered "
        "from the start up to time t. b) Of the data delivered in the last 10 s. c) Mean over all "
        "windows of a length within the measured time. Lines are means over runs, bands their 95 "
        "% confidence intervals; the dashed line is the index of FHSTCP in the paper's Table 1, "
        "since the text of the paper has no numbers for Figure 3. d) Index over the measured time "
        "on the path of the ns-2 runs, with 95 % confidence intervals; ns-2 has no FHSTCP, its "
        "Scalable TCP is another variant, and HighSpeed TCP was run with the longer buffer only."
    ),
    note=(
        "The paper draws the index from 50 to 200 s and says that it is calculated at different "
        "time scales. We judge two readings: the index of all data delivered in the measured time, "
        "and the mean index in sliding windows of 10 s.\n\n"
        "The fair factor equalizes windows only weakly. All three flows reduce their windows "
        "together, so that F3 has as many reductions as F1 and, by the fair factor, as "
        "much growth. In a cycle of T seconds a flow gains c a(w) T packets and loses b(w) w, so "
        "that w settles where b(w) w / a(w) = c T. By RFC 3649 the left side is nearly the same "
        "for different windows: 0.34 x 875 / 7.1 = 42 at 875 packets and 0.315 x 1306 / 9.1 = 45 "
        "at 1306 packets. A flow that can use 8 % less of the cycle, because its longer "
        "round-trip time makes its recovery longer, would therefore settle at a window that is "
        "smaller by a factor of 1.5. The windows depend on the path for this reason, and for a "
        "long time on which flow was ahead, so that results differ from seed to seed."
    ),
)
