"""The fairness index over time, from the goodputs of the three flows."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tailroom_papers.framework import *
from tailroom_papers.su_2005.measures import FAIR, flows_of

INTERVAL_S = 1.0
"""Of the series that the scenario records."""

Floats = NDArray[np.float64]


def goodputs(run: StoredRun) -> tuple[Floats, Floats]:
    """Times in seconds at which intervals end, and what each of the flows got in each (bit/s)."""
    table = run.table("flow_series")
    names = np.array(table["flow"].cast("string").to_pylist())
    rates = table["goodput_bps"].to_numpy(zero_copy_only=False)
    times = table["time_s"].to_numpy(zero_copy_only=False)
    flows = [names == flow["name"] for flow in flows_of(run, FAIR)]
    return times[flows[0]], np.array([np.nan_to_num(rates[mine]) for mine in flows])


def jain(amounts: Floats) -> Floats:
    """Jain's index over the first axis; 1 while nothing has been delivered."""
    squares = len(amounts) * (amounts**2).sum(axis=0)
    total: Floats = amounts.sum(axis=0) ** 2
    index: Floats = np.divide(total, squares, out=np.ones_like(total), where=squares > 0)
    return index


def up_to(amounts: Floats) -> Floats:
    """Returns the index of the data delivered until the end of each interval."""
    return jain(amounts.cumsum(axis=1))


def in_windows(amounts: Floats, length: int) -> Floats:
    """The index of what was delivered in each run of so many intervals."""
    summed = np.pad(amounts.cumsum(axis=1), ((0, 0), (1, 0)))
    return jain(summed[:, length:] - summed[:, :-length])


def index_up_to(run: StoredRun) -> tuple[Floats, Floats]:
    """Times, and the index up to each."""
    times, amounts = goodputs(run)
    return times, up_to(amounts)


def index_in_window(run: StoredRun, length_s: float) -> tuple[Floats, Floats]:
    """Times, and the index over the last `length_s` seconds at each."""
    times, amounts = goodputs(run)
    length = round(length_s / INTERVAL_S)
    return times[length - 1 :], in_windows(amounts, length)


def sliding_mean(run: StoredRun, length_s: float) -> float | None:
    """Mean index over all windows of this length within the measured time; `None` if none fits."""
    times, amounts = goodputs(run)
    measured = amounts[:, times > run.summary["measured_from_s"]]
    length = round(length_s / INTERVAL_S)
    if measured.shape[1] < length:
        return None
    return float(in_windows(measured, length).mean())


def index_at_scale(length_s: float) -> Metric:
    """Returns the metric of the mean index over windows of a length."""
    return partial(sliding_mean, length_s=length_s)
