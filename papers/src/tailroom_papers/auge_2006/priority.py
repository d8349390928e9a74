"""Footnote 1: priority for flows that do not wait lowers their latency still further."""

from collections.abc import Callable, Sequence

from tailroom.scenario.types import FairQueue, Queue
from tailroom_papers.auge_2006 import background, picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.residual import at_link, background_delay_ms
from tailroom_papers.auge_2006.setup import BDP_PACKETS, fair, fifo
from tailroom_papers.framework import *

CASES = {
    "1 NewReno, 20 packets": ({"reno": 1}, 20),
    "1 HighSpeed, 1 NewReno, 625 packets": ({"highspeed": 1, "reno": 1}, BDP_PACKETS),
    "4 HighSpeed, 625 packets": ({"highspeed": 4}, BDP_PACKETS),
}


def priority(buffer: int) -> FairQueue:
    """Fair queueing that sends packets of flows that do not wait first."""
    return {**fair(buffer), "scheduler": "priority_fair"}


FAIR, PRIORITY = "fair queueing", "fair queueing with priority"
QUEUES: dict[str, Callable[[int], Queue]] = {"FIFO": fifo, FAIR: fair, PRIORITY: priority}


def studies(form: Form) -> Sequence[Study]:
    """The three cases of Figure 7 under each queue."""
    return [_study(name, flows, buffer, form) for name, (flows, buffer) in CASES.items()]


def _study(name: str, flows: setup.Flows, buffer: int, form: Form) -> Study:
    queues: list[Queue] = [queue(buffer) for queue in QUEUES.values()]
    table = setup.scenario(flows, queues[0], form)
    return Study(name, table, grid={background.QUEUE: queues}, seeds=setup.seeds(form))


def _at(results: PartResults, case: str, queue: str) -> PointResults:
    return results.study(case).at({background.QUEUE: QUEUES[queue](CASES[case][1])})


def draw(results: PartResults) -> Figure:
    """The background's delay by case and queue."""
    title = "Queueing delay of the background"
    figure, panels = picture.page(title, 3.4, columns=len(MEASURES), sharey=True)
    lines = {queue: [_at(results, case, queue) for case in CASES] for queue in QUEUES}
    names = [case.replace(", ", ",\n") for case in CASES]
    for panel, (words, metric) in zip(panels, MEASURES.items(), strict=True):
        draw_categories(panel, lines, metric, names)
        bound = BOUNDS["very-low-latency"].value
        panel.axhline(bound, label="1 ms: very low", **style.LIMIT_LINE)
        frame(panel, title=words, log="y", grid="y")
    panels[0].set_ylabel("delay (ms)")
    return picture.finished(figure, 4)


def mean_delay_ms(run: StoredRun) -> float:
    """Mean queueing delay of background packets, in ms."""
    return 1e3 * float(at_link(run, setup.BACKGROUND)["queue_delay_s_mean"])


MEASURES: dict[str, Metric] = {"mean delay": mean_delay_ms, "p99 delay": background_delay_ms}


def _of(results: PartResults, case: str, queue: str, metric: Metric) -> str:
    return f"{_at(results, case, queue).mean(metric):.2f}"


def _still_further(results: PartResults) -> Judgement:
    checks = []
    for words, metric in MEASURES.items():
        for case in CASES:
            what = f"{words} of the background with priority less that without, ms ({case})"
            first, fair = (_at(results, case, queue) for queue in (PRIORITY, FAIR))
            checks.append(less(what, first, fair, metric, "reduced still further"))

    def why() -> str:
        parts = "; ".join(
            f"{case}: mean {_of(results, case, FAIR, mean_delay_ms)} and "
            f"{_of(results, case, PRIORITY, mean_delay_ms)} ms, p99 "
            f"{_of(results, case, FAIR, background_delay_ms)} and "
            f"{_of(results, case, PRIORITY, background_delay_ms)} ms"
            for case in CASES
        )
        return (
            f"Without and with priority, {parts}. Start-time fair queueing already serves a packet "
            "of a flow that does not wait before those of flows that are ahead. With priority, "
            "only the first packet of a flow that becomes active has it; a packet that follows "
            "closely on another of its stream waits for all packets with priority, which is a "
            "likely reason for a difference between mean and 99th percentile."
        )

    return Judgement(tuple(checks), why)


PART = Part(
    name="priority",
    title="Priority for flows that do not wait",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "priority",
            "The latency of non-bottlenecked flows can be reduced still further using the "
            "priority mechanisms described in [5], [21].",
            "Sec. V-B, footnote 1",
            _still_further,
        ),
    ),
    caption=(
        "Mean (left) and 99th percentile (right) of the queueing delay of background packets for "
        "the three cases of Figure 7, by queue; means with 95 % confidence intervals. The dashed "
        "line is the bound of very low latency."
    ),
    note=(
        "Priority fair queueing (Kortebi, Oueslati, Roberts 2004, the paper's [21]) gives priority "
        "to a packet whose flow has none waiting and is not ahead of its share. It is the "
        "scheduler priority_fair of tailroom's fair queue. Latency is judged by its mean and by "
        "its 99th percentile."
    ),
)
