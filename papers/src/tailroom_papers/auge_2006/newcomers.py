"""Flows that arrive alongside an existing flow, under FIFO and fair queueing."""

from collections.abc import Sequence
from statistics import mean

from tailroom.scenario.types import Duration, Flows, Scenario
from tailroom_papers.auge_2006 import columns, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.comparison import considerably_less
from tailroom_papers.auge_2006.residual import at_link, background_drops, goodput_of, timeouts
from tailroom_papers.auge_2006.setup import BDP_PACKETS, QUEUES, over, settings
from tailroom_papers.framework import *

EXISTING, NEWCOMERS = "reno", "newcomers"
FAIR = "fair queueing"
WITH, WITHOUT = "with arrivals", "without arrivals"
SHORT = {"FIFO": "FIFO", FAIR: "fair"}
"""Names of the queues above narrow columns."""
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
    last_s = form.of(80, 190, 540)
    flow = setup.bulk(EXISTING)
    del flow["start"], flow["count"]
    arrivals: list[Duration] = [f"{time_s} s" for time_s in range(FIRST_S, last_s + 1, APART_S)]
    flow["source"] = {"kind": "finite_flows", "size": f"{SIZE_MB:g} MB", "arrivals": arrivals}
    return flow


def draw(results: PartResults) -> Figure:
    """Response of the permanent flow to each arrival."""
    return columns.draw(
        f"One NewReno flow while another of {SIZE_MB:g} MB arrives every {APART_S} s "
        "(vertical lines)",
        [
            columns.Column(
                f"{SHORT[words]}, {buffer} packets",
                _at(results, words, buffer),
                arrivals_s=range(FIRST_S, FIRST_S + 50, APART_S),
                shown_s=60,
            )
            for buffer in _buffers(results.form)
            for words in QUEUES
        ],
    )


def _at(results: PartResults, words: str, buffer: int, study: str = WITH) -> PointResults:
    return results.study(study).at(settings(QUEUES[words](buffer)))


def _attenuates(results: PartResults) -> Judgement:
    checks = []
    for buffer in _buffers(results.form):
        with_fair, with_fifo = _at(results, FAIR, buffer), _at(results, "FIFO", buffer)
        for lost, metric in LOST.items():
            what = f"{lost} per arrival, over that under FIFO, {buffer} packets"
            words = "considerably attenuates"
            checks.append(considerably_less(what, with_fair, with_fifo, metric, words))
        what = f"goodput that the existing flow forgoes, over that under FIFO, {buffer} packets"
        words = f"considerably attenuates (ratio below {BOUNDS['considerably'].value:g})"
        ratio = _forgone_ratio(results, buffer)
        checks.append(below(what, ratio, BOUNDS["considerably"], words))
    return Judgement(tuple(checks), lambda: _why(results))


def _why(results: PartResults) -> str:
    fair, fifo = (_at(results, words, BDP_PACKETS) for words in (FAIR, "FIFO"))
    return (
        f"With {BDP_PACKETS} packets of buffer the existing flow loses "
        f"{fair.mean(lost_per_arrival):.1f} packets per arrival under fair queueing and "
        f"{fifo.mean(lost_per_arrival):.1f} under FIFO, with {fair.mean(timeouts):.1f} and "
        f"{fifo.mean(timeouts):.1f} timeouts per run. Under fair queueing its share halves at "
        "once, and its queue is the longest until it reacts; under FIFO the packet pairs of slow "
        f"start arrive at a full buffer. The newcomer loses {fair.mean(newcomers_per_arrival):.0f} "
        f"and {fifo.mean(newcomers_per_arrival):.0f} packets."
    )


def _forgone_ratio(results: PartResults, buffer: int) -> Interval:
    """Goodput forgone under fair queueing over that under FIFO, by the jackknife over seeds."""
    columns_of = [
        _at(results, words, buffer, study).values(_goodput)
        for words in (FAIR, "FIFO")
        for study in (WITHOUT, WITH)
    ]
    runs = list(zip(*columns_of, strict=True))
    return jackknife(runs, _ratio_of_forgone)


def _ratio_of_forgone(runs: Sequence[tuple[float, ...]]) -> float:
    before_fair, with_fair, before_fifo, with_fifo = map(mean, zip(*runs, strict=True))
    return float((before_fair - with_fair) / (before_fifo - with_fifo))


def _goodput(run: StoredRun) -> float:
    return goodput_of(run, EXISTING)


def _arrivals(run: StoredRun) -> float:
    return float(run.summary["groups"][NEWCOMERS]["flows"])


def background_per_arrival(run: StoredRun) -> float:
    """Packets of the background that are dropped, per arrival."""
    return background_drops(run) / _arrivals(run)


def lost_per_arrival(run: StoredRun) -> float:
    """Packets of the existing flow that are dropped, per arrival."""
    return float(at_link(run, EXISTING)["drops_packets"]) / _arrivals(run)


def newcomers_per_arrival(run: StoredRun) -> float:
    """Packets of the newcomer that are dropped, per arrival."""
    return float(at_link(run, NEWCOMERS)["drops_packets"]) / _arrivals(run)


LOST = {
    "packets of the background lost": background_per_arrival,
    "packets of the existing flow lost": lost_per_arrival,
}


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
    caption=columns.CAPTION.format(what="Columns: queue and buffer; vertical lines: arrivals."),
    note=(
        "The paper has no figure of this. Next to a NewReno flow and the background, a NewReno "
        "flow of 3 MB arrives every 10 s, and slow start takes it beyond the capacity of "
        "residual and buffer. Losses are those of a whole run, divided by the number of arrivals; "
        "the existing flow forgoes its goodput without arrivals less that with arrivals."
    ),
)
