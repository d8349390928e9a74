"""Measures of a run: the slowest queries, and the slowest short flows of the web search."""

from tailroom_papers.framework import *


def query_p99_ms(run: StoredRun) -> float:
    """99th percentile of the completion times of queries."""
    return 1e3 * float(run.summary["groups"]["queries"]["coflows"]["completion_time_s_p99"])


def short_p99_ms(run: StoredRun) -> float:
    """99th percentile of the completion times of web search flows of 10 to 100 kB.

    They are those from the leaf whose hosts answer the queries.
    """
    classes = run.summary["groups"]["right"]["size_classes"]
    short = next(one for one in classes if one["from_bytes"] == 10_000)
    return 1e3 * float(short["completion_time_s_p99"])
