"""The users' texts on a terminal: control characters are shown, not obeyed."""

from tailroom.scenario.json_text import CONTROLS


def shown(text: str) -> str:
    r"""Returns a text with control characters written as in Python, such as \x1b.

    A title, a name or an exception may come from somebody else's file. A terminal would obey its
    escape sequences: change colours, the title of the window, or what is on the screen.

    Args:
        text: The text.
    """
    return CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def escape(text: str) -> str:
    """Returns a text as markup of rich that shows the text as it is.

    Args:
        text: The text.
    """
    from rich.markup import escape as escape_markup  # noqa: PLC0415 - errors need no rich

    return escape_markup(shown(text))
