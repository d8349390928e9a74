"""A report card as a document: Markdown or a self-contained HTML page."""

from tailroom.reports.document import Document, Drawn, Heading, Paragraph, Picture, Table
from tailroom.statistics.intervals import Interval
from tailroom.studies.report_card.evaluation import Evaluation, Finding
from tailroom.studies.report_card.verdict import Verdict

PICTURE = "report_card.png"
DOTS_PER_INCH = 130
COLUMNS = ("criterion", "RFC 9743", "verdict", "at", "measured")
COLOURS = {"pass": "good", "caution": "middling", "undecided": "open", "fail": "bad"}


def picture(evaluation: Evaluation) -> Drawn:
    """The page of pictures."""
    from tailroom.reports.drawn import drawn  # noqa: PLC0415 - matplotlib takes a second to load

    return drawn(evaluation.plot(), DOTS_PER_INCH)


def document(evaluation: Evaluation, drawn: Drawn) -> Document:
    """The report."""
    thresholds = [_thresholds(found) for found in evaluation.findings]
    return Document(
        _title(evaluation),
        [
            Paragraph(_summary(evaluation)),
            Table(COLUMNS, [_row(found) for found in evaluation.findings], COLOURS),
            Picture(PICTURE, drawn, "A panel for each criterion"),
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
    """Returns the conditions of a pass and of a fail, in words."""
    criterion = found.criterion
    side = "at least" if criterion.better == "higher" else "at most"
    if criterion.by == "difference":
        sign = "-" if criterion.better == "higher" else "+"
        limits = [f"reference {sign} {limit:g}" for limit in (criterion.caution, criterion.failure)]
    else:
        limits = [f"{limit:g} x reference" for limit in (criterion.caution, criterion.failure)]
    return (
        f"pass: surely {side} {criterion.harmless:g}, or surely {side} {limits[0]}; "
        f"fail: surely not even {side} {limits[1]}"
    )


def _title(evaluation: Evaluation) -> str:
    return f"{evaluation.control} on the criteria of RFC 9743"


def _summary(evaluation: Evaluation) -> str:
    words = ", ".join(f"{evaluation.count(verdict)} {verdict}" for verdict in Verdict)
    quick = " A quick look: fewer points, seeds and seconds." if evaluation.quick else ""
    return (
        f"{words}; against the less good of {' and '.join(evaluation.references)} at each point, "
        f"{evaluation.runs.num_rows} runs.{quick} RFC 9743 gives no thresholds; these are ours. "
        "Intervals are 95 % confidence; a criterion is undecided where one contains a threshold, "
        "and more runs (--seeds) may decide it."
    )


def _row(found: Finding) -> tuple[str, ...]:
    criterion = found.criterion
    at = found.decisive.label
    return (criterion.title, criterion.section, str(found.judgement), at, measured(found))


def _thresholds(found: Finding) -> tuple[str, ...]:
    criterion = found.criterion
    return (criterion.title, found.experiment.shows, threshold(found), criterion.reason)


def _number(value: Interval | None) -> str:
    if value is None:
        return "undefined"
    return f"{value.mean:.4g} +- {value.half_width:.2g}"
