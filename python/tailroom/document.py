"""A document as blocks, written as Markdown, or as a page of HTML that needs no other file."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

HTML = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; }}
th, td {{ border-bottom: 1px solid #ccc; padding: 0.3em 0.6em; text-align: left; }}
td {{ vertical-align: top; }}
.good {{ color: #006d4e; }} .middling {{ color: #a35f00; }} .bad {{ color: #b00020; }}
img {{ max-width: 100%; }}
</style>
<h1>{title}</h1>
{body}
</html>
"""


@dataclass(frozen=True)
class Heading:
    """A heading below the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows of plain text."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    colours: Mapping[str, str] = field(default_factory=dict)
    """`good`, `middling` or `bad` for cells of this text."""


@dataclass(frozen=True)
class Picture:
    """A PNG picture: a file beside the Markdown, inside the HTML."""

    file: str
    png: bytes
    shows: str
    """What a reader who cannot see it is told."""


Block = Heading | Paragraph | Table | Picture


@dataclass(frozen=True)
class Document:
    """A title, and what stands below it."""

    title: str
    blocks: Sequence[Block]

    def markdown(self) -> str:
        """Markdown that names the pictures' files."""
        parts = [f"# {self.title}", *map(_markdown, self.blocks)]
        return "\n\n".join(parts) + "\n"

    def html(self) -> str:
        """One page with the pictures inside."""
        body = "\n".join(map(_html, self.blocks))
        return HTML.format(title=escape(self.title), body=body)


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Picture(file, _, shows):
            return f"![{shows}]({file})"
        case Table(headings, rows):
            lines = [headings, ["---"] * len(headings), *rows]
            cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
            return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Picture(_, png, shows):
            data = base64.b64encode(png).decode()
            return f'<p><img src="data:image/png;base64,{data}" alt="{escape(shows)}"></p>'
        case Table():
            return _html_table(block)


def _html_table(table: Table) -> str:
    headings = "".join(f"<th>{escape(one)}</th>" for one in table.headings)
    rows = ["".join(_html_cell(cell, table.colours) for cell in row) for row in table.rows]
    lines = "\n".join(f"<tr>{row}</tr>" for row in (headings, *rows))
    return f"<table>\n{lines}\n</table>"


def _html_cell(text: str, colours: Mapping[str, str]) -> str:
    colour = f' class="{colours[text]}"' if text in colours else ""
    return f"<td{colour}>{escape(text)}</td>"
