"""Figure 7: NewReno alone, HighSpeed TCP against it, and four HighSpeed, under fair queueing."""

from collections.abc import Sequence

from tailroom_papers.auge_2006 import columns, other_values, setup
from tailroom_papers.auge_2006.ascendancy import excess_advantage
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.comparison import considerably_less, percent
from tailroom_papers.auge_2006.figure_6 import reno_over_highspeed
from tailroom_papers.auge_2006.residual import background_delay_ms, background_drops, residual_share
from tailroom_papers.auge_2006.setup import BDP_PACKETS, LINK, RATE_BPS, fair, fifo, settings
from tailroom_papers.framework import *

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


def draw(results: PartResults) -> Figure:
    """As the paper has it."""
    ns2 = {ALONE: "S6 20 newreno drr", AGAINST: "S6 625 hstcp+newreno drr"}
    return columns.draw(
        "Figure 7: flows next to a background of 25 of 50 Mbit/s, fair queueing",
        [
            columns.Column(f"{name}, {buffer} packets", _fair(results, name), ns2.get(name, ""))
            for name, buffer in BUFFERS.items()
        ],
    )


def against(results: PartResults) -> tuple[PointResults, PointResults]:
    """Returns the points with a HighSpeed and a NewReno flow, under FIFO and fair queueing."""
    return _fifo(results, AGAINST), _fair(results, AGAINST)


def _fair(results: PartResults, name: str) -> PointResults:
    return results.study(name).at(settings(fair(BUFFERS[name])))


def _fifo(results: PartResults, name: str) -> PointResults:
    return results.study(name).at(settings(fifo(BUFFERS[name])))


def _barely_alleviates(results: PartResults) -> Judgement:
    with_fair, with_fifo = _fair(results, ALONE), _fifo(results, ALONE)
    gain = paired_difference(with_fair, with_fifo, "utilization")
    what = "utilization under fair queueing less that under FIFO"
    check = below(what, gain, BOUNDS["barely"])
    return Judgement(
        (check,),
        lambda: (
            f"With 20 packets the flow takes {percent(with_fair.mean(residual_share), 1)} of the "
            f"residual under fair queueing, {percent(with_fifo.mean(residual_share), 1)} under "
            "FIFO. The longest queue is nearly always that of the flow, so the flow has the "
            "losses that the background would have had "
            f"({with_fifo.mean(background_drops):.0f} packets per run under FIFO)."
        ),
    )


def bias(run: StoredRun) -> float:
    """What NewReno's goodput lacks of HighSpeed's: 0 if equal, 1 if NewReno gets nothing."""
    return 1 - reno_over_highspeed(run)


def gain(run: StoredRun) -> float:
    """HighSpeed's goodput over NewReno's, less 1."""
    return 1 / reno_over_highspeed(run) - 1


def _reno_competes(results: PartResults) -> Judgement:
    with_fair, with_fifo = _fair(results, AGAINST), _fifo(results, AGAINST)
    what = "bias in favour of HighSpeed under fair queueing over that under FIFO"
    checks = (
        considerably_less(what, with_fair, with_fifo, bias, "considerably reduced"),
        with_fair.above("what HighSpeed gets more than NewReno", gain, 0.0, "more"),
        with_fair.below(
            "what HighSpeed gets more than NewReno, as a fraction", gain, BOUNDS["slightly"]
        ),
    )
    return Judgement(
        checks,
        lambda: (
            "Both get their share whenever both have packets waiting. HighSpeed gains only where "
            "NewReno's queue runs empty after a loss. Utilization is "
            f"{percent(with_fair.mean('utilization'), 2)}."
        ),
    )


def _no_chaos(results: PartResults) -> Judgement:
    with_fair, with_fifo = _fair(results, FOUR), _fifo(results, FOUR)
    what = "excess of the largest window over the smallest, over that under FIFO"
    words = "effectively counters"
    check = considerably_less(what, with_fair, with_fifo, excess_advantage, words)
    return Judgement(
        (check,),
        lambda: (
            "Each flow is served at the same rate, and the flow with the longest queue, which has "
            "the largest window, loses packets. The largest window, averaged over a congestion "
            f"cycle, is {1 + with_fair.mean(excess_advantage):.2f} times the smallest under fair "
            f"queueing, {1 + with_fifo.mean(excess_advantage):.2f} times under FIFO."
        ),
    )


def _background_untouched(results: PartResults) -> Judgement:
    measures: tuple[tuple[str, Metric, NamedBound], ...] = (
        ("drops of the background", background_drops, BOUNDS["loss-free"]),
        ("p99 delay of the background, ms", background_delay_ms, BOUNDS["very-low-latency"]),
    )
    checks = tuple(
        _fair(results, name).below(f"{what} ({name}, {buffer} packets)", metric, bound)
        for what, metric, bound in measures
        for name, buffer in BUFFERS.items()
    )

    def why() -> str:
        delays = ", ".join(
            f"{_fair(results, name).mean(background_delay_ms):.2f} and "
            f"{_fifo(results, name).mean(background_delay_ms):.1f} ms ({name})"
            for name in BUFFERS
        )
        return (
            "A stream of 1 Mbit/s rarely has two packets waiting, so its queue is never the "
            "longest. Its packet waits for a few other packets of "
            f"{PACKET_MS:.2f} ms each: p99 under fair queueing and under FIFO {delays}. The "
            "scheduler keeps state for "
            f"{_fair(results, FOUR).mean(_active):.0f} flows on average."
        )

    return Judgement(checks, why)


def _active(run: StoredRun) -> float:
    return float(run.summary["links"][LINK]["discipline_state"]["active_flows_mean"])


def variations(form: Form) -> Sequence[Variation]:
    """The same studies with other values of what the paper leaves open."""
    claims = ("barely-alleviates", "reno-competes", "no-chaos", "background-lossless")
    return other_values.variations(studies(form), claims, form)


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
    variations=variations,
    caption=columns.CAPTION.format(
        what="Columns: one NewReno flow with 20 packets; a HighSpeed and a NewReno flow, and four "
        "HighSpeed flows, with 625 packets."
    ),
    note=(
        "The paper names no algorithm: this is start-time fair queueing, which drops from the "
        "front of the longest queue; ns-2's points are deficit round robin with the same drops. "
        "The left column shows NewReno instead of the HighSpeed of Figure 6, and is compared "
        "with NewReno under FIFO (Figure 3, left)."
    ),
)
