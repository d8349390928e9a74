"""The only table of a result, as Arrow has it."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tailroom.errors import ArgumentError
from tailroom.libraries import need

if TYPE_CHECKING:
    import pyarrow as pa


def only_table(asked: str | None, name: str, rows: Iterable[Mapping[str, Any]]) -> "pa.Table":
    """Returns the only table of a result.

    Args:
        asked: The name that the caller gave, if any.
        name: Name of the table.
        rows: Its rows.

    Raises:
        ArgumentError: There is no such table.
        MissingLibraryError: PyArrow is not installed (`pip install 'tailroom[tables]'`).
    """
    if asked not in (None, name):
        raise ArgumentError(f"there is no table {asked!r}; choose {name}")
    need("pyarrow")
    import pyarrow as pa  # noqa: PLC0415 - an optional library

    return pa.Table.from_pylist(list(rows))
