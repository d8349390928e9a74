"""The users' texts on a terminal: control characters are shown, not obeyed."""

from tailroom.quoting import shown


def escape(text: str) -> str:
    """Returns a text as markup of rich that shows the text as it is.

    Args:
        text: The text.
    """
    from rich.markup import escape as escape_markup  # noqa: PLC0415 - errors need no rich

    return escape_markup(shown(text))
