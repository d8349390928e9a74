"""`tailroom evaluate`: a report card for a congestion control."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tailroom.cli import failures, report
from tailroom.cli.progress import sweep_bar
from tailroom.reports import report_card as evaluation_report
from tailroom.storage.output_directory import output_directory
from tailroom.studies.report_card.evaluation import Evaluation, Finding, evaluate
from tailroom.studies.report_card.verdict import Verdict

COLOURS = {
    Verdict.PASS: "green",
    Verdict.CAUTION: "yellow",
    Verdict.UNDECIDED: "blue",
    Verdict.FAIL: "bold red",
}


def evaluate_command(  # noqa: PLR0913 - one argument an option
    control: Annotated[
        str,
        typer.Argument(
            metavar="CONTROL",
            help='A congestion control of `tailroom list`, "module:Class" of your own, or a table '
            "such as \"{ kind = 'aimd', increase = 2.0 }\".",
        ),
    ],
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points, seeds and seconds: a first look.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=2, help="Runs of each point.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the runs, so that asking again takes no time."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write report.md, report.html and the picture there."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time; all cores if left out.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Hold a congestion control against Reno and CUBIC on the criteria of RFC 9743.

    A verdict compares with the less good of the two at each point; the report says with which
    threshold, and why. Where a 95 % confidence interval contains the threshold, it is undecided.
    """
    with failures.reported():
        if out is None:
            _print(_evaluate(control, quick, seeds, store, workers), json=json)
            return
        with output_directory(out) as staging:
            card = _evaluate(control, quick, seeds, store, workers)
            drawn = evaluation_report.picture(card)
            (staging / evaluation_report.PICTURE).write_bytes(drawn.png)
            report_card = evaluation_report.document(card, drawn)
            (staging / "report.md").write_text(report_card.markdown(), encoding="utf-8")
            (staging / "report.html").write_text(report_card.html(), encoding="utf-8")
        _print(card, json=json)
        if not json:
            print(f"The report is {out / 'report.html'}, also as report.md")


def _evaluate(
    control: str, quick: bool, seeds: int | None, store: Path | None, workers: int | None
) -> Evaluation:
    with sweep_bar() as progress:
        return evaluate(
            control, store=store, quick=quick, seeds=seeds, workers=workers, progress=progress
        )


def _print(card: Evaluation, *, json: bool) -> None:
    if json:
        print(json_text.dumps(card.as_dict(), indent=2))
    else:
        show(card, Console(highlight=False))


def show(card: Evaluation, console: Console) -> None:
    """Prints a row a criterion: the verdict, and the numbers where it falls."""
    title = f"{escape(card.control)} against {' and '.join(card.references)}"
    table = report.table_of(title, "criterion, section of RFC 9743", "verdict", *card.controls)
    for found in card.findings:
        criterion, colour = found.criterion, COLOURS[found.verdict]
        values = (found.decisive.values[name] for name in card.controls)
        table.add_row(
            f"{criterion.title}, {criterion.section}\n"
            f"[dim]{criterion.quantity}; {escape(found.decisive.label)}[/dim]",
            f"[{colour}]{found.verdict}[/{colour}]",
            *(f"{value.mean:.4g}\n+-{value.half_width:.2g}" if value else "-" for value in values),
        )
    console.print(table)
    counts = ", ".join(f"{card.count(verdict)} {verdict}" for verdict in COLOURS)
    console.print(
        f"{counts}; {card.runs.num_rows:,} runs. The numbers are those of the point that decides; "
        "thresholds are tailroom's, as RFC 9743 gives none."
    )
    undecided = [found for found in card.findings if not found.judgement.is_decided]
    if undecided:
        words = (f"{found.criterion.title}: {_possible(found)}" for found in undecided)
        console.print("Undecided, as an interval contains a threshold; more --seeds may tell:")
        for line in words:
            console.print(f"  {line}")


def _possible(found: Finding) -> str:
    return str(found.judgement).partition("(")[2].removesuffix(")")
