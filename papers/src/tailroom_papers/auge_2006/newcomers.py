"""Flows that arrive beside an existing flow, under FIFO and fair queueing."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tailroom.reproduction.claim import Check, Claim, Judgement, below, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.scenario.types import Flows, Scenario
from tailroom.statistics.intervals import Interval
from tailroom_papers.auge_2006 import columns, setup
from tailroom_papers.auge_2006.comparison import less
from tailroom_papers.auge_2006.residual import at_link, background_drops, goodput_of, timeouts
from tailroom_papers.auge_2006.setup import BDP_PACKETS, QUEUES, over, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun

EXISTING, NEWCOMERS = "reno", "newcomers"
WITH, WITHOUT = "with arrivals", "without arrivals"
SIZE_MB = 3.0
"""Enough for slow start to fill residual and buffer, and overshoot."""
FIRST_S, APART_S = 60, 10
BUFFERS = (100, BDP_PACKETS)


def studies(form: Form) -> Sequence[Study]:
    """One flow that lasts, with others that arrive and depart, and without."""
    queues = [queue(buffer) for buffer in _buffers(form) for queue in QUEUES.values()]
    table = setup.scenario({EXISTING: 1}, queues[0], form)
    crowded: Scenario = {**table, "flows": {**table["flows"], NEWCOMERS: _newcomers(form)}}
    axis = over(queues)
    return [
        Study(WITH, crowded, grid=axis, seeds=setup.seeds(form), keep=setup.SERIES),
        Study(WITHOUT, table, grid=axis, seeds=setup.seeds(form)),
    ]


def _buffers(form: Form) -> Sequence[int]:
    return form.of(BUFFERS[1:], BUFFERS, BUFFERS)


def _newcomers(form: Form) -> Flows:
    last_s = form.of(100, 190, 540)
    flow = setup.bulk(EXISTING)
    del flow["start"], flow["count"]
    arrivals = [f"{time_s} s" for time_s in range(FIRST_S, last_s + 1, APART_S)]
    flow["source"] = {"kind": "finite_flows", "size": f"{SIZE_MB:g} MB", "arrivals": arrivals}
    return flow


def draw(results: "PartResults") -> "Figure":
    """Response of the permanent flow to each arrival."""
    return columns.draw(
        f"One NewReno flow while another of {SIZE_MB:g} MB arrives every {APART_S} s "
        "(vertical lines)",
        [
            columns.Column(
                f"{words}, {buffer} packets",
                _at(results, words, buffer),
                arrivals_s=range(FIRST_S, FIRST_S + 50, APART_S),
                shown_s=60,
            )
            for buffer in _buffers(results.form)
            for words in QUEUES
        ],
    )


def _at(results: "PartResults", words: str, buffer: int, study: str = WITH) -> "PointResults":
    return results.study(study).at(settings(QUEUES[words](buffer)))


def _attenuates(results: "PartResults") -> Judgement:
    checks = []
    for buffer in _buffers(results.form):
        checks += [
            _half(results, buffer, "packets of the background lost", _background_per_arrival),
            _half(results, buffer, "packets of the existing flow lost", _lost_per_arrival),
            _less_given_up(results, buffer),
        ]
    large = {words: _at(results, words, BDP_PACKETS) for words in QUEUES}
    why = (
        f"With {BDP_PACKETS} packets of buffer the existing flow loses "
        f"{large['fair queueing'].mean(_lost_per_arrival):.1f} packets per arrival under fair "
        f"queueing and {large['FIFO'].mean(_lost_per_arrival):.1f} under FIFO, with "
        f"{large['fair queueing'].mean(timeouts):.1f} and {large['FIFO'].mean(timeouts):.1f} "
        "timeouts per run. Under fair queueing its share falls by half at once, and its queue is "
        "the longest until it reacts; under FIFO the packet pairs of slow start arrive at a full "
        f"buffer. The newcomer loses {large['fair queueing'].mean(_newcomers_per_arrival):.0f} "
        f"and {large['FIFO'].mean(_newcomers_per_arrival):.0f}."
    )
    return Judgement(tuple(checks), why)


def _half(
    results: "PartResults", buffer: int, what: str, metric: "Callable[[StoredRun], float]"
) -> Check:
    """Fair queueing beside FIFO, a number for each arrival."""
    under_fifo = _at(results, "FIFO", buffer).interval(metric)
    what = f"{what} for an arrival, {buffer} packets of buffer"
    stated = f"considerably less than under FIFO (half of {shown(under_fifo)})"
    under_fair = _at(results, "fair queueing", buffer).interval(metric)
    if not under_fifo or not under_fifo.mean:
        # There is no effect to attenuate.
        return Check(what, stated, under_fair, None)
    return below(what, under_fair, 0.5 * under_fifo.mean, stated)


def _less_given_up(results: "PartResults", buffer: int) -> Check:
    def forgone(words: str) -> Interval | None:
        before_bps = _at(results, words, buffer, WITHOUT).mean(_goodput)
        return _at(results, words, buffer).interval(lambda run: _forgone_mb(run, before_bps))

    return less(
        f"MB that the existing flow forgoes for an arrival of {SIZE_MB:g} MB, {buffer} packets",
        forgone("fair queueing"),
        forgone("FIFO"),
        "less than under FIFO",
    )


def _goodput(run: "StoredRun") -> float:
    return goodput_of(run, EXISTING)


def _forgone_mb(run: "StoredRun", before_bps: float) -> float:
    span_s = run.summary["measured_to_s"] - run.summary["measured_from_s"]
    return float((before_bps - _goodput(run)) * span_s / 8e6 / _arrivals(run))


def _arrivals(run: "StoredRun") -> float:
    return float(run.summary["groups"][NEWCOMERS]["flows"])


def _background_per_arrival(run: "StoredRun") -> float:
    return background_drops(run) / _arrivals(run)


def _lost_per_arrival(run: "StoredRun") -> float:
    return float(at_link(run, EXISTING)["drops_packets"]) / _arrivals(run)


def _newcomers_per_arrival(run: "StoredRun") -> float:
    return float(at_link(run, NEWCOMERS)["drops_packets"]) / _arrivals(run)


PART = Part(
    name="arrivals",
    title="What flows in slow start do to those that are there already",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "slow-start-arrivals",
            "Fair queuing considerably attenuates the impact on existing flows of newly arriving "
            "flows whose aggressive slow-start behaviour can otherwise lead to quite severe loss "
            "events.",
            "Sec. V-B",
            _attenuates,
        ),
    ),
    note=(
        "The paper has no figure of this. Beside a NewReno flow and the background, a NewReno "
        "flow of 3 MB arrives every 10 s, and slow start takes it beyond the capacity of "
        "residual and buffer. Losses are those of a whole run divided by the number of arrivals; "
        "the existing flow forgoes its goodput without arrivals less its goodput with arrivals."
    ),
)
