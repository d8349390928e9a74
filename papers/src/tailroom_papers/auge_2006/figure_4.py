"""Figure 4: arrivals of one NewReno flow and the background at a buffer of 20 packets."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailroom.plots import arrivals, style
from tailroom.reproduction.claim import Claim, Judgement, above, below
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom_papers.auge_2006 import setup
from tailroom_papers.auge_2006.bursts import Bursts, bursts_of
from tailroom_papers.auge_2006.comparison import percent
from tailroom_papers.auge_2006.reductions import windows_before
from tailroom_papers.auge_2006.setup import LINK, RESIDUAL_BDP_PACKETS, fifo

if TYPE_CHECKING:
    from tailroom.reproduction.part_results import PartResults, StoredRun

LOG = "arrivals"
FLOW = "reno"
BUFFER = 20
BEFORE_S, AFTER_S = 0.25, 0.75
"""The paper shows about a second, which begins with the burst that loses packets."""


def studies(form: Form) -> Sequence[Study]:
    """The set-up of Figure 3's left column, with every arrival written down."""
    table = setup.scenario({FLOW: 1}, fifo(BUFFER), form)
    end = form.of("80 s", "110 s", "300 s")
    changes = {
        "duration": end,
        f"links.{LINK}.arrival_log": {"from": "50 s", "to": end},
    }
    keep = ("arrival_log", "flow_series")
    return [Study(LOG, table, set=changes, seeds=form.of(4, 5, 5), keep=keep)]


def draw(results: "PartResults") -> Figure:
    """A second of the first run, around the first loss of the flow that has none just before."""
    run = _runs(results)[0]
    log = run.table("arrival_log")
    start_s = _first_loss_s(run) - BEFORE_S
    shown = log.filter(
        (pc.field("time_s") >= start_s) & (pc.field("time_s") < start_s + BEFORE_S + AFTER_S)
    )
    figure = Figure(figsize=(9.0, 4.8), layout="constrained")
    packets, queue = figure.subplots(2, sharex=True, height_ratios=[3.0, 1.4])
    style.title(
        figure,
        "Figure 4: arrivals at a link with 20 packets of buffer (height in a row means nothing)",
    )
    arrivals.draw_link(packets, queue, shown, run.summary)
    queue.set_xlim(start_s, start_s + BEFORE_S + AFTER_S)
    queue.set_xlabel("time (s)")
    return figure


def _first_loss_s(run: "StoredRun") -> float:
    log = run.table("arrival_log")
    lost = log.filter((pc.field("flow") == FLOW) & (pc.field("fate") == "overflow"))
    time_s = lost["time_s"].to_numpy()
    if time_s.size == 0:
        return float(log["time_s"][0].as_py()) + BEFORE_S
    alone = np.diff(time_s, prepend=log["time_s"][0].as_py()) > 1
    return float(time_s[alone][0] if alone.any() else time_s[0])


def _runs(results: "PartResults") -> Sequence["StoredRun"]:
    return results.study(LOG).points[0].runs


def _over_runs(results: "PartResults", value: Callable[[Bursts], float | None]) -> Interval | None:
    values = [value(bursts_of(run, FLOW)) for run in _runs(results)]
    known = [number for number in values if number is not None]
    return mean_interval(known) if known else None


def _at_the_end(results: "PartResults") -> Judgement:
    mean_place = _over_runs(results, lambda loss: _mean(loss.places_lost))
    last_quarter = _over_runs(results, lambda loss: _mean(loss.places_lost >= 0.75))
    checks = (
        above(
            "mean place of losses in their burst, 0 the first packet, 1 the last",
            mean_place,
            2 / 3,
            "at the end (0.5 if anywhere; taken as above two thirds)",
        ),
        above(
            "losses in the last quarter of their burst",
            last_quarter,
            0.5,
            "most (25 % if anywhere)",
            percent=True,
        ),
    )
    places = np.concatenate([bursts_of(run, FLOW).places_lost for run in _runs(results)])
    early = percent(_mean(places < 0.5) or 0)
    why = (
        f"Of {places.size} losses of the flow {early} are in the first half of their burst: the "
        "queue grows during a burst, because burst and background together arrive faster than "
        "the link sends."
    )
    return Judgement(checks, why)


def _small_windows(results: "PartResults") -> Judgement:
    windows = [windows_before(run, FLOW) for run in _runs(results)]
    # Packets that fit without randomness: residual bandwidth-delay product and buffer.
    room = RESIDUAL_BDP_PACKETS + BUFFER
    means = [float(window.mean()) for window in windows if window.size]
    check = below(
        "mean window at a reduction, packets",
        mean_interval(means) if means else None,
        2 / 3 * room,
        f"relatively small (taken as below two thirds of the {room} that residual and buffer hold)",
    )
    together = np.concatenate(windows)
    half, all_of_it = (percent(float((together < bound).mean())) for bound in (room / 2, room))
    why = (
        f"Of {together.size} reductions {half} come at windows below half of that, and {all_of_it} "
        f"below all of it. Without background the window would have to exceed the bandwidth-delay "
        f"product, {setup.BDP_PACKETS} packets."
    )
    return Judgement((check,), why)


def _in_bursts(results: "PartResults") -> Judgement:
    checks = (
        above(
            "silence between two bursts, ms",
            _over_runs(results, lambda loss: 1e3 * float(np.median(loss.silences_s))),
            25,
            "stripes (taken as a quarter of a round trip)",
        ),
        below(
            "median gap within a burst, packet times of the link",
            _over_runs(results, lambda loss: float(np.median(loss.gaps))),
            3,
            "at link rate, with some randomness (taken as below 3)",
        ),
    )
    median = _over_runs(results, lambda loss: float(np.median(loss.lengths)))
    why = (
        f"Half of the bursts are longer than {median.mean if median else 0:.0f} packets. A gap is "
        "about two packet times, not one, because the flow shares the link with as many packets "
        "of the background, and its ACKs preserve these gaps."
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
    note=(
        "A burst ends with a gap of more than 10 ms. Squares are lost packets at their time of "
        "arrival; the paper draws them at the left edge."
    ),
)
