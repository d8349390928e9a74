"""A report card as text: Markdown, and a page of HTML that needs no other file."""

import base64
import io
from html import escape

from tailroom.confidence import Interval
from tailroom.evaluate import Evaluation, Finding

PICTURE = "report_card.png"
DOTS_PER_INCH = 130
COLUMNS = ("criterion", "RFC 9743", "verdict", "at", "measured")
HTML = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; }}
th, td {{ border-bottom: 1px solid #ccc; padding: 0.3em 0.6em; text-align: left; }}
td {{ vertical-align: top; }}
.pass {{ color: #006d4e; }} .caution {{ color: #a35f00; }} .fail {{ color: #b00020; }}
img {{ max-width: 100%; }}
</style>
<h1>{title}</h1>
<p>{summary}</p>
<table>
<tr>{headings}</tr>
{rows}
</table>
<p><img src="data:image/png;base64,{picture}" alt="A panel for each criterion"></p>
<h2>What the verdicts depend on</h2>
<table>
<tr><th>criterion</th><th>experiment</th><th>threshold</th><th>source</th></tr>
{thresholds}
</table>
</html>
"""


def picture(evaluation: Evaluation) -> bytes:
    """The page of pictures as a PNG file."""
    file = io.BytesIO()
    evaluation.plot().savefig(file, format="png", dpi=DOTS_PER_INCH)
    return file.getvalue()


def markdown(evaluation: Evaluation) -> str:
    """The report with the picture as a file beside it."""
    lines = [f"# {_title(evaluation)}", "", _summary(evaluation), ""]
    lines += _table(COLUMNS, [_row(found) for found in evaluation.findings])
    lines += ["", f"![A panel for each criterion]({PICTURE})", ""]
    lines += ["## What the verdicts depend on", ""]
    headings = ("criterion", "experiment", "threshold", "source")
    lines += _table(headings, [_thresholds(found) for found in evaluation.findings])
    return "\n".join(lines) + "\n"


def html(evaluation: Evaluation, png: bytes) -> str:
    """The report with the picture inside."""
    rows = []
    for found in evaluation.findings:
        cells = "".join(
            f'<td class="{found.verdict}">{escape(cell)}</td>'
            if cell == found.verdict
            else f"<td>{escape(cell)}</td>"
            for cell in _row(found)
        )
        rows.append(f"<tr>{cells}</tr>")
    thresholds = [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _thresholds(found)) + "</tr>"
        for found in evaluation.findings
    ]
    return HTML.format(
        title=escape(_title(evaluation)),
        summary=escape(_summary(evaluation)),
        headings="".join(f"<th>{heading}</th>" for heading in COLUMNS),
        rows="\n".join(rows),
        picture=base64.b64encode(png).decode(),
        thresholds="\n".join(thresholds),
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


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [headings, ("---",) * len(headings), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
