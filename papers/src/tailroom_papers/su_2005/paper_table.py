"""The paper's Table 1, and the distance of a measured table from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2, sqrt

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import measures


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    flows: tuple[float, float, float]
    """Utilization of F1, F2 and F3."""
    background: float
    """F4."""
    fairness: float
    loss: tuple[float, float]
    """Range of the background's loss rate."""


TABLE = {
    5: Row((0.2979, 0.1680, 0.1438), 0.2696, 0.90, (7e-5, 1e-4)),
    10: Row((0.3222, 0.2661, 0.1936), 0.1635, 0.96, (7e-5, 8e-4)),
    20: Row((0.4485, 0.2469, 0.1992), 0.0555, 0.88, (5e-4, 1e-3)),
}
"""By c."""


@dataclass(frozen=True)
class Column:
    """A column of the table, or what follows from several, for pictures."""

    label: str
    """Label of its axis."""
    metric: Metric
    """The measured number."""
    stated: Callable[[Row], float]
    """The paper's number."""
    scale: float = 100.0


def _of_flow(place: int) -> Column:
    label, metric = f"utilization of F{place + 1} (%)", measures.utilization_of(place)
    return Column(label, metric, lambda row: row.flows[place])


FIRST, SECOND, THIRD = map(_of_flow, range(3))
TOTAL = Column(
    "utilization of F1, F2 and F3 together (%)",
    measures.total_utilization,
    lambda row: sum(row.flows),
)
BACKGROUND = Column(
    "utilization of the background (%)", measures.background_utilization, lambda row: row.background
)
FAIRNESS = Column(
    "fairness index of F1 to F3", measures.fairness, lambda row: row.fairness, scale=1.0
)
UTILIZATION_STEP = 0.05
FAIRNESS_STEP = 0.05
LEAST_LOSS = 1e-7
"""Loss rate that counts as no loss: one packet in the whole run."""


def measured(runs: Sequence[StoredRun]) -> tuple[tuple[float, ...], float, float]:
    """Utilizations F1 to F4, fairness index and background loss, means over runs."""
    flows = [measures.mean_of(runs, measures.utilization_of(place)) for place in range(3)]
    background = measures.mean_of(runs, measures.background_utilization)
    fairness = measures.mean_of(runs, measures.fairness)
    loss = measures.mean_of(runs, measures.background_loss)
    return (*flows, background), fairness, loss


def deviations(row: Row, ours: tuple[tuple[float, ...], float, float]) -> list[float]:
    """How far each cell is: in 5 points of utilization, 0.05 of the index, factors 2 of loss.

    A loss rate inside the paper's range deviates by nothing.
    """
    used, fairness, loss = ours
    stated = (*row.flows, row.background)
    apart = [(a - b) / UTILIZATION_STEP for a, b in zip(used, stated, strict=True)]
    apart.append((fairness - row.fairness) / FAIRNESS_STEP)
    loss = max(loss, LEAST_LOSS)
    low, high = row.loss
    apart.append(log2(loss / high) if loss > high else min(0.0, log2(loss / low)))
    return apart


def distance(points: Mapping[int, PointResults]) -> Interval:
    """Root mean square of all cells' deviations, from the points of each c."""
    by_seed = [{run.seed: run for run in point.runs} for point in points.values()]
    seeds = sorted(set.intersection(*map(set, by_seed)))
    return jackknife(seeds, lambda some: _distance_of(points, set(some)))


def _distance_of(points: Mapping[int, PointResults], seeds: set[int]) -> float:
    cells = [
        apart
        for c, point in points.items()
        for apart in deviations(TABLE[c], measured([r for r in point.runs if r.seed in seeds]))
    ]
    return sqrt(sum(apart * apart for apart in cells) / len(cells))
