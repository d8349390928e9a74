"""Shares of flows over tens of seconds: even, or with changing leaders."""

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tailroom.reproduction.part_results import StoredRun
from tailroom_papers.auge_2006.residual import flow_names

STRETCH_S = 10.0
"""A hundred round trips: longer than a window takes from one reduction to the next."""


@dataclass(frozen=True)
class Ascendancy:
    """Of flows, from the mean of a quantity of each over stretches of 10 s."""

    jain: float
    """Jain's index in a stretch, mean over the stretches; 1 where all are always equal."""
    largest_over_smallest: float
    """Of the flows' means in a stretch, mean over the stretches."""
    leader_keeps: float
    """Fraction of the stretches after which the largest flow remains the largest."""
    leaders: int
    """Flows that are the largest in some stretch."""


def ascendancy(run: StoredRun, column: str = "cwnd_packets") -> Ascendancy:
    """Of all flows of a run that keeps their series, in the measured window."""
    return of_means(means(run, column))


def means(run: StoredRun, column: str) -> NDArray[np.float64]:
    """Mean of a column of the series, a row for each flow, a column for each stretch."""
    series = run.table("flow_series")
    rows = []
    for flow in flow_names(run):
        of_flow = series.filter(pc.field("flow") == flow)
        time_s = of_flow["time_s"].to_numpy() - run.summary["measured_from_s"]
        stretch = np.floor(time_s / STRETCH_S).astype(int)
        values = of_flow[column].to_numpy()
        # The last sample begins an incomplete stretch.
        rows.append([values[stretch == number].mean() for number in range(stretch[-1])])
    return np.asarray(rows)


def of_means(flows: NDArray[np.float64]) -> Ascendancy:
    """From a row for each flow and a column for each stretch."""
    indices = flows.sum(axis=0) ** 2 / (len(flows) * (flows**2).sum(axis=0))
    leader = flows.argmax(axis=0)
    return Ascendancy(
        jain=float(indices.mean()),
        largest_over_smallest=float((flows.max(axis=0) / flows.min(axis=0)).mean()),
        leader_keeps=float((leader[1:] == leader[:-1]).mean()),
        leaders=len(np.unique(leader)),
    )
