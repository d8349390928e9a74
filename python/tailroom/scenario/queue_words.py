"""A queue discipline that is named by a word keeps the limit of the scenario's queue.

`links.down.queue = codel, pie` compares disciplines with the same buffer: the word replaces the
kind, keeps the `limit` of the scenario, and drops the other parameters. A queue that is written as
a table is used unchanged.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tailroom import _engine
from tailroom.scenario.axis import Axis
from tailroom.scenario.scenario import Scenario


@dataclass(frozen=True)
class KeptLimit:
    """The limit of the queues that are named by words."""

    key: str
    """Key of the queue, e.g. `links.down.queue`."""
    limit: object | None
    """Limit of the scenario; `None` if the scenario has none, or if the limit varies."""

    def __str__(self) -> str:
        """Returns a note on the results."""
        if self.limit is None:
            return f"{self.key}: the scenario gives no limit, so each discipline has its default"
        return f"{self.key}: limit {self.limit} kept from the scenario"


def spell_out(
    source: Scenario, axes: Sequence[Axis], varied: Sequence[str] = ()
) -> tuple[tuple[Axis, ...], list[KeptLimit]]:
    """Writes words for queue disciplines as tables with the scenario's limit.

    Args:
        source: The scenario.
        axes: The keys that vary.
        varied: Other keys that vary. A limit that varies is not kept.

    Returns:
        The axes, and a `KeptLimit` per axis with words.
    """
    keys = {*varied, *(axis.key for axis in axes)}
    spelled, kept = [], []
    for axis in axes:
        if _is_queue(axis.key) and any(isinstance(value, str) for value in axis.values):
            varies = f"{axis.key}.limit" in keys
            limit = None if varies else source.handle.written(f"{axis.key}.limit")
            values = tuple(as_table(value, limit) for value in axis.values)
            spelled.append(replace(axis, values=values))
            kept += [] if varies else [KeptLimit(axis.key, limit)]
        else:
            spelled.append(axis)
    return tuple(spelled), kept


def _is_queue(key: str) -> bool:
    parts = key.split(".")
    return len(parts) == 3 and parts[0] == "links" and parts[2] == "queue"


def as_table(value: object, limit: object | None) -> object:
    """Returns a word as a table with a limit, if the discipline takes one; else the value.

    Args:
        value: A value of a queue.
        limit: The limit; none if `None`.
    """
    if not isinstance(value, str):
        return value
    is_code = ":" in value
    table = {"kind": "custom", "discipline": value} if is_code else {"kind": value}
    keeps = limit is not None and (is_code or value in _limited())
    return {**table, "limit": limit} if keeps else table


@lru_cache(maxsize=1)
def _limited() -> frozenset[str]:
    """Kinds of queue disciplines that take a limit."""
    return frozenset(
        component["kind"]
        for component in json.loads(_engine.components())["queue"]
        if any(parameter["name"] == "limit" for parameter in component["parameters"])
    )
