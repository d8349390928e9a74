"""The values of a key as a column of a table."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from tailroom.scenario.axis import number_of, value_words

if TYPE_CHECKING:
    import pyarrow as pa

Write: TypeAlias = Callable[[object, Sequence[object]], str]
"""Writes a value as text, given all values of its key."""


def setting_column(
    name: str, values: Sequence[object], unit: str | None = None, write: Write = value_words
) -> "tuple[pa.Field, pa.Array]":
    """Returns a column with a value per row; the metadata of its field have the `unit` of numbers.

    Numbers or texts do not change; tables and lists, which CSV does not have, become text.

    Args:
        name: Name of the column.
        values: The values.
        unit: Unit of values that are numbers, time spans, or texts with this unit; empty or `None`
            for others.
        write: Writes a table as text.
    """
    import pyarrow as pa  # noqa: PLC0415 - an optional library

    if unit:
        values = [value if isinstance(value, int) else number_of(value) for value in values]
    column = _column(values, write)
    metadata = {"unit": unit} if unit else None
    return pa.field(name, column.type, metadata=metadata), column


def _column(values: Sequence[object], write: Write) -> "pa.Array":
    """Numbers or texts as they are, else texts.

    As structs, Arrow would give each table the keys of all other tables.
    """
    import pyarrow as pa  # noqa: PLC0415 - as above

    if not any(isinstance(value, dict | list) for value in values):
        with suppress(pa.ArrowException):
            return pa.array(values)
    by_text = {str(value): value for value in values if value is not None}
    words = {text: write(value, list(by_text.values())) for text, value in by_text.items()}
    return pa.array([words.get(str(value)) for value in values])
