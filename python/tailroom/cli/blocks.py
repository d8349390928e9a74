"""Tables with a row per choice or point, split to fit the terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from tailroom.cli import report
from tailroom.cli.terminal_text import escape
from tailroom.simulation.lower_bounds import LEGEND, MARK

GAP = 2
"""Spaces between two columns."""
COMMON_WIDTH = 80
"""Width of a terminal, in characters, up to which a table looks as in the documentation."""
WIDEST_NAME = 28
"""Largest width of a naming column, in characters; wider cells are folded."""


@dataclass(frozen=True)
class Column:
    """A heading and a cell per row; both may have several lines."""

    heading: str
    cells: Sequence[str]
    is_bold: bool = False
    """Whether the heading is bold."""
    is_padded: bool = False
    """Whether heading and cells have one width and begin where the column does."""

    @property
    def width(self) -> int:
        """Length of the longest line, in characters."""
        lines = (line for text in (self.heading, *self.cells) for line in text.split("\n"))
        return max(map(len, lines))


def print_block(
    console: Console, title: str, names: Sequence[Column], columns: Sequence[Column]
) -> None:
    """Prints the columns in as few tables as fit, each beginning with the naming columns.

    In a terminal wider than `COMMON_WIDTH`, values of several lines get a single line if all of
    them fit into a table.
    """
    room = console.width - _width_of_names(names)
    if console.width > COMMON_WIDTH:
        columns = _on_single_lines(columns, room)
    for place, some in enumerate(_fitting(columns, room)):
        if place and not title:
            console.print()
        shown = [*names, *some]
        table = report.table_of(
            f"{escape(title)}, continued" if title and place else escape(title),
            *(escape(entry.heading) for entry in shown),
        )
        for number, column in enumerate(table.columns[: len(names)]):
            column.justify, column.no_wrap, column.overflow = "left", False, "fold"
            column.max_width = min(names[number].width, WIDEST_NAME)
        for entry, column in zip(shown, table.columns, strict=True):
            if entry.is_bold:
                column.header = f"[bold]{column.header}[/bold]"
            if entry.is_padded:
                column.justify = "left"
        for row in zip(*(entry.cells for entry in shown), strict=True):
            table.add_row(*map(escape, row))
        console.print(table)
    if any(cell.lstrip().startswith(MARK) for column in columns for cell in column.cells):
        console.print(LEGEND)


def tables_needed(console: Console, names: Sequence[Column], columns: Sequence[Column]) -> int:
    """Returns the number of tables that `print_block` prints if no line of values is joined."""
    return len(list(_fitting(columns, console.width - _width_of_names(names))))


def _width_of_names(names: Sequence[Column]) -> int:
    return sum(min(name.width, WIDEST_NAME) + GAP for name in names)


def _on_single_lines(columns: Sequence[Column], room: int) -> Sequence[Column]:
    """Returns columns with each value on a line, if they fit the room; else as they are."""
    joined = [_on_single_line(column) for column in columns]
    return joined if sum(column.width + GAP for column in joined) - GAP <= room else columns


def _on_single_line(column: Column) -> Column:
    """Means below each other, with their intervals: 12.3 ms ±0.4 ms."""
    parts = [cell.partition("\n") for cell in column.cells]
    means = max((len(mean) for mean, *_ in parts), default=0)
    rests = [" ".join(rest.split("\n")) for *_, rest in parts]
    after = max(map(len, rests), default=0)
    cells = [
        f"{mean:>{means}} {rest:{after}}" if after else mean
        for (mean, *_), rest in zip(parts, rests, strict=True)
    ]
    heading = column.heading.replace("\n", " ")
    if len(heading) > max(map(len, cells), default=0):
        heading = column.heading
    whole = replace(column, heading=heading, cells=cells)
    lines = [f"{line:>{whole.width}}" for line in heading.split("\n")]
    padded = [f"{cell:>{whole.width}}" for cell in cells]
    return replace(whole, heading="\n".join(lines), cells=padded, is_padded=True)


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
