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
    """The tables that the engine declares, in its order.

    Each has `name`, `description` and `columns`; a column has `name`, `description`, `element` (the
    type of its values in the engine), `labels` and `is_named_by_run` (it stands for columns that
    have other names in each run).
    """
    return tuple(json.loads(_engine.tables()))


def labels_of(table: str, summary: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """The names that positions stand for, by the column that holds the positions.

    Args:
        table: Name of the table.
        summary: The summary of the run.
    """
    flows = [flow["name"] for flow in summary["flows"]]
    names = {
        "links": list(summary["links"]),
        "flows": flows,
        "groups": list(summary["groups"]),
        "flows_and_groups": flows + list(summary["groups"]),
    }
    (declared,) = (one for one in declarations() if one["name"] == table)
    return {
        column["name"]: labels["words"] if isinstance(labels, dict) else names[labels]
        for column in declared["columns"]
        if (labels := column["labels"]) is not None
    }


def arrow_table(columns: Columns, labels: Mapping[str, Sequence[str]]) -> pa.Table:
    """Wraps columns without copying them; those in `labels` hold positions in a list of names."""
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

    # The same bytes read as signed integers: pandas refuses unsigned positions.
    signed = positions.view(np.dtype(f"i{positions.itemsize}"))
    return pa.DictionaryArray.from_arrays(pa.array(signed), pa.array(names, pa.string()))
