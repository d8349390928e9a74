"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table, with a line break at its end.

    Args:
        headings: Headings of the columns.
        rows: A text per column; line breaks in it become spaces.
    """
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(one_line(cell) for cell in line)} |\n" for line in lines)


def one_line(text: str) -> str:
    """Returns a text in one line, without a character that ends a cell of a table.

    Args:
        text: Markdown.
    """
    return " ".join(text.split()).replace("|", "\\|")
