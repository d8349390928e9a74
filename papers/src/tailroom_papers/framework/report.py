"""The report on a reproduced paper: each claim, the paper's number, ours, the verdict, and why.

It follows from the paper, the record in `claims.json` and the pictures, without any run.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailroom.reports.document import Block, Document, Drawn, Heading, Paragraph, Picture, Table
from tailroom_papers.framework.bounds import Bounds
from tailroom_papers.framework.check import SIGNIFICANCE
from tailroom_papers.framework.claim import Verdict
from tailroom_papers.framework.paper import Paper, Part
from tailroom_papers.framework.study import Form

Record = Mapping[str, Any]
"""The content of `claims.json`."""

COLOURS = {
    Verdict.HOLDS.value: "good",
    Verdict.IN_PART.value: "middling",
    Verdict.DOES_NOT_HOLD.value: "bad",
    Verdict.UNDECIDED.value: "open",
}
SIDES = {True: "yes", False: "no", None: "undecided"}
SIDE_COLOURS = {"yes": "good", "no": "bad", "undecided": "open"}
FORMS = {
    Form.SMOKE: "Smoke form: a few seconds of simulation, which show that nothing is broken.",
    Form.QUICK: "Quick form: fewer points and seeds, and shorter runs, than the full form.",
    Form.FULL: "Full form: the paper's durations where it gives them, all points and seeds.",
}
RULES = (
    "A claim holds if every side holds, holds in part if some sides hold and others fail, does "
    "not hold if none holds and at least one fails, and is undecided if none fails but at least "
    "one is undecided. A side is a t test of a mean over runs with different seeds against a "
    "bound; numbers are given with 95 % confidence intervals. The p-values of all {sides} sides "
    "are adjusted for their number (Holm 1979), and a side is undecided if its "
    "adjusted p-value exceeds {significance:g}. A side is also undecided if a plausible value of "
    "something that the paper leaves open reverses it. Bounds that the paper does not state are "
    "listed at the end with their reasons."
)


def picture_file(part: str) -> str:
    """The name of a part's picture."""
    return f"figure-{part}.png" if part[0].isdigit() else f"{part}.png"


def part_title(name: str, title: str) -> str:
    """A part as a reader looks for it: by its number in the paper, if it has one."""
    return f"Figure {name}: {title}" if name[0].isdigit() else title


def document(
    paper: Paper, parts: Sequence[Part], record: Record, pictures: Mapping[str, Drawn]
) -> Document:
    """Returns the report.

    Args:
        paper: The paper.
        parts: Its reproduced parts.
        record: The content of `claims.json`.
        pictures: The picture of each part, by name.
    """
    blocks: list[Block] = [*abstract(record), Paragraph(_summary(paper, record))]
    blocks += _overview(record)
    for part in parts:
        blocks += _part(part, record, pictures[part.name])
    blocks += [*_variations(record), *_bounds(paper.bounds)]
    return Document(paper.report_title, blocks)


def abstract(record: Record) -> Iterator[Block]:
    """Yields the abstract, if all parts are reproduced and the paper has one.

    Args:
        record: The content of `claims.json`.
    """
    if record["abstract"]:
        yield Heading("Abstract")
        yield Paragraph(record["abstract"])


def counts(paper: Paper, record: Record) -> str:
    """Returns the source, the number of claims per verdict, the form, and the runs.

    Args:
        paper: The paper.
        record: The content of `claims.json`. Its `added`, if any, lists the variations whose runs
            are of another engine than those of the record.
    """
    verdicts = [claim["verdict"] for claim in record["claims"]]
    words = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in Verdict)
    met = [condition["verdict"] == Verdict.HOLDS for condition in record["conditions"]]
    conditions = f" Conditions on the runs: {sum(met)} of {len(met)} met." if met else ""
    added = "".join(
        f" {one['runs']:,} more runs with “{one['variation']}” (engine {one['engine'][:12]})."
        for one in record.get("added", ())
    )
    return (
        f"{paper.source} Claims: {words}.{conditions} "
        f"{FORMS[Form(record['form'])]} {record['runs']:,} runs of tailroom (engine "
        f"{record['engine'][:12]}), seeds from {record['first_seed']}.{added}"
    )


