"""The report on a reproduced paper: each claim, the paper's number, ours, the verdict, and why."""

from collections.abc import Iterator, Mapping

from tailroom import _engine
from tailroom.reports.document import Block, Document, Drawn, Heading, Paragraph, Picture, Table
from tailroom.reproduction.claim import Check, Claim, Judgement, Verdict, count, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.reproduced import ReproducedPart, Reproduction

COLOURS = {
    Verdict.HOLDS.value: "good",
    Verdict.IN_PART.value: "middling",
    Verdict.DOES_NOT_HOLD.value: "bad",
}
SIDES = {True: "yes", False: "no", None: "open"}
FORMS = {
    Form.SMOKE: "Smoke form: a few seconds of simulation, which show that nothing is broken.",
    Form.QUICK: "Quick form: fewer points and seeds, shorter runs than the full form.",
    Form.FULL: "Full form: the paper's durations where it gives them, all points and seeds.",
}


def picture_file(part: str) -> str:
    """The name of a part's picture."""
    return f"figure-{part}.png" if part[0].isdigit() else f"{part}.png"


def part_title(name: str, title: str) -> str:
    """A part as a reader looks for it: by its number in the paper, if it has one."""
    return f"Figure {name}: {title}" if name[0].isdigit() else title


def document(done: Reproduction, pictures: Mapping[str, Drawn]) -> Document:
    """The report, with the picture of each part by name."""
    blocks: list[Block] = [Paragraph(_summary(done)), *_overview(done)]
    for part in done.parts:
        blocks += _part(part, pictures[part.part.name])
    return Document(f"{done.paper.title}: reproduced", blocks)


def _summary(done: Reproduction) -> str:
    paper = done.paper
    counts = count([judgement for part in done.parts for _, judgement in part.judged])
    words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    return (
        f"{paper.authors}: {paper.title}. {paper.venue}. Claims: {words}. {FORMS[done.form]} "
        f"{done.runs:,} runs of tailroom (engine {_engine.build()[:12]}). Numbers are means with "
        "95 % confidence intervals over runs with different seeds. A claim holds if all its sides "
        "do, does not hold if none does and not all are open, and holds in part otherwise; a side "
        "is open if the interval includes its bound."
    )


def _overview(done: Reproduction) -> Iterator[Block]:
    rows = [
        (part.part.name, claim.text, claim.place, str(judgement.verdict))
        for part in done.parts
        for claim, judgement in part.judged
    ]
    if rows:
        yield Table(("part", "claim", "where", "verdict"), rows, COLOURS)


def _part(part: ReproducedPart, drawn: Drawn) -> Iterator[Block]:
    name, title = part.part.name, part.part.title
    yield Heading(part_title(name, title))
    yield Picture(picture_file(name), drawn, title)
    for paragraph in filter(None, part.part.note.split("\n\n")):
        yield Paragraph(" ".join(paragraph.split()))
    for claim, judgement in part.judged:
        yield from _claim(claim, judgement)


def _claim(claim: Claim, judgement: Judgement) -> Iterator[Block]:
    yield Heading(f"{claim.text} ({claim.place}): {judgement.verdict}", 3)
    rows = [_row(check) for check in judgement.checks]
    yield Table(("", "the paper", "here", "holds"), rows, {"yes": "good", "no": "bad"})
    yield Paragraph(judgement.why)


def _row(check: Check) -> tuple[str, ...]:
    # A side may be a matter of yes and no.
    is_number = check.measured is not None or check.holds is None
    here = shown(check.measured, check.percent) if is_number else ""
    return (check.what, check.stated, here, SIDES[check.holds])
