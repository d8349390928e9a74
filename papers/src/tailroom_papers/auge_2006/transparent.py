"""Section IV-A: buffers in the transparent regime."""

from collections.abc import Sequence
from math import log
from typing import Any

from tailroom.models.numerics.queue_chains import mm1k
from tailroom.scenario.types import Scenario
from tailroom_papers.auge_2006 import background, picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.framework import *

TRANSPARENT = "auge-roberts-2006/transparent.toml"
LIMIT = setup.LIMIT
RATE = "flows.packets.source.rate"
LINK_MBPS = 2500
LOADS = (0.71, 0.9)
BUFFERS = (10, 20, 40, 100)
LOSS = f"links.{setup.LINK}.loss_fraction"
DELAY = f"links.{setup.LINK}.queue_delay_s_p99"
IN_PROGRESS = f"links.{setup.LINK}.flows_in_progress_mean"
SHOWN_RUNS = 5
STATED = {0.71: (20, 0.01), 0.9: (100, 1 / 30_000)}
"""Buffer and loss that the paper states, by load."""
STAR: dict[str, Any] = {"marker": "*", "markersize": 10, "linestyle": "none"}
LAW = 0.9**20
"""Factor by which 20 packets more reduce the loss at a load of 0.9, by the paper's formula."""
LEAST_LOAD = 0.4
"""Utilization from which the case of TCP flows counts, in every form."""


def studies(form: Form) -> Sequence[Study]:
    """Poisson packets of exponential sizes, and flows of 1 Mbit/s that arrive and depart."""
    seconds = form.of(0.1, 1.6, 20)
    table: Scenario = {
        "title": "Poisson packets of exponential sizes",
        "duration": f"{seconds + 0.01:g} s",
        "measure_from": "10 ms",
        "links": {
            setup.LINK: {"rate": f"{LINK_MBPS} Mbit/s", "delay": "1 ms", "queue": setup.fifo(20)}
        },
        "flows": {
            "packets": {
                "path": [setup.LINK],
                "packet_size": "500 B",
                "source": {"kind": "poisson", "rate": "1 Gbit/s", "sizes": "exponential"},
            }
        },
    }
    grid = {
        RATE: [f"{load * LINK_MBPS:g} Mbit/s" for load in LOADS],
        LIMIT: [f"{buffer - 1} packets" for buffer in BUFFERS],
    }
    flows = {
        f"links.{setup.LINK}.rate": form.of("1 Gbit/s", "3 Gbit/s", "10 Gbit/s"),
        f"links.{setup.LINK}.queue": setup.fifo(100),
        f"links.{setup.LINK}.arrival_dispersion": "10 us",
        "duration": form.of("6 s", "10 s", "16 s"),
        "measure_from": form.of("5 s", "7 s", "8 s"),
        "flows.limited.source.load": form.of(0.5, 0.9, 0.9),
    }
    keep = ("arrival_dispersion",)
    return [
        Study("packets", table, grid=grid, seeds=form.of(3, 3, 20)),
        Study("flows", TRANSPARENT, set=flows, seeds=form.of(3, 3, 10), keep=keep),
    ]


def _load(point: PointResults) -> float:
    return point.number(RATE) / LINK_MBPS


def _at(results: PartResults, load: float, buffer: int) -> PointResults:
    return next(
        point
        for point in results.study("packets").points
        if abs(_load(point) - load) < 1e-6 and background.buffer_of(point) == buffer
    )


def exact(load: float, buffer: int) -> float:
    """Loss of M/M/1 with so many places, the one of the packet being sent included."""
    return mm1k(log(load), buffer).loss


def draw(results: PartResults) -> Figure:
    """Loss over buffer, with rho^n; and how nearly Poisson the packets of flows arrive."""
    title = "The transparent regime: loss by buffer, and arrivals by time scale"
    figure, (left, right) = picture.page(title, 4.0, columns=2)
    _draw_loss(left, results)
    _draw_dispersion(right, results)
    return picture.finished(figure, 3)


def _draw_loss(panel: Axes, results: PartResults) -> None:
    for load, look in zip(LOADS, style.marked_line_styles(), strict=False):
        points = [_at(results, load, buffer) for buffer in BUFFERS]
        marks = look | {"linestyle": "none", "label": f"load {load:g}: simulation"}
        means = [point.interval(LOSS) if point.mean(LOSS) > 0 else None for point in points]
        draw_intervals(panel, BUFFERS, means, marks)
        line = {"color": look["color"], "linewidth": 1.0}
        panel.plot(BUFFERS, [load**n for n in BUFFERS], linestyle="--", **line)
        panel.plot(BUFFERS, [exact(load, n) for n in BUFFERS], linestyle="-", **line)
        star = STAR | {"color": look["color"], "label": f"load {load:g}: stated by the paper"}
        panel.plot(*STATED[load], **star)
    panel.plot([], [], color="0.4", linestyle="--", label="the paper's $\\rho^n$")
    panel.plot([], [], color="0.4", label="M/M/1 with n places")
    title = "Poisson packets, exponential sizes, 2.5 Gbit/s"
    frame(panel, title=title, x="buffer n (packets)", y="loss", yscale="log", ylim=(1e-7, 1))


