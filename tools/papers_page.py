"""The page of papers: per paper its question and advice, its claims, and pictures that decide.

It follows from docs/papers/NAME/claims.json and from docs/papers/page.toml, without any run.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailroom.reports.document import Block, Document, Drawn, Heading, Paragraph, Picture, Table
from tailroom_papers import framework
from tailroom_papers.framework import Paper, Verdict
from tailroom_papers.framework.report import Record, part_title, picture_file

DOCS = Path(__file__).parents[1] / "docs" / "papers"
PAGE = DOCS / "index.md"
TITLE = "The papers, reproduced, and two studies"
INTRODUCTION = """\
Five papers and two studies of this project, as `tailroom papers run NAME` reproduces them. Each
line has the claim and, after the colon, the means that tailroom finds, linked to their picture.
[Verdicts](../guide/papers.md#verdicts) are tests of each side of a claim; "undecided" needs more
runs, or depends on what the paper does not state. The reports with intervals, explanations,
variations and bounds are files of a release; a clone [writes them](../guide/papers.md#reports)
without a run."""
AGES = """\
The verdicts of `abm-2022` and `dctcp-2010` are of 28 November 2026, those with Linux hosts of 26
November, when such hosts had HyStart++: before `rack_timer_margin`, Linux's HyStart, its rule for
old timestamps, and its recovery after marks. All others are of 23 November, before the random
order of packets that arrive at one instant; those of the quick form (`quick.json`) are of 28
November."""
BETWEEN_SENTENCES = re.compile(r"(?<=[.?!])(?<!Eq\.)(?<!Sec\.) (?=[A-Z(])")
NO_PICTURE = Drawn(b"", "")
"""The Markdown names the file of a picture alone."""


class Mean(float):
    """The mean of a check as the page writes it: in percent if the check is, with three digits."""

    def __format__(self, spec: str) -> str:
        return super().__format__(spec or ".3g")

    @property
    def size(self) -> "Mean":
        """The mean without its sign."""
        return Mean(abs(self))

    @property
    def milli(self) -> "Mean":
        """The mean in thousandths."""
        return Mean(1000 * self)


def page() -> Document:
    """Returns the page."""
    texts = tomllib.loads((DOCS / "page.toml").read_text(encoding="utf-8"))
    papers = sorted(  # studies stand last
        map(framework.load, framework.names()), key=lambda paper: not paper.authors
    )
    records = {paper.name: claims_of(paper.name) for paper in papers}
    rows = [_counts(paper.name, records[paper.name]) for paper in papers]
    blocks: list[Block] = [Paragraph(INTRODUCTION), Paragraph(AGES)]
    blocks.append(Table(("", *Verdict), rows))
    for paper in papers:
        blocks += section(paper, records[paper.name], texts[paper.name])
    return Document(TITLE, blocks)


def claims_of(name: str) -> dict[str, Any]:
    """Returns the record of a paper in docs/papers."""
    record: dict[str, Any] = json.loads((DOCS / name / "claims.json").read_text(encoding="utf-8"))
    return record


def _counts(name: str, record: Record) -> tuple[str, ...]:
    verdicts = Counter(claim["verdict"] for claim in record["claims"])
    return (f"[{name}](#{name})", *(str(verdicts[verdict]) for verdict in Verdict))


def section(paper: Paper, record: Record, texts: Mapping[str, Any]) -> Iterator[Block]:
    """Yields what the page has of a paper.

    Args:
        paper: The paper.
        record: The content of its `claims.json`.
        texts: Its table of page.toml.

    Raises:
        KeyError: A claim has no text.
        ValueError: A text has no claim.
    """
    keys = [_key(claim) for claim in record["claims"]]
    if extra := texts["claims"].keys() - set(keys):
        raise ValueError(f"{paper.name}: page.toml has {min(extra)!r}, and claims.json has not")
    yield Heading(paper.name)
    source = paper.source if paper.authors else f"{paper.title} (a study)."
    yield Paragraph(" ".join((source, *_question_and_advice(record))))
    for verdict in Verdict:
        lines = [
            _line(paper.name, claim, texts["claims"][_key(claim)])
            for claim in record["claims"]
            if claim["verdict"] == verdict
        ]
        if lines:
            yield Paragraph(f"**{verdict.capitalize()}**")
            yield Paragraph("\n".join(lines))
    if other := _elsewhere(record):
        yield Paragraph(other)
    titles = {part.name: part_title(part.name, part.title) for part in paper.parts}
    for name in texts["pictures"]:
        yield Picture(f"{paper.name}/{picture_file(name)}", NO_PICTURE, titles[name], "")


def _key(claim: Record) -> str:
    return f"{claim['part']} {claim['claim']}"


def _question_and_advice(record: Record) -> tuple[str, str]:
    """The first and the last sentence of the abstract."""
    first, *_, last = BETWEEN_SENTENCES.split(record["abstract"])
    return first, last


def _line(paper: str, claim: Record, texts: Sequence[str]) -> str:
    said, here = texts
    here = here.format(*map(_mean, claim["checks"]))
    picture = f"{paper}/{picture_file(claim['part'])}"
    return f"- {said}: [{here}]({picture})"


def _mean(check: Record) -> Mean:
    measured = check["measured"]
    mean = measured["mean"] if isinstance(measured, Mapping) else measured
    return Mean(100 * mean if check["here"].endswith("%") else mean)


def _elsewhere(record: Record) -> str:
    """How many verdicts differ under other conditions, and with which most of them.

    Values that the paper leaves open are no conditions: they count in the verdict itself.
    """
    verdicts = {_key(claim): claim["verdict"] for claim in record["claims"]}
    other = [entry for entry in record["variations"] if not entry["plausible"]]
    different = [entry for entry in other if entry["verdict"] != verdicts[_key(entry)]]
    if not different:
        return ""
    name, most = Counter(entry["variation"] for entry in different).most_common(1)[0]
    every = len({_key(entry) for entry in different})
    differ = "1 verdict differs" if every == 1 else f"{every} verdicts differ"
    if every == most:
        return f"With “{name}”, {differ}."
    return f"With other settings, {differ}; with “{name}”, {most}."
