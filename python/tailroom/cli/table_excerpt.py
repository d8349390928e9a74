"""The first rows and columns of a large table that fit a terminal."""

from collections.abc import Sequence

import pyarrow as pa
from rich.console import Console

from tailroom.cli.blocks import GAP, Column, print_block
from tailroom.cli.sentences import say
from tailroom.written_numbers import number

MOST_ROWS = 40
LONGEST_CELL = 30
"""Maximum number of characters that are shown of a cell."""


def print_excerpt(table: pa.Table, console: Console) -> None:
    """Prints the rows and columns that fit, then what is left out and how to get it."""
    rows = table.slice(0, MOST_ROWS)
    columns = [
        Column(_cut(name), [_text(value) for value in rows[name].to_pylist()])
        for name in table.column_names
    ]
    shown = _fitting(columns, console.width)
    if shown:
        print_block(console, "", shown[:1], shown[1:])
    missing = []
    if table.num_rows > rows.num_rows:
        missing.append(f"{rows.num_rows:,} of {table.num_rows:,} rows")
    if table.num_columns > len(shown):
        missing.append(f"{len(shown)} of {table.num_columns} columns")
    if missing:
        say(
            console,
            f"\nShown are {' and '.join(missing)}; name columns in the query, "
            "or write the whole table with --out FILE.csv",
        )


def _fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Returns the first columns that fit the width, at least the first."""
    shown: list[Column] = []
    for column in columns:
        if shown and sum(before.width + GAP for before in shown) + column.width > width:
            break
        shown.append(column)
    return shown


def _text(value: object) -> str:
    if value is None:
        return "-"
    return number(value) if isinstance(value, float) else _cut(str(value))


def _cut(text: str) -> str:
    """Returns the first line of a text, cut to `LONGEST_CELL` characters."""
    line, *more = text.split("\n")
    whole = len(line) <= LONGEST_CELL and not more
    return line if whole else f"{line[: LONGEST_CELL - 3]}..."
