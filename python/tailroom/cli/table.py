"""Tables of numbers that fit the terminal."""

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tailroom.cli.unbroken_text import UnbrokenText

GAP = 2
"""Spaces between two columns."""
NAME_WIDTH = 12
"""Width to which names in the first column may be folded."""


class Parts:
    """A cell of several values: on one line where the table has room, else a line each."""

    def __init__(self, *values: str, between: str = " / ") -> None:
        """Takes the values as markup, and what stands between them on one line."""
        self.values = values
        self.between = between

    def __str__(self) -> str:
        """The values, a line each."""
        return "\n".join(self.values)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields the values on one line if it fits."""
        joined = UnbrokenText.of(self.between.join(self.values))
        yield joined if joined.cell_len <= options.max_width else UnbrokenText.of(str(self))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Returns the widths of the longest value and of the line of all."""
        widths = [Text.from_markup(value).cell_len for value in self.values]
        return Measurement(max(widths), sum(widths) + len(self.between) * (len(widths) - 1))


class NumberTable(Table):
    """A table whose first column holds names and the others numbers.

    If the table is wider than the terminal, cells of several values get a line per value, cells are
    broken between words but not before a unit, and long names at any character, unless the first
    column has `no_wrap`; no cell is cut off. If that does not suffice, each row becomes a list of
    its cells.
    """

    def __init__(self, title: str, *headings: str) -> None:
        super().__init__(
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            collapse_padding=True,
        )
        self.head = title
        """Markup of the line above the table; empty for none. It may be wider than the table."""
        self.add_column(headings[0], overflow="fold")
        for heading in headings[1:]:
            self.add_column(heading, justify="right")

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Adds a row; a cell that is a text is markup."""
        held = (UnbrokenText.of(cell) if isinstance(cell, str) else cell for cell in cells)
        super().add_row(*held, **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields the lines of the table, or of the lists that replace it."""
        widths = self._widths(console, options)
        if self.head:
            yield Text.from_markup(f"\n[bold]{self.head}[/bold]")
        if widths is None:
            yield from self._lists()
            return
        for column, width in zip(self.columns, widths, strict=True):
            column.width = width
        yield from super().__rich_console__(console, options)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Returns the width of the table, at most that of the terminal."""
        widths = self._widths(console, options)
        if widths is None:
            return Measurement(1, options.max_width)
        total = sum(widths) + GAP * (len(widths) - 1)
        return Measurement(total, total)

    def _widths(self, console: Console, options: ConsoleOptions) -> list[int] | None:
        """Returns the widths of the columns; `None` if their words do not fit the terminal."""
        ranges = [self._range(console, options, index) for index in range(len(self.columns))]
        widths = [measurement.maximum for measurement in ranges]
        least = [measurement.minimum for measurement in ranges]
        if not self.columns[0].no_wrap:
            words = self._heading(0).split()
            least[0] = min(widths[0], max(NAME_WIDTH, *map(len, words), 0))
        room = options.max_width - GAP * (len(widths) - 1)
        broken = [self._broken(console, options, index) for index in range(len(self.columns))]
        for index in sorted(range(len(widths)), key=lambda index: broken[index] - widths[index]):
            if sum(widths) > room:
                widths[index] = broken[index]
        for _ in range(sum(widths) - room):
            spare = [width - low for width, low in zip(widths, least, strict=True)]
            if not any(spare):
                return None
            widths[spare.index(max(spare))] -= 1
        return widths

    def _range(self, console: Console, options: ConsoleOptions, index: int) -> Measurement:
        """The width of a column's longest word, and of its longest line."""
        wide = options.update_width(10_000)
        cells = [self._heading(index), *self.columns[index].cells]
        measured = [Measurement.get(console, wide, cell) for cell in cells]
        return Measurement(
            max(measurement.minimum for measurement in measured),
            max(measurement.maximum for measurement in measured),
        )

    def _broken(self, console: Console, options: ConsoleOptions, index: int) -> int:
        """The width of a column whose cells have a line per value."""
        wide = options.update_width(10_000)
        cells: list[str | Text] = [
            self._heading(index),
            *map(_text, self.columns[index].cells),
        ]
        return max(Measurement.get(console, wide, cell).maximum for cell in cells)

    def _heading(self, index: int) -> str:
        return str(self.columns[index].header)

    def _lists(self) -> Iterator[RenderableType]:
        """Yields each row as its name and a line per further cell."""
        names = [" ".join(self._heading(at).split()) for at in range(len(self.columns))]
        longest = max((len(name) for name in names[1:]), default=0)
        for row in zip(*(column.cells for column in self.columns), strict=True):
            name, *cells = map(_text, row)
            if name.plain:
                yield name
            for key, cell in zip(names[1:], cells, strict=True):
                lines = ", ".join(cell.plain.split("\n"))
                yield UnbrokenText(f"  {key:{longest}}  {lines}")


def _text(cell: RenderableType) -> Text:
    """A cell as text, with a line per value."""
    return cell if isinstance(cell, Text) else UnbrokenText.of(str(cell))
