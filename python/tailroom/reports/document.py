"""A document of blocks, written as Markdown or as a self-contained HTML page."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

HTML = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; line-height: 1.4; }}
body {{ max-width: 75em; margin: 2em auto; padding: 0 1em; }}
.wide {{ overflow-x: auto; margin: 1em 0; }}
figure {{ margin: 1em 0; }} figcaption {{ font-size: 0.9em; }}
table {{ border-collapse: collapse; }}
th, td {{ border-bottom: 1px solid #ccc; padding: 0.3em 0.6em; text-align: left; }}
td {{ vertical-align: top; }}
.good {{ color: #006d4e; }} .middling {{ color: #a35f00; }} .open {{ color: #3f5e96; }}
.bad {{ color: #b00020; }}
.wide svg, .wide img {{ display: block; width: 100%; height: auto; min-width: 42em; }}
@media print {{
  body {{ max-width: none; margin: 0; font-size: 9pt; }}
  .wide {{ overflow: visible; }}
  .wide svg, .wide img {{ min-width: 0; max-height: 95vh; }}
  tr, .picture {{ break-inside: avoid; }}
  h2, h3 {{ break-after: avoid; }}
}}
</style>
<h1>{title}</h1>
{body}
</html>
"""


@dataclass(frozen=True)
class Drawn:
    """A picture in two formats."""

    png: bytes
    svg: str
    """SVG text; empty if the picture has too many marks for vectors."""


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
    """`good`, `middling`, `open` or `bad` for cells of this text; words in brackets may follow."""


@dataclass(frozen=True)
class Picture:
    """A picture: a file next to the Markdown, inside the HTML."""

    file: str
    drawn: Drawn
    shows: str
    """Alternative text."""
    caption: str = ""
    """Caption below the picture."""


Block = Heading | Paragraph | Table | Picture


@dataclass(frozen=True)
class Document:
    """A title and blocks."""

    title: str
    blocks: Sequence[Block]

    def markdown(self) -> str:
        """Returns Markdown that refers to the picture files."""
        parts = [f"# {self.title}", *map(_markdown, self.blocks)]
        return "\n\n".join(parts) + "\n"

    def html(self) -> str:
        """One page with the pictures inside."""
        return HTML.format(title=escape(self.title), body=fragment(self.blocks))


def fragment(blocks: Sequence[Block]) -> str:
    """Blocks as HTML to be placed in another page, without a style sheet."""
    return "\n".join(map(_html, blocks))


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Picture(file, _, shows, caption):
            return f"![{shows}]({file})" + (f"\n\n*{caption}*" if caption else "")
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
        case Picture(file, drawn, shows, caption):
            below = f"\n<figcaption>{escape(caption)}</figcaption>" if caption else ""
            picture = f'<div class="wide picture">\n{_html_picture(file, drawn, shows)}\n</div>'
            return f"<figure>\n{picture}{below}\n</figure>"
        case Table():
            return _html_table(block)


def _html_table(table: Table) -> str:
    headings = "".join(f"<th>{escape(heading)}</th>" for heading in table.headings)
    rows = ["".join(_html_cell(cell, table.colours) for cell in row) for row in table.rows]
    lines = "\n".join(f"<tr>{row}</tr>" for row in (headings, *rows))
    return f'<div class="wide"><table>\n{lines}\n</table></div>'


def _html_picture(file: str, drawn: Drawn, shows: str) -> str:
    if not drawn.svg:
        data = base64.b64encode(drawn.png).decode()
        return f'<img src="data:image/png;base64,{data}" alt="{escape(shows)}">'
    svg = drawn.svg[drawn.svg.index("<svg") :]
    # The ids of embedded pictures share the page, so they get a prefix per picture.
    own = re.sub(r"\W", "-", file)
    svg = re.sub(r'( id="|xlink:href="#|url\(#)', rf"\1{own}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(shows)}"', 1)


def _html_cell(text: str, colours: Mapping[str, str]) -> str:
    word = text.partition(" (")[0]
    colour = f' class="{colours[word]}"' if word in colours else ""
    return f"<td{colour}>{escape(text)}</td>"
