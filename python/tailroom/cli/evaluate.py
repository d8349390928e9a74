"""`tailroom evaluate`: a report card for a congestion control or a queue discipline."""

import json as json_text
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tailroom.cli import completion, report
from tailroom.cli.answer import without_pictures, write_and_print
from tailroom.cli.options import Json, NoTitle
from tailroom.cli.progress import runs_bar
from tailroom.cli.signature import options_of
from tailroom.cli.terminal_text import escape
from tailroom.reports.presentation import write
from tailroom.simulation.lower_bounds import MARK
from tailroom.statistics.intervals import Interval
from tailroom.storage.output import output_directory
from tailroom.studies.report_card.evaluation import Evaluation, Finding, evaluate
from tailroom.studies.report_card.verdict import Grade
from tailroom.written_numbers import two_digits

COLOURS = {
    Grade.PASS: "green",
    Grade.CAUTION: "yellow",
    Grade.UNDECIDED: "blue",
    Grade.FAIL: "bold red",
}


@options_of("evaluate")
def evaluate_command(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="CONTROL|DISCIPLINE",
            help="A congestion control or a queue discipline of `tailroom list`, "
            '"module:Class" of your own, or a table '
            "such as \"{ kind = 'aimd', increase = 2.0 }\".",
            autocompletion=completion.evaluated_names,
        ),
    ],
    *,
    json: Json = False,
    no_title: NoTitle = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write report, tables and picture into a new directory."),
    ] = None,
    **options: Any,
) -> None:
    """Compare a congestion control with Reno and CUBIC, or a queue discipline with CoDel and PIE.

    The criteria are those of RFC 9743 for a control and of RFC 7928 for a discipline. A verdict
    compares with the worse of the two references at each point; the report states the threshold and
    its reason. A verdict is undecided if a 95 % confidence interval contains the threshold.
    """
    with output_directory(out) if out else nullcontext() as output:
        with runs_bar() as progress:
            card = evaluate(subject, progress=progress, **options)
        write_and_print(
            output,
            lambda directory: write(card, directory),
            lambda: _print(card, json=json),
            in_place=lambda: without_pictures("the tables", out),
        )
    if out and not json:
        print(f"The report is {out / 'report.html'}, also as report.md")


def _print(card: Evaluation, *, json: bool) -> None:
    if json:
        print(json_text.dumps(card.as_dict(), indent=2))
    else:
        show(card, Console(highlight=False))


def show(card: Evaluation, console: Console) -> None:
    """Prints a row per criterion: the verdict, and the values at the decisive point."""
    title = f"{escape(card.tested)} against {' and '.join(card.card.references)}"
    table = report.table_of(
        title, f"criterion, section of RFC {card.card.rfc}", "verdict", *card.judged
    )
    for finding in card.findings:
        criterion, colour = finding.criterion, COLOURS[finding.verdict]
        values = (finding.decisive.values[name] for name in card.judged)
        table.add_row(
            f"{criterion.title}, {criterion.section}\n"
            f"[dim]{criterion.quantity}; {escape(finding.decisive.label)}[/dim]",
            f"[{colour}]{finding.verdict}[/{colour}]",
            *map(_cell, values),
        )
    console.print(table)
    counts = ", ".join(f"{card.count(verdict)} {verdict}" for verdict in COLOURS)
    console.print(
        f"{counts}; {card.runs.num_rows:,} runs. The values are those of the decisive point; "
        f"RFC {card.card.rfc} gives no thresholds, so they are tailroom's."
    )
    undecided = [finding for finding in card.findings if not finding.grading.is_decided]
    if undecided:
        console.print("Undecided, because an interval contains a threshold (raise --seeds):")
        for finding in undecided:
            console.print(f"  {finding.criterion.title}: {_possible(finding)}")


def _cell(value: Interval | None) -> str:
    if value is None:
        return "-"
    mark = MARK if value.is_lower_bound else ""
    return f"{mark}{value.mean:.4g}\n{value.plus_minus(two_digits, chr(10))}"


def _possible(finding: Finding) -> str:
    """The possible verdicts of an undecided criterion, in words."""
    return str(finding.grading).partition("(")[2].removesuffix(")")
