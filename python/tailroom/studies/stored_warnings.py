"""Warnings of stored runs."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tailroom.simulation.warned import once
from tailroom.storage.store import Store

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning


def warnings_of(store: Store, keys: Iterable[str]) -> tuple["RunWarning", ...]:
    """The warnings of stored runs, each kind and place once.

    Args:
        store: The store.
        keys: Keys of runs; those that the store lacks are passed over.
    """
    rows = (store.read(key) for key in keys)
    summaries = (json.loads(row["summary"][0].as_py()) for row in rows if row is not None)
    return once(one for summary in summaries for one in summary["warnings"])
