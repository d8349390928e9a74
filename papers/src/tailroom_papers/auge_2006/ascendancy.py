"""Which flow has the largest window, by how much, and for how long.

The paper's words are "one flow after the other gains a temporary ascendancy", "and preserves its
relative advantage until it is eventually superseded". A window that grows and halves is sometimes
large and sometimes small without any ascendancy. The windows are therefore averaged over stretches
of one congestion cycle, the mean time between two reductions of a flow: an advantage in such a
stretch has outlasted a cycle.
"""

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tailroom_papers.auge_2006.residual import flow_names, seconds_between_reductions
from tailroom_papers.auge_2006.series import flow_series
from tailroom_papers.framework import *

Means = NDArray[np.float64]
"""Mean windows: a row per flow, a column per stretch."""


def advantage(run: StoredRun, cycles: float = 1.0) -> float | None:
    """Largest over smallest of the flows' mean windows in a stretch, mean over the stretches.

    Args:
        run: A run that keeps its `flow_series`.
        cycles: Length of a stretch, in congestion cycles.
    """
    windows = of_cycles(run, cycles)
    return None if windows is None else largest_over_smallest(windows)


def excess_advantage(run: StoredRun) -> float | None:
    """The same less 1: 0 if all windows are equal in every congestion cycle."""
    found = advantage(run)
    return None if found is None else found - 1


def duration(run: StoredRun) -> float | None:
    """Mean time for which the same flow has the largest window, in congestion cycles."""
    windows = of_cycles(run, 1.0)
    return None if windows is None else cycles_ahead(windows)


def leaders(run: StoredRun) -> float | None:
    """Number of flows that have the largest window in some congestion cycle."""
    windows = of_cycles(run, 1.0)
    return None if windows is None else float(len(np.unique(windows.argmax(axis=0))))


def of_cycles(run: StoredRun, cycles: float) -> Means | None:
    """Mean windows in stretches of some congestion cycles; `None` if the run is too short."""
    cycle_s = seconds_between_reductions(run)
    if cycle_s is None:
        return None
    windows, interval_s = series(run)
    length = max(1, round(cycles * cycle_s / interval_s))
    whole = windows.shape[1] // length
    if whole < 2:
        return None
    cut = windows[:, : whole * length]
    means: Means = cut.reshape(len(windows), whole, length).mean(axis=2)
    return means


def series(run: StoredRun) -> tuple[Means, float]:
    """Windows in the measured time, a row per flow and a column per sample, and the interval."""
    table = flow_series(run)
    table = table.filter(pc.field("time_s") > run.summary["measured_from_s"])
    flows = [table.filter(pc.field("flow") == name) for name in flow_names(run)]
    times = flows[0]["time_s"].to_numpy()
    windows = np.array([flow["cwnd_packets"].to_numpy() for flow in flows])
    return windows, float(times[1] - times[0])


def largest_over_smallest(windows: Means) -> float:
    """Mean over the stretches of the largest window over the smallest."""
    return float((windows.max(axis=0) / windows.min(axis=0)).mean())


def cycles_ahead(windows: Means) -> float:
    """Mean number of consecutive stretches in which the same flow has the largest window."""
    leader = windows.argmax(axis=0)
    changes = int((leader[1:] != leader[:-1]).sum())
    return float(leader.size / (changes + 1))
