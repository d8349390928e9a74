"""The columns of the rows of runs, and their types."""

import pyarrow as pa

OF_TEXT = ("key", "scenario_hash", "engine_build", "title", "scenario", "summary")
"""Columns with texts."""
TYPES = dict.fromkeys(OF_TEXT, pa.string()) | {"seed": pa.int64()}
"""Types of the columns that are not metrics."""


def type_of(name: str) -> pa.DataType:
    """Returns the type of a column."""
    return TYPES.get(name, pa.float64())
