"""The series of all flows of a run, read from the store once for several metrics."""

from functools import lru_cache

import pyarrow as pa

from tailroom.storage.store import Store
from tailroom_papers.framework import *


def flow_series(run: StoredRun) -> pa.Table:
    """Returns the `flow_series` of a run that keeps it.

    Raises:
        KeyError: The study does not keep the table.
    """
    return run.table("flow_series") if run.store is None else _read(run.store, run.key)


@lru_cache(maxsize=8)
def _read(store: Store, key: str) -> pa.Table:
    table = store.table(key, "flow_series")
    if table is None:
        raise KeyError("flow_series is not kept; add it to the study's `keep`")
    return table
