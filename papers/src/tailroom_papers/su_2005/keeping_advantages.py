"""FHSTCP alone against HighSpeed TCP alone: whether it keeps the advantages."""

from collections.abc import Sequence

import numpy as np

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom_papers.framework import *
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.over_time import goodputs
from tailroom_papers.su_2005.setting import BOUNDS, CONTROL, PACKET_BITS, RTTS_MS, Path

ALONE = "su-2005-fhstcp/alone.toml"
RTT = "flows.fair.rtt"
SSTHRESH = "flows.fair.initial_ssthresh"
FAST = Path(1000, 20)
FASTEST = Path(10_000, 20)
FEWER_MICE: dict[str, object] = {f"flows.{group}.source.load": 0.001 for group in ("short", "web")}
"""The same 20 Mbit/s on ten times the rate."""
NAMES = {"fhstcp": "FHSTCP, c = 10", "highspeed": "HighSpeed TCP", "reno": "standard TCP"}
RATES = {"1G": "1 Gbit/s", "10G": "10 Gbit/s"}
"""By study."""
NO_BLOCKS = {"kind": "fhstcp", "block_pacing": False}
FAIR_FACTOR = {"fhstcp": 10.0}
"""c; the other controls have no such factor."""
RAMP_FROM = 100
"""Window, in packets, that ends slow start, so that the window law alone fills the link."""
MOST_OF_BUFFER = 0.9
"""Filled by slow start, so that the first loss is not far."""
HALF = 0.5
"""Part of the link at which the way up is timed."""
PAYLOAD = 0.96
"""Of a packet of 1000 bytes, 40 of them headers."""
INTERVAL = "0.5 s"
SMOOTHED = 4
"""Intervals over which the picture averages: some hold two round trips, and others three."""


def studies(form: Form) -> list[Study]:
    """Alone on 1 and 10 Gbit/s; and the way up on 1 Gbit/s without slow start."""
    both = ("fhstcp", "highspeed")
    rtts = form.of((200,), (80, 200), RTTS_MS)
    seeds = form.of(2, 3, 5)

    def times(measure_from_s: int, duration_s: int) -> dict[str, object]:
        return {"measure_from": f"{measure_from_s} s", "duration": f"{duration_s} s"}

    return [
        Study(
            "1G",
            ALONE,
            grid={CONTROL: [*both, NO_BLOCKS]},
            together=filling(FAST, rtts),
            set=times(*form.of((5, 15), (20, 60), (50, 200))),
            seeds=form.of(2, 3, 20),
        ),
        Study(
            "10G",
            ALONE,
            grid={CONTROL: both},
            together=filling(FASTEST, form.of((200,), (80,), (80, 200))),
            set={**FASTEST.settings, **FEWER_MICE, **times(*form.of((4, 5), (5, 20), (30, 150)))},
            seeds=seeds,
        ),
        Study(
            "ramp",
            ALONE,
            grid={CONTROL: list(NAMES), RTT: [f"{rtt} ms" for rtt in rtts]},
            set={
                **times(*form.of((0, 100), (0, 150), (0, 300))),
                SSTHRESH: RAMP_FROM,
                "flows.fair.start": "0 s",
                "series.interval": INTERVAL,
            },
            seeds=seeds,
            keep=("flow_series",),
        ),
    ]