def of_part(part: Part, entries: Sequence[Record]) -> list[Record]:
    """Returns the claims, conditions or variations that belong to a part.

    Args:
        part: The part.
        entries: Claims, conditions or variations of `claims.json`.
    """
    return [entry for entry in entries if entry["part"] == part.name]


def _summary(paper: Paper, record: Record) -> str:
    tests = sum(
        check["adjusted_p"] is not None for claim in record["claims"] for check in claim["checks"]
    )
    return f"{counts(paper, record)} {RULES.format(sides=tests, significance=SIGNIFICANCE)}"


def _overview(record: Record) -> Iterator[Block]:
    rows = [
        (claim["part"], claim["text"], claim["place"], claim["verdict"])
        for claim in record["claims"]
    ]
    if rows:
        yield Table(("part", "claim", "where", "verdict"), rows, COLOURS)


def _part(part: Part, record: Record, drawn: Drawn) -> Iterator[Block]:
    yield Heading(part_title(part.name, part.title))
    yield Picture(picture_file(part.name), drawn, part.title, part.caption)
    for paragraph in filter(None, part.note.split("\n\n")):
        yield Paragraph(" ".join(paragraph.split()))
    for claim in of_part(part, record["claims"]):
        yield from _claim(f"{claim['text']} ({claim['place']}): {claim['verdict']}", claim)
    for condition in of_part(part, record["conditions"]):
        met = "met" if condition["verdict"] == Verdict.HOLDS else "not met"
        yield from _claim(f"Condition: {condition['text']}: {met}", condition)


def _claim(title: str, claim: Record) -> Iterator[Block]:
    yield Heading(title, 3)
    rows = [_row(check) for check in claim["checks"]]
    headings = ("", "the claim", "here", "adjusted p", "holds")
    yield Table(headings, rows, SIDE_COLOURS)
    for check in claim["checks"]:
        if check["depends_on"]:
            variations = "; ".join(check["depends_on"])
            yield Paragraph(f"The result for “{check['what']}” is reversed by: {variations}.")
    if claim["why"]:
        yield Paragraph(claim["why"])


def _row(check: Record) -> tuple[str, ...]:
    p_value = "" if check["adjusted_p"] is None else _p_words(check["adjusted_p"])
    return (check["what"], check["stated"], check["here"], p_value, SIDES[check["holds"]])


def _p_words(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def _variations(record: Record) -> Iterator[Block]:
    """A row per claim and variation: what the verdict depends on."""
    if not record["variations"]:
        return
    texts = {(claim["part"], claim["claim"]): claim["text"] for claim in record["claims"]}
    rows = [
        (
            varied["part"],
            texts[varied["part"], varied["claim"]],
            varied["variation"] + ("" if varied["plausible"] else " (another condition)"),
            varied["verdict"],
            "; ".join(varied["reversed"]),
        )
        for varied in record["variations"]
    ]
    yield Heading("Sensitivity: what the paper leaves open")
    yield Paragraph(
        "Each claim is judged again with other values of what the paper does not state. The last "
        "column names the sides that are reversed, with their numbers."
    )
    yield Table(("part", "claim", "variation", "verdict", "reversed"), rows, COLOURS)
    reasons = {varied["variation"]: varied["reason"] for varied in record["variations"]}
    for name, reason in reasons.items():
        if reason:
            yield Paragraph(f"{name}: {reason}")


def _bounds(bounds: Bounds) -> Iterator[Block]:
    read = [bound for bound in bounds.values() if bound.reason]
    if not read:
        return
    yield Heading("Bounds")
    yield Paragraph(
        f"Committed on {bounds.committed}, before the runs of this report. The last column says "
        "whether results of earlier runs were known when the bound was chosen."
    )
    rows = [
        (
            bound.words,
            " to ".join(f"{value:g}" for value in bound.values),
            bound.reason,
            "yes" if bound.known else "no",
        )
        for bound in read
    ]
    yield Table(("the paper's words", "bound", "reason", "results known"), rows)
