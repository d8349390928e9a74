"""The box with the answer of a command, which is printed last."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.panel import Panel

from tailroom.cli.unbroken_text import UnbrokenText


def print_answer(console: Console, lines: Iterable[str], colour: str) -> None:
    """Prints a box, as wide as its lines ask, at most as wide as the terminal.

    Args:
        console: Where to print it.
        lines: The lines of the answer, as markup.
        colour: Colour of the border: green for an answer, yellow for an answer with a reservation,
            red for none. The words say so too.
    """
    inside = UnbrokenText.of("\n".join(lines))
    console.print(Panel(inside, box=box.ROUNDED, border_style=colour, expand=False))