def filling(path: Path, rtts_ms: Sequence[int]) -> dict[str, list[object]]:
    """RTTs, each with a slow start that ends where the link and most of the buffer are full.

    Slow start until the first loss overshoots by a whole bandwidth-delay product, and the effect of
    its losses would last for minutes.
    """
    link = [path.rate_mbps * rtt * 1000 // PACKET_BITS for rtt in rtts_ms]
    most = MOST_OF_BUFFER * path.buffer_packets
    return {
        RTT: [f"{rtt} ms" for rtt in rtts_ms],
        SSTHRESH: [round(packets + most) for packets in link],
    }


def half_filled_s(run: StoredRun) -> float | None:
    """Returns the time until the flow has half the link; `None` if it never has."""
    times, amounts = goodputs(run)
    enough = HALF * PAYLOAD * measures.capacity_bps(run)
    reached = np.flatnonzero(amounts[0] >= enough)
    return float(times[reached[0]]) if reached.size else None


def ramp_seconds(path: Path, rtt_s: float, c: float | None) -> float:
    """Time that the window law takes from `RAMP_FROM` to half the link, without losses.

    dw/dt = a(w) / R under HighSpeed TCP, c a(w) with the fair factor.
    """
    end = HALF * path.rate_mbps * 1e6 / PACKET_BITS * rtt_s
    w = np.geomspace(RAMP_FROM, end, 2000)
    per_packet = 1 / (c * DEFAULTS.increase(w)) if c else rtt_s / DEFAULTS.increase(w)
    return float(np.trapezoid(per_packet, w))


def judge_utilization(results: PartResults) -> Judgement:
    """Alone FHSTCP uses no less of the link than HighSpeed TCP."""
    checks, said = [], []
    for study_name, name in RATES.items():
        study = results.study(study_name)
        for point in study.where({CONTROL: "fhstcp"}).points:
            rtt = point.settings[RTT]
            other = study.at({CONTROL: "highspeed", RTT: rtt})
            change = paired_difference(point, other, "utilization")
            what = f"{name}, RTT {rtt}: utilization of FHSTCP less that of HighSpeed TCP"
            bound = BOUNDS["keeping"]
            stated = f"above {100 * bound.value:g} points"
            checks.append(above(what, change, bound, stated, percent=True))
            used = [f"{100 * measured.mean('utilization'):.1f}" for measured in (point, other)]
            said.append(f"{used[0]} against {used[1]} % at {name} and {rtt}")
    unpaced = results.study("1G").where({CONTROL: NO_BLOCKS}).points
    used = [
        f"{100 * point.mean('utilization'):.1f} % at {point.settings[RTT]}" for point in unpaced
    ]
    return Judgement(
        tuple(checks),
        f"Utilization: {'; '.join(said)}. The buffer is 20 ms, a tenth to a quarter of a round "
        f"trip. Without blocks FHSTCP has {', '.join(used)} at 1 Gbit/s: a block, the window over "
        "int(c RTT) + 1, is more than the buffer holds once the link is full.",
    )


def judge_response(results: PartResults) -> Judgement:
    """Judges whether FHSTCP fills an empty link at least as fast as HighSpeed TCP."""
    checks, said = [], []
    study = results.study("ramp")
    for point in study.where({CONTROL: "fhstcp"}).points:
        rtt = point.settings[RTT]
        other = study.at({CONTROL: "highspeed", RTT: rtt})
        what = f"RTT {rtt}: FHSTCP's time to half the link less that of HighSpeed TCP (s)"
        checks.append(less(what, point, other, half_filled_s, "shorter"))
        slow = study.at({CONTROL: "reno", RTT: rtt})
        said.append(
            f"{_seconds(point)} under FHSTCP, {_seconds(other)} under HighSpeed TCP, "
            f"{_seconds(slow)} under standard TCP at {rtt}"
        )
    return Judgement(
        tuple(checks),
        f"From {RAMP_FROM} packets to half of 1 Gbit/s: {'; '.join(said)}. With the fair factor "
        "the window grows by c a(w) per second for any RTT, without it by a(w) per round trip: "
        "growth is faster if the RTT, with queueing, is above 1 / c = 100 ms, and slower below.",
    )


def _seconds(point: PointResults) -> str:
    interval = point.interval(half_filled_s)
    return "never in the run" if interval is None else f"{interval.mean:.0f} s"


def draw(results: PartResults) -> Figure:
    """Draws utilization alone at both rates, the way up, and the time that it takes."""
    figure, panels = figure_of("One flow alone, buffer of 20 ms", 2, 2)
    for axes, name in zip(panels, RATES, strict=False):
        _draw_utilization(axes, results, name)
    _draw_ramp(panels[2], results)
    _draw_time(panels[3], results)
    return legend_below(figure, 3)


def _draw_utilization(axes: Axes, results: PartResults, name: str) -> None:
    study = results.study(name)
    controls: dict[str, object] = {NAMES[kind]: kind for kind in ("fhstcp", "highspeed")}
    controls["FHSTCP without blocks"] = NO_BLOCKS
    for place, (label, kind, look) in enumerate(styled(controls, drawing.marks())):
        if points := study.where({CONTROL: kind}).points:
            over = [0.12 * (place - 1) + number for number in range(len(points))]
            draw_marks(axes, over, points, "utilization", look, label=label, scale=100)
    rtts = [str(point.settings[RTT]) for point in study.where({CONTROL: "fhstcp"}).points]
    label, room = f"utilization at {RATES[name]} (%)", (-0.6, len(rtts) - 0.4)
    frame(axes, x="RTT", y=label, names=rtts, xlim=room, ylim=(50, 102), grid="y")


def _draw_ramp(axes: Axes, results: PartResults) -> None:
    study = results.study("ramp")
    rtt = study.points[-1].settings[RTT]
    colours = (style.COLOURS[0], style.COLOURS[1], style.COLOURS[3])
    for (control, name), colour in zip(NAMES.items(), colours, strict=True):
        runs = study.at({CONTROL: control, RTT: rtt}).runs
        capacity = measures.capacity_bps(runs[0]) * PAYLOAD
        curves = [goodputs(run) for run in runs]
        rates = np.array([amounts[0] for _, amounts in curves]) / capacity
        mean = 100 * np.convolve(rates.mean(axis=0), np.full(SMOOTHED, 1 / SMOOTHED), "valid")
        label = f"{name}, mean goodput"
        axes.plot(curves[0][0][SMOOTHED - 1 :], mean, label=label, color=colour, linewidth=1.5)
    label = f"time since the window was {RAMP_FROM} packets (s), RTT {rtt}"
    frame(axes, x=label, y="goodput at 1 Gbit/s (% of the payload rate)", ylim=(0, 102))


def _draw_time(axes: Axes, results: PartResults) -> None:
    study = results.study("ramp")
    rtts = [point.number(RTT) for point in study.where({CONTROL: "fhstcp"}).points]
    over = np.linspace(40, 240, 101)
    for control, look in zip(("fhstcp", "highspeed"), drawing.marks(), strict=False):
        law = [ramp_seconds(FAST, rtt / 1e3, FAIR_FACTOR.get(control)) for rtt in over]
        label = f"{NAMES[control]}, integral of the law"
        axes.plot(over, law, label=label, color=look["color"], linestyle="--")
        points = [study.at({CONTROL: control, RTT: f"{rtt:g} ms"}) for rtt in rtts]
        draw_marks(axes, rtts, points, half_filled_s, look, label=NAMES[control])
    frame(axes, x="RTT (ms)", y="time to half of 1 Gbit/s (s)", ylim=(0, None))


PART = Part(
    name="keeping-advantages",
    title="FHSTCP alone against HighSpeed TCP alone",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "utilization",
            "FHSTCP keeps the advantages of HSTCP: the use of a fast link",
            "Abstract and Sec. 4",
            judge_utilization,
        ),
        Claim(
            "response",
            "FHSTCP keeps the advantages of HSTCP: its growth where standard TCP is too slow",
            "Abstract, Sec. 1 and 4",
            judge_response,
        ),
    ),
    caption=(
        "One flow next to short flows and web sessions. Top: utilization of a link of 1 Gbit/s and "
        "of 10 Gbit/s. Bottom left: goodput of a flow that begins congestion avoidance at "
        f"{RAMP_FROM} packets. Bottom right: time until the flow has half of the link, simulated "
        "and by integration of the window law. Marks are means over runs with 95 % confidence "
        "intervals. The paper has no such measurement."
    ),
    note=(
        "The paper does not measure a single flow. Here one flow shares the link only with short "
        "flows and web sessions (20 Mbit/s together, which also make the seeds differ). Slow "
        "start ends where the link and most of the buffer are full. Because slow start hides the "
        f"window law on an empty link, the measured growth begins at {RAMP_FROM} packets."
    ),
)
