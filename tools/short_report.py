"""The report of a paper as the repository shows it: pictures, and the sides of each claim."""

import re
from collections.abc import Iterator, Sequence

from tailroom.reports.document import Block, Document, Drawn, Heading, Paragraph, Picture, Table
from tailroom_papers.framework import Paper, Part
from tailroom_papers.framework.report import (
    SIDES,
    Record,
    abstract,
    counts,
    of_part,
    part_title,
    picture_file,
)

WHOLE = (
    "[Verdicts](../../guide/papers.md#verdicts) explains the verdicts. `tailroom papers run {name} "
    "--check docs/papers/{name} --out DIR` writes the whole report, with the notes on each part, "
    "the p-values, the explanations, the variations of what the paper leaves open, and the reasons "
    "for the bounds."
)
SENTENCE = re.compile(r".+?(?<!\bEq)(?<!\bSec)(?<!\bet al)[.?!](?=\s+[A-Z(]|$)", re.DOTALL)
NO_PICTURE = Drawn(b"", "")
"""The Markdown names the file of a picture alone."""


def document(paper: Paper, parts: Sequence[Part], record: Record) -> Document:
    """Returns the short report.

    Args:
        paper: The paper.
        parts: Its reproduced parts.
        record: The content of `claims.json`.
    """
    blocks: list[Block] = [*abstract(record), Paragraph(counts(paper, record))]
    blocks.append(Paragraph(WHOLE.format(name=paper.name)))
    for part in parts:
        blocks.append(Heading(part_title(part.name, part.title)))
        blocks.append(Picture(picture_file(part.name), NO_PICTURE, part.title, part.caption))
        rows = [row for claim in of_part(part, record["claims"]) for row in _rows(claim)]
        if rows:
            blocks.append(Table(("claim", "side", "here", "holds"), rows))
    return Document(paper.report_title, blocks)


def _rows(claim: Record) -> Iterator[tuple[str, ...]]:
    """A row per side; the first has the claim, its verdict, and why."""
    text = f"{claim['text']} ({claim['place']}): **{claim['verdict']}**. "
    text += first_sentence(claim["why"])
    stated = ""
    for check in claim["checks"]:
        bound = "" if check["stated"] == stated else f": {check['stated']}"
        yield text, check["what"] + bound, check["here"], _holds(check)
        text, stated = "", check["stated"]


def _holds(check: Record) -> str:
    outcome = SIDES[check["holds"]]
    return f"{outcome} (variations reverse it)" if check["depends_on"] else outcome


def first_sentence(text: str) -> str:
    """Returns the first sentence of an explanation.

    Args:
        text: Sentences; an abbreviation such as "Eq. 5" does not end one.
    """
    found = SENTENCE.match(text)
    return found[0] if found else text
