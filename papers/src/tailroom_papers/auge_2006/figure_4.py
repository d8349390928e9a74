"""Figure 4: arrivals of one NewReno flow and the background at a buffer of 20 packets."""

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from tailroom.plots import arrivals
from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.bursts import bursts_of
from tailroom_papers.auge_2006.comparison import percent
from tailroom_papers.auge_2006.reductions import windows_before
from tailroom_papers.auge_2006.setup import LINK, RESIDUAL_BDP_PACKETS, fifo
from tailroom_papers.framework import *

LOG = "arrivals"
FLOW = "reno"
BUFFER = 20
BEFORE_S, AFTER_S = 0.25, 0.75
"""The paper shows about a second, which begins with the burst that loses packets."""


def studies(form: Form) -> Sequence[Study]:
    """The set-up of Figure 3's left column, with every arrival written down."""
    table = setup.scenario({FLOW: 1}, fifo(BUFFER), form)
    end = form.of("80 s", "110 s", "150 s")
    changes = {"duration": end, f"links.{LINK}.arrival_log": {"from": "50 s", "to": end}}
    keep = ("packets", "flow_series")
    return [Study(LOG, table, set=changes, seeds=setup.seeds(form), keep=keep)]


def draw(results: PartResults) -> Figure:
    """A second of the first run, around the first loss of the flow that has none just before."""
    run = _runs(results)[0]
    log = run.table("packets")
    start_s = _first_loss_s(run) - BEFORE_S
    shown = log.filter(
        (pc.field("time_s") >= start_s) & (pc.field("time_s") < start_s + BEFORE_S + AFTER_S)
    )
    title = "Figure 4: arrivals at a link with 20 packets of buffer (height in a row means nothing)"
    figure, (packets, queue) = picture.page(title, 4.6, 2, sharex=True, height_ratios=[3.0, 1.4])
    arrivals.draw_link(packets, queue, shown, run.summary)
    queue.set(xlim=(start_s, start_s + BEFORE_S + AFTER_S), xlabel="time (s)")
    return picture.readable(figure)


def _first_loss_s(run: StoredRun) -> float:
    log = run.table("packets")
    lost = log.filter((pc.field("flow") == FLOW) & (pc.field("fate") == "overflow"))
    time_s = lost["time_s"].to_numpy()
    if time_s.size == 0:
        return float(log["time_s"][0].as_py()) + BEFORE_S
    alone = np.diff(time_s, prepend=log["time_s"][0].as_py()) > 1
    return float(time_s[alone][0] if alone.any() else time_s[0])


def _runs(results: PartResults) -> Sequence[StoredRun]:
    return results.study(LOG).points[0].runs


def _log(results: PartResults) -> PointResults:
    return results.study(LOG).points[0]


def last_quarter(run: StoredRun) -> float | None:
    """Fraction of the flow's losses that are in the last quarter of their burst."""
    places = bursts_of(run, FLOW).places_lost
    return _mean(places >= 0.75)


def silence_ms(run: StoredRun) -> float:
    """Median silence between two bursts of the flow."""
    return 1e3 * float(np.median(bursts_of(run, FLOW).silences_s))


def gap(run: StoredRun) -> float:
    """Median gap between two packets of a burst, in packet times of the link."""
    return float(np.median(bursts_of(run, FLOW).gaps))


def window_before(run: StoredRun) -> float | None:
    """Mean window at the reductions, in packets."""
    return _mean(windows_before(run, FLOW))


def _at_the_end(results: PartResults) -> Judgement:
    check = _log(results).above(
        "losses in the last quarter of their burst", last_quarter, BOUNDS["end-of-burst"]
    )

    def why() -> str:
        places = np.concatenate([bursts_of(run, FLOW).places_lost for run in _runs(results)])
        return (
            f"Of {places.size} losses of the flow {percent(_mean(places < 0.5) or 0)} are in the "
            "first half of their burst. The queue grows during a burst, because burst and "
            "background together arrive faster than the link sends."
        )

    return Judgement((check,), why)


def _small_windows(results: PartResults) -> Judgement:
    check = _log(results).below(
        "mean window at a reduction, packets", window_before, BOUNDS["small-window"]
    )

    def why() -> str:
        windows = np.concatenate([windows_before(run, FLOW) for run in _runs(results)])
        room = RESIDUAL_BDP_PACKETS + BUFFER
        return (
            f"Residual, round trip and buffer hold {room} packets. Of {windows.size} reductions "
            f"{percent(float((windows < room / 2).mean()))} come at windows below half of that, "
            f"and {percent(float((windows < room).mean()))} below all of it."
        )

    return Judgement((check,), why)


def _in_bursts(results: PartResults) -> Judgement:
    point = _log(results)
    checks = (
        point.above("silence between two bursts, ms", silence_ms, BOUNDS["stripes"]),
        point.below(
            "median gap within a burst, packet times of the link", gap, BOUNDS["link-rate"]
        ),
    )

    def why() -> str:
        lengths = np.concatenate([bursts_of(run, FLOW).lengths for run in _runs(results)])
        return (
            f"Half of the bursts are longer than {np.median(lengths):.0f} packets. A gap is about "
            "two packet times, not one, because the flow shares the link with as many packets of "
            "the background, and its ACKs preserve these gaps."
        )

    return Judgement(checks, why)


def _mean(values: "np.typing.NDArray[np.float64] | np.typing.NDArray[np.bool_]") -> float | None:
    return float(np.mean(values)) if values.size else None


PART = Part(
    name="4",
    title="Arrivals of one NewReno flow and the background at a link with 20 packets, FIFO",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "bursts",
            "The stripes reflect the TCP window mechanism which tends to emit packets in bursts; "
            "during each burst packets arrive at link rate but with some randomness.",
            "Sec. IV-B, Figure 4",
            _in_bursts,
        ),
        Claim(
            "loss-at-the-end",
            "Packet loss occurs at the end of the first depicted burst.",
            "Sec. IV-B, Figure 4",
            _at_the_end,
        ),
        Claim(
            "small-windows",
            "For the 20 packet buffer this event happens quite often, even for relatively small "
            "window sizes.",
            "Sec. IV-B, Figure 4",
            _small_windows,
        ),
    ),
    caption=(
        "A second of the first run. Above: each packet that arrives at the link, a row per kind "
        "of flow; the height within a row has no meaning, and squares are lost packets at their "
        "time of arrival (the paper draws them at the left edge). Below: the queue."
    ),
    note="A burst ends with a gap of more than 10 ms.",
)
