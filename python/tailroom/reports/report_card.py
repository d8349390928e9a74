"""A report card as a document: Markdown or a self-contained HTML page."""

from pathlib import Path

from tailroom.arguments import named
from tailroom.reports.document import Document, Drawn, Heading, Paragraph, Picture, Table
from tailroom.reports.picture import render
from tailroom.statistics.intervals import Interval
from tailroom.studies.report_card.evaluation import Evaluation, Finding
from tailroom.studies.report_card.verdict import Grade
from tailroom.written_numbers import two_digits

PICTURE = "report_card.png"
DOTS_PER_INCH = 130
COLOURS = {"pass": "good", "caution": "middling", "undecided": "open", "fail": "bad"}


def picture(evaluation: Evaluation) -> Drawn:
    """The picture of the card."""
    return render(evaluation.plot(), DOTS_PER_INCH)


def write(evaluation: Evaluation, directory: Path) -> None:
    """Writes `report.md`, `report.html` and the picture into an existing directory."""
    card = picture(evaluation)
    (directory / PICTURE).write_bytes(card.png)
    report = document(evaluation, card)
    (directory / "report.md").write_text(report.markdown(), encoding="utf-8")
    (directory / "report.html").write_text(report.html(), encoding="utf-8")


def document(evaluation: Evaluation, card: Drawn) -> Document:
    """The report with its tables and the picture."""
    thresholds = [_thresholds(finding) for finding in evaluation.findings]
    return Document(
        _title(evaluation),
        [
            Paragraph(_summary(evaluation)),
            Table(
                ("criterion", f"RFC {evaluation.card.rfc}", "verdict", "at", "measured"),
                [_row(finding) for finding in evaluation.findings],
                COLOURS,
            ),
            Picture(PICTURE, card, "One panel per criterion"),
            Heading("Experiments and thresholds"),
            Table(("criterion", "experiment", "threshold", "source"), thresholds),
        ],
    )


def measured(finding: Finding) -> str:
    """The quantity at the decisive point, for each control."""
    values = finding.decisive.values
    numbers = [f"{name} {_number(value)}" for name, value in values.items()]
    return f"{finding.criterion.quantity}: {', '.join(numbers)}"


def threshold(finding: Finding) -> str:
    """Returns the conditions of a pass and of a fail, in words."""
    criterion = finding.criterion
    side, beyond = ("at least", "below") if criterion.better == "higher" else ("at most", "above")
    if criterion.by == "difference":
        sign = "-" if criterion.better == "higher" else "+"
        limits = [f"reference {sign} {limit:g}" for limit in (criterion.caution, criterion.failure)]
    else:
        limits = [f"{limit:g} x reference" for limit in (criterion.caution, criterion.failure)]
    return (
        f"pass if the interval is {side} {criterion.harmless:g} or {side} {limits[0]}; "
        f"fail if it is {beyond} {limits[1]}"
    )


def _title(evaluation: Evaluation) -> str:
    return f"{evaluation.tested} on the criteria of RFC {evaluation.card.rfc}"


def _summary(evaluation: Evaluation) -> str:
    words = ", ".join(f"{evaluation.count(verdict)} {verdict}" for verdict in Grade)
    card = evaluation.card
    quick = " A quick card has fewer points and seeds and shorter runs." if evaluation.quick else ""
    return (
        f"{words}; compared with the worse of {' and '.join(card.references)} at each point"
        f"{_also_measured(card.also_measured)}, "
        f"{evaluation.runs.num_rows} runs.{quick} RFC {card.rfc} gives no thresholds; "
        "these are ours. "
        "Intervals have 95 % confidence. A criterion is undecided if an interval contains a "
        f"threshold; more runs ({named('seeds')}) may be conclusive."
    )


def _also_measured(names: tuple[str, ...]) -> str:
    return f" ({', '.join(names)} are measured too)" if names else ""


def _row(finding: Finding) -> tuple[str, ...]:
    criterion = finding.criterion
    at = finding.decisive.label
    return (criterion.title, criterion.section, str(finding.grading), at, measured(finding))


def _thresholds(finding: Finding) -> tuple[str, ...]:
    criterion = finding.criterion
    return (criterion.title, finding.experiment.shows, threshold(finding), criterion.reason)


def _number(value: Interval | None) -> str:
    if value is None:
        return "undefined"
    return f"{value.mean:.4g} {value.plus_minus(two_digits)}"
