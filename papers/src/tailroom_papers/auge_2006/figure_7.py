"""Figure 7: NewReno alone, HighSpeed TCP against it, and four HighSpeed, under fair queueing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tailroom.reproduction.claim import Check, Claim, Judgement, above, below, between, is_true
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom_papers.auge_2006 import columns, setup
from tailroom_papers.auge_2006.ascendancy import ascendancy
from tailroom_papers.auge_2006.comparison import percent
from tailroom_papers.auge_2006.figure_6 import reno_over_highspeed
from tailroom_papers.auge_2006.residual import background_delay_ms, background_drops, residual_share
from tailroom_papers.auge_2006.setup import BDP_PACKETS, LINK, RATE_BPS, fair, fifo, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun

ALONE = "1 NewReno"
AGAINST = "1 HighSpeed, 1 NewReno"
FOUR = "4 HighSpeed"
BUFFERS = {ALONE: 20, AGAINST: BDP_PACKETS, FOUR: BDP_PACKETS}
PACKET_MS = 8e3 * setup.PACKET_BYTES / RATE_BPS


def studies(form: Form) -> Sequence[Study]:
    """Each column of the figure, and the same under FIFO."""
    flows = {ALONE: {"reno": 1}, AGAINST: {"highspeed": 1, "reno": 1}, FOUR: {"highspeed": 4}}
    return [
        setup.study(name, flows[name], [fair(buffer), fifo(buffer)], form)
        for name, buffer in BUFFERS.items()
    ]


def draw(results: "PartResults") -> "Figure":
    """As the paper has it."""
    ns2 = {ALONE: "S6 20 newreno drr", AGAINST: "S6 625 hstcp+newreno drr"}
    return columns.draw(
        "Figure 7: flows beside a background of 25 of 50 Mbit/s, fair queueing",
        [
            columns.Column(f"{name}, {buffer} packets", _fair(results, name), ns2.get(name, ""))
            for name, buffer in BUFFERS.items()
        ],
    )


def _fair(results: "PartResults", name: str) -> "PointResults":
    return results.study(name).at(settings(fair(BUFFERS[name])))


def _fifo(results: "PartResults", name: str) -> "PointResults":
    return results.study(name).at(settings(fifo(BUFFERS[name])))


def _barely_alleviates(results: "PartResults") -> Judgement:
    with_fair, with_fifo = _fair(results, ALONE), _fifo(results, ALONE)
    before = with_fifo.mean(residual_share)
    check = between(
        "share of the residual, fair queueing",
        with_fair.interval(residual_share),
        before - 0.1,
        before + 0.1,
        f"barely better than FIFO's {percent(before, 1)} (within 10 points)",
        percent=True,
    )
    why = (
        f"With 20 packets of buffer {percent(with_fair.mean('utilization'), 1)} of the link is "
        f"used under fair queueing, {percent(with_fifo.mean('utilization'), 1)} under FIFO. The "
        "longest queue is nearly always that of the flow, so the flow has the losses that the "
        f"background would have had ({with_fifo.mean(background_drops):.0f} packets per run under "
        "FIFO)."
    )
    return Judgement((check,), why)


def _reno_competes(results: "PartResults") -> Judgement:
    with_fair, with_fifo = _fair(results, AGAINST), _fifo(results, AGAINST)
    ratio, before = with_fair.interval(reno_over_highspeed), with_fifo.mean(reno_over_highspeed)
    checks = (
        above(
            "NewReno's goodput over HighSpeed's",
            ratio,
            0.9,
            f"bias considerably reduced (under FIFO {before:.2f}; taken as above 0.9)",
        ),
        below("the same ratio", ratio, 1.0, "HighSpeed gains slightly more (below 1)"),
    )
    why = (
        f"Both get their share whenever both have packets waiting; HighSpeed gains only where "
        f"NewReno's queue runs dry after a loss. Utilization is "
        f"{percent(with_fair.mean('utilization'), 2)}."
    )
    return Judgement(checks, why)


def _no_chaos(results: "PartResults") -> Judgement:
    with_fair, with_fifo = _fair(results, FOUR), _fifo(results, FOUR)
    uneven = with_fair.interval(lambda run: ascendancy(run).largest_over_smallest)
    jain = with_fair.interval(lambda run: ascendancy(run, "goodput_bps").jain)
    before = with_fifo.mean(lambda run: ascendancy(run).largest_over_smallest)
    checks = (
        below(
            "largest over smallest of the four windows, means of 10 s",
            uneven,
            1.25,
            f"counters the chaos (under FIFO {before:.2f}; taken as below 1.25)",
        ),
        above("Jain's index of the goodputs over 10 s", jain, 0.99, "even (above 0.99)"),
    )
    why = (
        "Each flow is served at the same rate, and the flow with the longest queue, which has "
        "the largest window, loses packets. Jain's index of the goodputs over 10 s is "
        f"{jain.mean if jain else float('nan'):.4f}, under FIFO "
        f"{with_fifo.mean(lambda run: ascendancy(run, 'goodput_bps').jain):.4f}."
    )
    return Judgement(checks, why)


def _background_untouched(results: "PartResults") -> Judgement:
    checks = [_lossless(name, _fair(results, name)) for name in BUFFERS]
    checks += [
        below(
            f"p99 delay of the background, ms ({name}, {BUFFERS[name]} packets)",
            _fair(results, name).interval(background_delay_ms),
            0.1 * _fifo(results, name).mean(background_delay_ms),
            f"very low (a tenth of FIFO's {_fifo(results, name).mean(background_delay_ms):.1f} ms)",
        )
        for name in (AGAINST, FOUR)
    ]
    delays = ", ".join(
        f"{_fair(results, name).mean(background_delay_ms):.2f} ms ({name})" for name in BUFFERS
    )
    active = _fair(results, FOUR).mean(_active)
    why = (
        "A stream of 1 Mbit/s rarely has two packets waiting, so its queue is never the longest; "
        f"its packet waits for a few other packets of {PACKET_MS:.2f} ms each: p99 {delays}. The "
        f"scheduler keeps state for {active:.0f} flows on average."
    )
    return Judgement(tuple(checks), why)


def _lossless(name: str, point: "PointResults") -> Check:
    dropped = [background_drops(run) for run in point.runs]
    return is_true(
        f"drops of the background ({name}, {BUFFERS[name]} packets)",
        "0 in every run",
        not any(dropped),
        sum(dropped),
    )


def _active(run: "StoredRun") -> float:
    return float(run.summary["links"][LINK]["discipline_state"]["active_flows_mean"])


PART = Part(
    name="7",
    title="NewReno alone (20 packets), HighSpeed against it, four HighSpeed (625 packets), fair",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "barely-alleviates",
            "Fair queuing barely alleviates the loss in performance due to a very small buffer.",
            "Sec. V-B, Figure 7 left",
            _barely_alleviates,
        ),
        Claim(
            "reno-competes",
            "Fair queuing considerably reduces the bias in favour of HSTCP; the HSTCP flow gains "
            "slightly more throughput than the Reno flow.",
            "Sec. V-B, Figure 7 middle",
            _reno_competes,
        ),
        Claim(
            "no-chaos",
            "Fair queuing effectively counters the chaotic behaviour of four HSTCP flows.",
            "Sec. V-B, Figure 7 right",
            _no_chaos,
        ),
        Claim(
            "background-lossless",
            "Non-bottlenecked flows remain loss free. Their packets also have very low latency.",
            "Sec. V-B",
            _background_untouched,
        ),
    ),
    note=(
        "The paper names no algorithm: this is start-time fair queueing, which drops from the "
        "front of the longest queue; ns-2's points are deficit round robin with the same drops. "
        "The left column shows NewReno instead of the HighSpeed of Figure 6, and is compared "
        "with NewReno under FIFO (Figure 3, left)."
    ),
)
