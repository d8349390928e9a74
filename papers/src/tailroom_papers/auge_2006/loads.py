"""Whether performance is satisfactory at loads of 80 and 90 %."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from tailroom.scenario.types import Queue
from tailroom_papers.auge_2006 import background, figure_1, picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.columns import STATED
from tailroom_papers.auge_2006.setup import fair, fifo
from tailroom_papers.framework import *

BUFFER = 100
"""The paper's compromise."""
LIMITED = {"home": 0.2, "office": 0.2}
"""Load of the flows that are limited elsewhere."""
LOADS = (50, 65, 80, 90)
JUDGED = (80, 90)
QUEUES: dict[str, Callable[[int], Queue]] = {"FIFO": fifo, "fair queueing": fair}
LOSS = f"links.{setup.LINK}.loss_fraction"


def studies(form: Form) -> Sequence[Study]:
    """The flows of Figure 1 at growing load of bottlenecked flows, a study per load."""
    loads = form.of(JUDGED[:1], (50, *JUDGED), LOADS)
    queues: list[Queue] = [queue(BUFFER) for queue in QUEUES.values()]
    studies = []
    for load in loads:
        shares = {**LIMITED, "campus": load / 100 - sum(LIMITED.values())}
        table = figure_1.scenario_of(shares, f"Flows at a load of {load} %")
        table["duration"] = form.of("60 s", "120 s", "400 s")
        table["measure_from"] = "0 s"
        grid = {background.QUEUE: queues}
        seeds = form.of(2, 4, 20)
        studies.append(Study(_name(load), table, grid=grid, seeds=seeds, keep=("flow_log",)))
    return studies


def _name(load: int) -> str:
    return f"load-{load}"


def _loads(results: PartResults) -> list[int]:
    return [load for load in LOADS if _name(load) in results.studies]


def _at(results: PartResults, load: int, queue: str) -> PointResults:
    return results.study(_name(load)).at({background.QUEUE: QUEUES[queue](BUFFER)})


def limited_part(run: StoredRun) -> float:
    """Rate that flows limited elsewhere achieve, as a part of their exogenous rate.

    It is the time in which their access links would send all their bytes over the time that they
    take, for all flows that begin after `SETTLED_S`.
    """
    log = _settled(run)
    ideal = actual = 0.0
    for kind in LIMITED:
        flows = log.filter(pc.field("group") == kind)
        rate_bps = 1e6 * figure_1.ACCESS_MBPS[kind]
        ideal += 8 * float(np.sum(flows["bytes"].to_numpy())) / rate_bps
        actual += float(np.sum(flows["completion_time_s"].to_numpy()))
    return ideal / actual


def bottlenecked_mbps(run: StoredRun) -> float:
    """Mean throughput of bottlenecked flows: all their bytes over all their times."""
    flows = _settled(run).filter(pc.field("group") == "campus")
    total = float(np.sum(flows["bytes"].to_numpy()))
    return 8e-6 * total / float(np.sum(flows["completion_time_s"].to_numpy()))


SETTLED_S = 20.0


def _settled(run: StoredRun) -> Any:
    return run.table("flow_log").filter(pc.field("start_s") >= SETTLED_S)


def draw(results: PartResults) -> Figure:
    """What flows of both kinds achieve, over the load."""
    title = "Flows that arrive and depart on 50 Mbit/s with 100 packets, by load"
    figure, (left, right) = picture.page(title, 3.5, columns=2)
    loads = _loads(results)
    lines = {queue: [_at(results, load, queue) for load in loads] for queue in QUEUES}
    for queue, points, look in styled(lines):
        draw_marks(left, loads, points, limited_part, look, label=queue, scale=100)
        draw_marks(right, loads, points, bottlenecked_mbps, look, label=queue)
    left.axhline(100 * BOUNDS["satisfactory"].value, label="75 %: reasonable", **style.LIMIT_LINE)
    free = figure_1.RATE_MBPS * (1 - np.array(loads) / 100)
    right.plot(loads, free, color="0.5", label="C (1 - load)")
    for panel in (left, right):
        panel.axvspan(*JUDGED, color=STATED["color"], alpha=0.12, label="the paper's 80 or 90 %")
        frame(panel, x="load (%)", ticks=loads)
    left.set(ylim=(0, 105), ylabel="flows limited elsewhere:\nrate achieved (% of their own)")
    right.set(ylim=(0, None), ylabel="bottlenecked flows:\nthroughput (Mbit/s)")
    return picture.finished(figure, 5)


def _satisfactory(results: PartResults) -> Judgement:
    loads = [load for load in JUDGED if load in _loads(results)]
    words, bound = "rate of flows limited elsewhere over their own", BOUNDS["satisfactory"]
    checks = tuple(
        _at(results, load, queue).above(f"load {load} %, {queue}: {words}", limited_part, bound)
        for load in loads
        for queue in QUEUES
    )

    def why() -> str:
        parts = "; ".join(
            f"at {load} % "
            + " and ".join(
                f"{_at(results, load, queue).mean(bottlenecked_mbps):.1f} Mbit/s ({queue})"
                for queue in QUEUES
            )
            for load in loads
        )
        return (
            f"Bottlenecked flows achieve {parts}. With few of them present, they fill the buffer "
            "by bursts and slow starts, and under FIFO the other flows lose packets, too; under "
            "fair queueing only those that exceed their share do."
        )

    return Judgement(checks, why)


PART = Part(
    name="loads",
    title="Loads of 80 and 90 %",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "satisfactory-loads",
            "In many networks this load is very small (less than 50 %, say) though our evaluation "
            "predicts performance would be satisfactory at higher levels (up to 80 or 90 %, say).",
            "Sec. III-A",
            _satisfactory,
        ),
    ),
    caption=(
        "Left: rate that flows behind access links of 1 and 4 Mbit/s achieve, as a part of that of "
        "their access link. Right: throughput of flows that only the link limits, and what "
        "processor sharing gives. Means with 95 % confidence intervals."
    ),
    note=(
        "The flows of Figure 1: 40 % of the load is of flows that are limited elsewhere, the rest "
        "of bottlenecked ones. The paper does not say what satisfactory means; it is read as a "
        "reasonable part, 75 %, of the exogenous rate for the flows that the link does not limit. "
        "Flows that have not ended are not counted."
    ),
)