def _draw_dispersion(panel: Axes, results: PartResults) -> None:
    runs = _flows(results).runs[:SHOWN_RUNS]
    for run, look in zip(runs, style.line_styles(), strict=False):
        table = run.table("arrival_dispersion")
        milliseconds = [1e3 * scale_s for scale_s in table["scale_s"].to_pylist()]
        label = "TCP flows, a line per run" if run is runs[0] else "_run"
        panel.plot(milliseconds, table["index"], label=label, **look)
    panel.axhline(1, color="0.6", linewidth=0.9)
    leave_ms = 1e3 * drain_s(_flows(results).runs[0])
    panel.axvline(leave_ms, **style.LIMIT_LINE, label="100 packets leave")
    title, label = (
        "TCP flows of 1 Mbit/s that arrive and depart",
        "index of dispersion (Poisson: 1)",
    )
    frame(panel, title=title, x="time scale (ms)", y=label, log="xy")


def _flows(results: PartResults) -> PointResults:
    return results.study("flows").points[0]


def drain_s(run: StoredRun) -> float:
    """How long a full buffer takes to empty."""
    link = run.summary["links"][setup.LINK]
    return float(link["limit_ms"] / 1e3)


def dispersion(run: StoredRun) -> float:
    """Index of dispersion of the arrivals at the time scale in which the buffer empties."""
    table = run.table("arrival_dispersion")
    wanted = drain_s(run)
    rows = zip(table["scale_s"].to_pylist(), table["index"].to_pylist(), strict=True)
    return float(min(rows, key=lambda row: abs(row[0] - wanted))[1])


def _geometric(results: PartResults) -> Judgement:
    small, large = _at(results, 0.71, 20), _at(results, 0.9, 100)
    decay = paired_ratio(_at(results, 0.9, 40), _at(results, 0.9, 20), LOSS)
    over_law = decay and Interval(decay.mean / LAW, decay.half_width / LAW, decay.count)
    what = "load 0.9: loss with 40 packets over that with 20, over 0.9^20"
    corrected = "load 0.71, 20 packets: loss, with the corrected number"
    return Judgement(
        (
            large.below("load 0.9, 100 packets: loss", LOSS, BOUNDS["one-in-30000"]),
            small.below("load 0.71, 20 packets: loss", LOSS, BOUNDS["one-in-100"]),
            small.below(corrected, LOSS, BOUNDS["one-in-1000"]),
            between(what, over_law, BOUNDS["geometric-decay"]),
        ),
        lambda: (
            f"With 20 packets at 0.71 the loss is {shown(small.interval(LOSS))}; M/M/1 with 20 "
            f"places gives {exact(0.71, 20):.2g}. The paper's rho^n = {0.71**20:.2g} leaves out "
            "the factor 1 - rho and is an upper bound; the printed 0.01 is a slip for 0.001. With "
            f"100 packets at 0.9 the loss is {shown(large.interval(LOSS))}, and 99 % of packets "
            f"wait less than {1e6 * large.mean(DELAY):.0f} microseconds, where the paper gives 160 "
            "for the whole buffer."
        ),
    )


def _poisson(results: PartResults) -> Judgement:
    point = _flows(results)
    what = "index of dispersion at the time scale in which 100 packets leave"
    return Judgement(
        (
            point.between(what, dispersion, BOUNDS["nearly-poisson"]),
            point.below("loss of TCP flows of 1 Mbit/s, 100 packets", LOSS, BOUNDS["one-in-30000"]),
        ),
        lambda: (
            f"{point.mean(IN_PROGRESS):,.0f} flows of 1 Mbit/s are in progress. Over the longest "
            f"time that a packet may wait ({1e3 * drain_s(point.runs[0]):.2f} ms) packets of one "
            "flow are far apart, so that arrivals are like those of independent flows."
        ),
    )


def _loaded(results: PartResults) -> Judgement:
    used = f"links.{setup.LINK}.utilization"
    what, words = "utilization by the TCP flows", "a loaded link"
    check = _flows(results).above(what, used, LEAST_LOAD, words, percent=True)
    return Judgement((check,), "On an idle link any arrivals would be lossless.")


PART = Part(
    name="transparent",
    title="Buffers in the transparent regime",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "geometric-loss",
            "Pr[loss | buffer size = n] is about rho^n. If load is less than 90 %, a buffer of 100 "
            "packets maintains a loss rate better than 1 in 30000; a 20 packet buffer can keep it "
            "better than 0.01 (0.001) if load is less than 71 %.",
            "Sec. IV-A",
            _geometric,
        ),
        Claim(
            "nearly-poisson",
            "The sum of rates of a large set of non-bottlenecked flows is less than capacity; the "
            "packet arrival process is very nearly Poisson.",
            "Sec. IV-A",
            _poisson,
        ),
    ),
    conditions=(Claim("loaded", "The link with TCP flows is loaded.", "", _loaded),),
    caption=(
        "Left: loss over the buffer; simulation (marks, means with 95 % confidence intervals), "
        "M/M/1 with n places (solid), the paper's power of the load (dashed), and the numbers "
        "that the paper states (stars). Right: index of dispersion of the packets of TCP flows by "
        "time scale, for five runs; the vertical line is the time in which 100 packets leave."
    ),
    note=(
        "A buffer of n packets includes the packet being sent, so M/M/1 has n places. The flows "
        "are those of transparent.toml: Reno behind access links of 1 Mbit/s."
    ),
)
