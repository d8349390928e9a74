"""The report of a paper as the repository shows it: pictures, and the sides of each claim."""

import re
from collections.abc import Iterable, Iterator, Sequence

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

WHOLE = "[Verdicts](../../guide/papers.md#verdicts); the [whole report](../index.md)."
CONDITIONS = (
    "{tried} claims were also judged with other hosts or settings than those of the paper or "
    "study. This changes no verdict of the report. "
)
DIFFERENT = "The verdicts that differ:"
EQUAL = "No verdict differs."
MOST_WORDS = 8
"""Of a claim that is named once more."""
SENTENCE = re.compile(r".+?(?<!\bEq)(?<!\bSec)(?<!\bet al)[.?!](?=\s+[A-Z(]|$)", re.DOTALL)
BETWEEN_SENTENCES = re.compile(r"(?<=[.?!])(?<!Eq\.)(?<!Sec\.) (?=[A-Z(])")
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
    blocks.append(Paragraph(WHOLE))
    for part, caption in zip(parts, captions(parts), strict=True):
        blocks.append(Heading(part_title(part.name, part.title)))
        blocks.append(Picture(picture_file(part.name), NO_PICTURE, part.name, caption))
        rows = [row for claim in of_part(part, record["claims"]) for row in _rows(claim, record)]
        if rows:
            blocks.append(Table(("claim", "side", "here", "holds"), rows))
    blocks += _conditions(record)
    return Document(paper.report_title, blocks)


def captions(parts: Iterable[Part]) -> Iterator[str]:
    """Yields the caption of each part; what an earlier picture says is not repeated.

    Args:
        parts: The parts of a paper, in their order.
    """
    known: dict[str, str] = {}
    for part in parts:
        sentences = BETWEEN_SENTENCES.split(part.caption)
        earlier = [known[sentence] for sentence in sentences if sentence in known]
        new = [sentence for sentence in sentences if sentence not in known]
        if earlier:
            new.append(f"{'Otherwise as' if new else 'As'} in {earlier[0]}.")
        yield " ".join(new)
        title = part_title(part.name, part.title)
        label = title.partition(":")[0] if title != part.title else f"“{title}”"
        known = {**dict.fromkeys(sentences, label), **known}


def _rows(claim: Record, record: Record) -> Iterator[tuple[str, ...]]:
    """A row per side; the first has the claim, its verdict, and why."""
    text = f"{claim['text']} ({claim['place']}): **{claim['verdict']}**. "
    text += first_sentence(claim["why"])
    stated = ""
    for place, check in enumerate(claim["checks"]):
        bound = "" if check["stated"] == stated else f": {check['stated']}"
        holds = _holds(place, check, _varied(claim, record))
        yield text, check["what"] + bound, check["here"], holds
        text, stated = "", check["stated"]


def _varied(claim: Record, record: Record) -> list[Record]:
    return [entry for entry in record["variations"] if _key(entry) == _key(claim)]


def _holds(place: int, check: Record, varied: Sequence[Record]) -> str:
    """Whether a side holds; if variations reverse it, with each of them and without."""
    outcome = SIDES[check["holds"]]
    if not check["depends_on"]:
        return outcome
    reversing = [entry for entry in varied if entry["variation"] in check["depends_on"]]
    if not reversing:  # the part has judged the side under both itself
        return f"{outcome}: reversed with {_names(check['depends_on'])}"
    with_them = reversing[0]["checks"][place]["holds"]
    others = ", ".join(
        f"“{entry['variation']}”{_number(check['what'], entry['reversed'])}" for entry in reversing
    )
    return f"{outcome}: {SIDES[not with_them]} as set up, {SIDES[with_them]} with {others}"


def _number(what: str, reversed_sides: Sequence[str]) -> str:
    begin = f"{what}: "
    found = [side.removeprefix(begin) for side in reversed_sides if side.startswith(begin)]
    return f" ({found[0].partition(', not ')[0]})" if found else ""


def _conditions(record: Record) -> Iterator[Block]:
    """The verdicts that differ under other conditions, and what the conditions are.

    Values that the paper leaves open are no conditions: they count in the verdict itself.
    """
    elsewhere = [entry for entry in record["variations"] if not entry["plausible"]]
    if not elsewhere:
        return
    rows = []
    for claim in record["claims"]:
        varied = _varied(claim, {"variations": elsewhere})
        other = [entry for entry in varied if entry["verdict"] != claim["verdict"]]
        if other:
            rows.append((claim["part"], _begun(claim["text"]), claim["verdict"], _verdicts(other)))
    tried = len({_key(entry) for entry in elsewhere})
    yield Heading("Under other conditions")
    yield Paragraph(CONDITIONS.format(tried=tried) + (DIFFERENT if rows else EQUAL))
    if rows:
        yield Table(("part", "claim", "verdict", "under another condition"), rows)
    reasons = {entry["variation"]: entry["reason"] for entry in elsewhere}
    for reason in dict.fromkeys(filter(None, reasons.values())):
        yield Paragraph(f"{_names(name for name in reasons if reasons[name] == reason)}: {reason}")


def _begun(claim: str) -> str:
    """The first words of a claim, which stands in full above."""
    words = claim.split()
    return claim if len(words) <= MOST_WORDS else " ".join([*words[:MOST_WORDS], "..."])


def _key(entry: Record) -> tuple[str, str]:
    return entry["part"], entry["claim"]


def _verdicts(varied: Sequence[Record]) -> str:
    """Each verdict with its conditions."""
    found = dict.fromkeys(entry["verdict"] for entry in varied)
    return "; ".join(
        f"**{verdict}** with "
        + _names(entry["variation"] for entry in varied if entry["verdict"] == verdict)
        for verdict in found
    )


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def first_sentence(text: str) -> str:
    """Returns the first sentence of an explanation.

    Args:
        text: Sentences; an abbreviation such as "Eq. 5" does not end one.
    """
    found = SENTENCE.match(text)
    return found[0] if found else text
