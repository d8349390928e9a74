"""A report card as a document: Markdown, or a page of HTML that needs no other file."""

import io

from tailroom.confidence import Interval
from tailroom.document import Document, Heading, Paragraph, Picture, Table
from tailroom.evaluate import Evaluation, Finding

PICTURE = "report_card.png"
DOTS_PER_INCH = 130
COLUMNS = ("criterion", "RFC 9743", "verdict", "at", "measured")
COLOURS = {"pass": "good", "caution": "middling", "fail": "bad"}


def picture(evaluation: Evaluation) -> bytes:
    """The page of pictures as a PNG file."""
    file = io.BytesIO()
    evaluation.plot().savefig(file, format="png", dpi=DOTS_PER_INCH)
    return file.getvalue()


def document(evaluation: Evaluation, png: bytes) -> Document:
    """The report."""
    thresholds = [_thresholds(found) for found in evaluation.findings]
    return Document(
        _title(evaluation),
        [
            Paragraph(_summary(evaluation)),
            Table(COLUMNS, [_row(found) for found in evaluation.findings], COLOURS),
            Picture(PICTURE, png, "A panel for each criterion"),
            Heading("What the verdicts depend on"),
            Table(("criterion", "experiment", "threshold", "source"), thresholds),
        ],
    )


def measured(found: Finding) -> str:
    """The quantity at the decisive point, for each control."""
    values = found.decisive.values
    numbers = [f"{name} {_number(value)}" for name, value in values.items()]
    return f"{found.criterion.quantity}: {', '.join(numbers)}"


def threshold(found: Finding) -> str:
    """When the verdict is a pass, a caution or a fail, in words."""
    criterion = found.criterion
    side = "at least" if criterion.better == "higher" else "at most"
    if criterion.by == "difference":
        sign = "-" if criterion.better == "higher" else "+"
        limits = [f"reference {sign} {one:g}" for one in (criterion.caution, criterion.failure)]
    else:
        limits = [f"{one:g} x reference" for one in (criterion.caution, criterion.failure)]
    return (
        f"pass: {side} {criterion.harmless:g}, or {side} {limits[0]}; "
        f"fail: not even {side} {limits[1]}"
    )


def _title(evaluation: Evaluation) -> str:
    return f"{evaluation.control} on the criteria of RFC 9743"


def _summary(evaluation: Evaluation) -> str:
    counts: dict[str, int] = {"pass": 0, "caution": 0, "fail": 0}
    for found in evaluation.findings:
        counts[found.verdict] += 1
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    quick = " A quick look: fewer points, seeds and seconds." if evaluation.quick else ""
    return (
        f"{words}; against the less good of {' and '.join(evaluation.references)} at each point, "
        f"{evaluation.runs.num_rows} runs.{quick} RFC 9743 gives no thresholds; these are ours. "
        "Intervals are 95 % confidence."
    )


def _row(found: Finding) -> tuple[str, ...]:
    criterion = found.criterion
    at = found.decisive.label
    return (criterion.title, criterion.section, str(found.verdict), at, measured(found))


def _thresholds(found: Finding) -> tuple[str, ...]:
    criterion = found.criterion
    return (criterion.title, found.experiment.shows, threshold(found), criterion.reason)


def _number(value: Interval | None) -> str:
    if value is None:
        return "undefined"
    return f"{value.mean:.4g} +- {value.half_width:.2g}"
