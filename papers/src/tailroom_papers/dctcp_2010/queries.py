"""Measures of queries, from the answers of a run one by one."""

import numpy as np
from numpy.typing import NDArray

from tailroom_papers.framework import *

Floats = NDArray[np.float64]


def durations_s(run: StoredRun) -> Floats:
    """Returns the completion times of the queries, in seconds, by client and start.

    A query ends with its last answer; the answers to one query of a client begin together. Queries
    of which the log lacks answers are left out.
    """
    log = run.table("flow_log")
    clients = log["group"].dictionary_encode().combine_chunks().indices.to_numpy()
    starts, times = (log[name].to_numpy() for name in ("start_s", "completion_time_s"))
    order = np.lexsort((starts, clients))
    clients, starts, times = clients[order], starts[order], times[order]
    is_first = np.r_[True, (np.diff(clients) != 0) | (np.diff(starts) != 0)]
    first = np.flatnonzero(is_first)
    answers = np.diff(np.r_[first, len(times)])
    longest: Floats = np.maximum.reduceat(times, first)
    return longest[answers == answers.max()]


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


def timeouts_per_query(run: StoredRun) -> float:
    """Timeouts of all senders over the queries that are complete."""
    groups = run.summary["groups"].values()
    return timeouts(run) / sum(group["coflows"]["completed_coflows"] for group in groups)


def unexplained(run: StoredRun) -> float:
    """Queries that take as long as a timeout, less the timeouts; 0 if there are no fewer."""
    late = float((durations_s(run) >= min_rto_s(run)).sum())
    return max(0.0, late - timeouts(run))
