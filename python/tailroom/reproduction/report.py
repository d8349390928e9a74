"""The report on a reproduced paper: each claim, the paper's number, ours, the verdict, and why."""

from collections.abc import Iterator, Mapping

from tailroom.reports.document import Block, Document, Drawn, Heading, Paragraph, Picture, Table
from tailroom.reproduction import family
from tailroom.reproduction.bounds import Bounds
from tailroom.reproduction.check import SIGNIFICANCE, Check, shown
from tailroom.reproduction.claim import Judgement, Verdict, count
from tailroom.reproduction.form import Form
from tailroom.reproduction.reproduced import ReproducedPart, Reproduction

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
    "of the paper are adjusted for their number (Holm 1979), and a side is undecided if its "
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


def document(done: Reproduction, pictures: Mapping[str, Drawn]) -> Document:
    """The report, with the picture of each part by name."""
    blocks: list[Block] = [*_abstract(done), Paragraph(_summary(done)), *_overview(done)]
    for part in done.parts:
        blocks += _part(part, pictures[part.part.name])
    blocks += [*_variations(done), *_bounds(done.paper.bounds)]
    return Document(f"{done.paper.title}: report", blocks)


def _abstract(done: Reproduction) -> Iterator[Block]:
    everything = len(done.parts) == len(done.paper.parts)
    if done.paper.abstract and everything:
        yield Heading("Abstract")
        yield Paragraph(done.paper.abstract({part.part.name: part.results for part in done.parts}))


def _summary(done: Reproduction) -> str:
    paper = done.paper
    judgements = [judgement for part in done.parts for _, judgement in part.judged]
    counts = count(judgements)
    words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    met = [
        judgement.verdict is Verdict.HOLDS
        for part in done.parts
        for _, judgement in part.conditions
    ]
    conditions = f" Conditions on the runs: {sum(met)} of {len(met)} met." if met else ""
    return (
        f"{paper.authors}: {paper.title}. {paper.venue}. Claims: {words}.{conditions} "
        f"{FORMS[done.form]} {done.runs:,} runs of tailroom (engine {done.engine[:12]}), seeds "
        f"from {paper.first_seed}. "
        + RULES.format(sides=family.size(judgements), significance=SIGNIFICANCE)
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
    yield Picture(picture_file(name), drawn, title, part.part.caption)
    for paragraph in filter(None, part.part.note.split("\n\n")):
        yield Paragraph(" ".join(paragraph.split()))
    for claim, judgement in part.judged:
        yield from _claim(f"{claim.text} ({claim.place}): {judgement.verdict}", judgement)
    for condition, judgement in part.conditions:
        met = "met" if judgement.verdict is Verdict.HOLDS else "not met"
        yield from _claim(f"Condition: {condition.text}: {met}", judgement)


def _claim(title: str, judgement: Judgement) -> Iterator[Block]:
    yield Heading(title, 3)
    rows = [_row(check) for check in judgement.checks]
    headings = ("", "the claim", "here", "adjusted p", "holds")
    yield Table(headings, rows, SIDE_COLOURS)
    for check in judgement.checks:
        if check.depends_on:
            variations = "; ".join(check.depends_on)
            yield Paragraph(f"The result for “{check.what}” is reversed by: {variations}.")
    if judgement.explanation:
        yield Paragraph(judgement.explanation)


def _row(check: Check) -> tuple[str, ...]:
    # A side may be a matter of yes and no.
    is_number = check.measured is not None or check.holds is None
    here = shown(check.measured, check.percent) if is_number else ""
    p_value = "" if check.adjusted_p is None else _p_words(check.adjusted_p)
    return (check.what, check.stated, here, p_value, SIDES[check.holds])


def _p_words(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def _variations(done: Reproduction) -> Iterator[Block]:
    """A row per claim and variation: what the verdict depends on."""
    rows = [
        (
            part.part.name,
            claim.text,
            varied.variation.name + ("" if varied.variation.plausible else " (another condition)"),
            str(varied.judgement.verdict),
            "; ".join(
                _flip(check, judgement)
                for check in varied.judgement.checks
                if check.what in varied.flips(judgement)
            ),
        )
        for part in done.parts
        for claim, judgement in part.judged
        for varied in part.varied
        if varied.claim is claim
    ]
    if not rows:
        return
    yield Heading("Sensitivity: what the paper leaves open")
    yield Paragraph(
        "Each claim is judged again with other values of what the paper does not state. The last "
        "column names the sides that are reversed, with their numbers."
    )
    yield Table(("part", "claim", "variation", "verdict", "reversed"), rows, COLOURS)
    reasons = {
        one.variation.name: one.variation.reason for part in done.parts for one in part.varied
    }
    for name, reason in reasons.items():
        if reason:
            yield Paragraph(f"{name}: {reason}")


def _flip(check: Check, base: Judgement) -> str:
    was = next(one for one in base.checks if one.what == check.what)
    return (
        f"{check.what}: {shown(check.measured, check.percent)}, not "
        f"{shown(was.measured, was.percent)}"
    )


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
