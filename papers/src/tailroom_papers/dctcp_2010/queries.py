"""Measures of queries, from the answers of a run one by one."""

import numpy as np
from numpy.typing import NDArray

from tailroom_papers.framework import *

Floats = NDArray[np.float64]


def durations_s(run: StoredRun) -> Floats:
    """Returns the completion times of the queries, in seconds, by start.

    A query ends with its last answer, and its answers begin together. A query of which the log
    lacks answers is left out.
    """
    log = run.table("flow_log")
    starts, times = (log[name].to_numpy() for name in ("start_s", "completion_time_s"))
    first = np.flatnonzero(np.r_[True, np.diff(starts) != 0])
    answers = np.diff(np.r_[first, len(times)])
    longest: Floats = np.maximum.reduceat(times, first)
    whole: Floats = longest[answers == answers.max()]
    return whole


def mean_s(run: StoredRun) -> float:
    """Mean completion time of the queries."""
    return float(durations_s(run).mean())


def p95_s(run: StoredRun) -> float:
    """95th percentile of the completion times."""
    return float(np.quantile(durations_s(run), 0.95))


def with_timeout(run: StoredRun) -> float:
    """Share of queries that take as long as the shortest timeout, or longer.

    A query of 1 MB takes 8.4 ms at 1 Gbit/s, less than the shortest timeout of 10 ms.
    """
    return float((durations_s(run) >= min_rto_s(run)).mean())


def min_rto_s(run: StoredRun) -> float:
    """The shortest timeout of the senders."""
    settings = next(iter(run.summary["groups"].values()))["settings"]
    return float(settings["min_rto"].removesuffix(" ms")) / 1e3


def timeouts(run: StoredRun) -> float:
    """Timeouts of all senders."""
    return float(sum(group["timeouts"] for group in run.summary["groups"].values()))


def unexplained(run: StoredRun) -> float:
    """Queries that take as long as a timeout, less the timeouts; 0 if there are no fewer."""
    late = float((durations_s(run) >= min_rto_s(run)).sum())
    return max(0.0, late - timeouts(run))
