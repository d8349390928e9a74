"""Tables with a row per choice or point, split to fit the terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console

from tailroom.cli import report
from tailroom.cli.terminal_text import escape

GAP = 2
"""Spaces between two columns."""
WIDEST_NAME = 28
"""Largest width of a naming column, in characters; wider cells are folded."""


@dataclass(frozen=True)
class Column:
    """A heading and a cell per row; both may have several lines."""

    heading: str
    cells: Sequence[str]

    @property
    def width(self) -> int:
        """Length of the longest line, in characters."""
        lines = (line for text in (self.heading, *self.cells) for line in text.split("\n"))
        return max(map(len, lines))


def print_block(
    console: Console, title: str, names: Sequence[Column], columns: Sequence[Column]
) -> None:
    """Prints the columns in as few tables as fit, each beginning with the naming columns."""
    named = sum(min(name.width, WIDEST_NAME) + GAP for name in names)
    for place, some in enumerate(_fitting(columns, console.width - named)):
        shown = [*names, *some]
        table = report.table_of(
            f"{escape(title)}, continued" if title and place else escape(title),
            *(escape(entry.heading) for entry in shown),
        )
        for number, column in enumerate(table.columns[: len(names)]):
            column.justify, column.no_wrap, column.overflow = "left", False, "fold"
            column.max_width = min(names[number].width, WIDEST_NAME)
        for row in zip(*(entry.cells for entry in shown), strict=True):
            table.add_row(*map(escape, row))
        console.print(table)


def _fitting(columns: Sequence[Column], width: int) -> Iterator[list[Column]]:
    """Yields groups of columns that fit the width, at least one column each."""
    group: list[Column] = []
    used = -GAP
    for column in columns:
        needed = column.width + GAP
        if group and used + needed > width:
            yield group
            group, used = [], -GAP
        group.append(column)
        used += needed
    yield group
