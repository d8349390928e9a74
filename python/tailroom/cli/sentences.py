"""Sentences on a terminal: broken between words, and as one line where a program reads them."""

from rich.console import Console
from rich.text import Text

from tailroom.cli.unbroken_text import UnbrokenText

HANG = 4
"""Indentation of the second and further lines, in characters."""


def say(console: Console, markup: str, *, is_one_line: bool = True) -> None:
    """Prints a sentence, whose further lines are indented on a terminal.

    Args:
        console: Where to print it.
        markup: The sentence; line breaks before it stay.
        is_one_line: In a file or a pipe it stays one line, which can be searched; else it is broken
            there too.
    """
    if not console.is_terminal and is_one_line:
        console.print(markup, soft_wrap=True)
        return
    while markup.startswith("\n"):
        console.print()
        markup = markup[1:]
    hang = HANG if console.is_terminal else 0
    first, *further = UnbrokenText.of(markup).wrap(console, console.width - hang)
    for line in (first, *(Text.assemble(" " * hang, line) for line in further)):
        console.print(line)
