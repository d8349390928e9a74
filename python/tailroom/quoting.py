"""How text that somebody else wrote is shown: in messages, and on a terminal."""

import re
from decimal import Decimal

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, and those that reverse the direction of text."""
LONGEST_QUOTE = 80
"""Characters of the longest quote."""
BEGINNING = 50
"""Characters that a quote has of a longer text, in front of the length of the text."""
LARGEST_WRITTEN = 10**100
"""Integers below are written out; Python refuses to write thousands of digits."""


def shown(text: str) -> str:
    r"""Returns a text with control characters written as in Python, such as \x1b.

    A title, a name or an exception may come from somebody else's file. A terminal would obey its
    escape sequences: change colours, the title of the window, or what is on the screen.

    Args:
        text: The text.
    """
    return CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def quoted(content: object) -> str:
    """Returns a stranger's text for a message: at most 80 characters, on one line.

    The engine has the same function (`crates/tailroom-engine/src/quoting.rs`).

    Args:
        content: What is written.
    """
    text = str(content)
    start = text[: LONGEST_QUOTE + 1].replace("\n", r"\n").replace("\t", r"\t")
    quote = shown(start)
    if len(quote) <= LONGEST_QUOTE:
        return quote
    return f"{quote[:BEGINNING]}... ({len(text)} characters)"


def integer_text(number: int) -> str:
    """Writes an integer, with an exponent if it has more than a hundred digits."""
    return str(number) if abs(number) < LARGEST_WRITTEN else format(Decimal(number), ".6e")


def argument_text(value: object) -> str:
    """Returns the value of an argument as Python writes it, at most 80 characters of it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return quoted(integer_text(value))
    try:
        return quoted(repr(value))
    except ValueError:  # an integer in it has thousands of digits
        return f"a {type(value).__name__}"
