"""Tables of a run as Arrow tables that share their memory with the engine's NumPy arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tailroom import _engine

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Columns: TypeAlias = Mapping[str, NDArray[Any]]


@cache
def declarations() -> tuple[dict[str, Any], ...]:
    """Returns the tables that the engine declares, in its order.

    A table has `name`, `description` and `columns`. A column has `name`, `description`, `element`
    (the type of its values in the engine), `labels` and `is_named_by_run` (whether it stands for
    several columns, whose names depend on the run).
    """
    return tuple(json.loads(_engine.tables()))


def labels_of(table: str, summary: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Returns the names that the positions in a column stand for, by the name of the column.

    Args:
        table: Name of the table.
        summary: The summary of the run, which has the names of links, flows and groups.
    """
    (declared,) = (declaration for declaration in declarations() if declaration["name"] == table)
    return {
        column["name"]: labels["words"] if isinstance(labels, dict) else _names(labels, summary)
        for column in declared["columns"]
        if (labels := column["labels"]) is not None
    }


def _names(labels: str, summary: Mapping[str, Any]) -> list[str]:
    """The names of links, flows or groups, or of what is made of them."""
    if labels == "flows":
        return [flow["name"] for flow in summary["flows"]]
    if labels == "flows_and_groups":
        return _names("flows", summary) + _names("groups", summary)
    if labels == "places":
        flows = _names("flows_and_groups", summary)
        ends = [f"{flow}.{end}" for flow in flows for end in ("sender", "receiver")]
        return _names("links", summary) + ends
    return list(summary[labels])


def arrow_table(columns: Columns, labels: Mapping[str, Sequence[str]]) -> pa.Table:
    """Wraps columns of NumPy arrays in an Arrow table, without copying them, unless names repeat.

    Args:
        columns: Arrays of one dimension and of equal lengths, by name.
        labels: Names, by column; the values of such a column are positions in the names.
    """
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy, and few commands need a table

    return pa.table(
        {
            column: _labelled(values, labels[column]) if column in labels else pa.array(values)
            for column, values in columns.items()
        }
    )


def _labelled(positions: NDArray[Any], names: Sequence[str]) -> pa.DictionaryArray:
    import numpy as np  # noqa: PLC0415 - as in arrow_table
    import pyarrow as pa  # noqa: PLC0415

    unique = list(dict.fromkeys(names))
    if len(unique) < len(names):
        # A flow that is alone in its group has the group's name; pandas wants each name once.
        place = {name: number for number, name in enumerate(unique)}
        positions = np.array([place[name] for name in names], positions.dtype)[positions]
    # The same bytes as signed integers, because pandas refuses unsigned positions.
    signed = positions.view(np.dtype(f"i{positions.itemsize}"))
    return pa.DictionaryArray.from_arrays(pa.array(signed), pa.array(unique, pa.string()))
