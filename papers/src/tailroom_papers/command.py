"""`tailroom papers`: reproduce the figures, tables and claims of papers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from tailroom import figure_titles
from tailroom.cli import completion, failures, report
from tailroom.cli.lazy_commands import ending
from tailroom.cli.list import print_on_a_line
from tailroom.cli.options import ClusterAddress, NoTitle, Workers
from tailroom.cli.progress import runs_bar
from tailroom.cli.sentences import say
from tailroom.cli.terminal_text import escape
from tailroom.execution.progress import RunProgress
from tailroom.storage.output import output_directory
from tailroom_papers import framework
from tailroom_papers.framework.checked_report import draw_again, write_report
from tailroom_papers.framework.plan import count_runs

COLOURS = {
    "holds": "green",
    "holds in part": "yellow",
    "does not hold": "bold red",
    "undecided": "blue",
}

app = typer.Typer(
    help="List the papers; `show` prints the claims of one, `run` reproduces it.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
)


@completion.completer
def paper_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Papers that are installed."""
    return iter(framework.names())


@completion.completer
def part_names(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """Parts of the paper that is named earlier in the command."""
    papers = set(completion.named_arguments(ctx)) & set(framework.names())
    return (part.name for name in papers for part in framework.load(name).parts)


_NAME = typer.Argument(
    metavar="NAME",
    help="Name of a paper, as `tailroom papers` lists it.",
    autocompletion=paper_names,
)
PaperName = Annotated[str, _NAME]
OptionalPaperName = Annotated[str | None, _NAME]


@app.callback()
def papers(context: typer.Context) -> None:
    """List the papers; `show` prints the figures, tables and claims of one, `run` reproduces it."""
    if not context.invoked_subcommand:
        list_papers()


@app.command("list", epilog=ending("papers list barman-2004"))
def list_papers(name: OptionalPaperName = None) -> None:
    """List the papers, a line each; with a NAME, print its figures, tables and claims."""
    if name is not None:
        show_paper(name)
        return
    with failures.reported():
        console = Console(highlight=False)
        every = sorted(  # studies stand last
            map(framework.load, framework.names()), key=lambda paper: not paper.authors
        )
        widest = max((len(paper.name) for paper in every), default=0)
        for paper in every:
            line = Text.assemble((f"{paper.name:{widest}}", "bold"), f"  {paper.title}")
            print_on_a_line(line, console)


@app.command("show", epilog=ending("papers show barman-2004"))
def show_paper(name: PaperName) -> None:
    """Print the figures, tables and claims of a paper, and how long its reproduction takes."""
    with failures.reported():
        _show_paper(framework.load(name), Console(highlight=False))


@app.command("run", epilog=ending("papers run barman-2004 --figure 3"))
def run_paper(  # noqa: PLR0913 - one argument an option
    name: PaperName,
    *,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Reproduce only this figure, table or question; with --check, judge only its "
            "claims. May be repeated.",
            autocompletion=part_names,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Use fewer points and seeds and shorter runs: about a minute."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for runs, data, pictures and report (default: papers/NAME or "
            "papers/NAME-quick). An interrupted reproduction continues in its directory. With "
            "--check: a new directory for the report of DIR, or with --figure for this figure, "
            "drawn from the data (default: none).",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Run nothing: judge the claims from the data next to the report in DIR, and "
            "compare the verdicts with the report's. The exit status is 1 if one differs.",
        ),
    ] = None,
    no_title: NoTitle = False,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print claims and verdicts as JSON.")
    ] = False,
) -> None:
    """Reproduce a paper: data, pictures, and a report with a verdict on each claim."""
    place = out or Path("papers") / (f"{name}-quick" if quick else name)
    with failures.reported(partial(_kept, place)):
        paper = framework.load(name)
        parts = framework.parts_of(paper, figure or [])
        if check is not None:
            if not figure_titles.are_wanted() and not (figure and out):
                raise failures.InputError(
                    "--no-title: --check draws pictures only with --figure and --out; add them, or "
                    "leave it out"
                )
            _check(paper, check, [part.name for part in parts] if figure else None, out)
            return
        form = framework.Form.QUICK if quick else framework.Form.FULL
        with runs_bar() as progress:
            done = framework.reproduce(
                paper,
                place,
                parts=parts,
                form=form,
                workers=workers,
                executor=cluster,
                progress=progress,
            )
        if json:
            print((place / "claims.json").read_text(encoding="utf-8"))
        else:
            show(done, Console(highlight=False))
            print(f"The report is {place / 'report.html'}, also as report.md")


def _kept(place: Path, last: RunProgress) -> str:
    """Says what an interrupted reproduction has, and how to continue it."""
    kept = f"{last.done:,} of {last.total:,} runs are kept"
    if last.done == last.total:
        kept = f"all {last.total:,} runs are in {place}, but its report is not complete"
    return f"{kept}; to continue, give the same command again: {failures.this_command()}"


def _check(
    paper: framework.Paper, directory: Path, figures: Sequence[str] | None, out: Path | None
) -> None:
    """Prints which verdicts of a report do not follow from the data next to it; writes the report.

    Args:
        paper: The paper.
        directory: The directory of the report.
        figures: Names of the only parts to judge and to draw; `None` for all, and for the report.
        out: New directory for what is written.

    Raises:
        typer.Exit: A verdict differs; the exit status is 1.
    """
    with output_directory(out) if out else nullcontext() as new:
        checked = framework.recheck(paper, directory, figures)
        if new and figures is None:
            new.write(lambda place: write_report(paper, directory, place), rescue=False)
            print(f"The report is {out}/report.html, also as report.md")
        elif new:
            new.write(lambda place: draw_again(checked.parts, place), rescue=False)
            print(f"The pictures are in {out}, as PNG and SVG")
    for difference in checked.differences:
        print(f"{directory}: {difference}")
    claims = sum(len(part.judged) for part in checked.parts)
    print(f"{claims} claims judged from the data; {len(checked.differences)} verdicts differ.")
    if checked.differences:
        raise typer.Exit(1)


def _show_paper(paper: framework.Paper, console: Console) -> None:
    console.print(Text(paper.name, style="bold"))
    say(console, escape(f"  {paper.source} {paper.times}"), is_one_line=False)
    for part in paper.parts:
        runs = count_runs(part, framework.Form.FULL)
        needs = f" (about {runs:,} runs)" if runs > 1 else ""
        console.print(Text(f"  {part.name}: {part.title}{needs}"), soft_wrap=True)
        for claim in part.claims:
            console.print(Text(f"      {claim.text} ({claim.place})", style="dim"), soft_wrap=True)


def show(done: framework.Reproduction, console: Console) -> None:
    """Prints a row per claim and the number of claims per verdict."""
    table = report.table_of(escape(done.paper.title), "claim", "part", "verdict")
    verdicts = []
    for part in done.parts:
        for claim, judgement in part.judged:
            colour = COLOURS[judgement.verdict]
            verdicts.append(str(judgement.verdict))
            table.add_row(
                f"{escape(claim.text)}\n[dim]{escape(judgement.explanation)}[/dim]",
                part.part.name,
                f"[{colour}]{judgement.verdict}[/{colour}]",
            )
    console.print(table)
    console.print(f"{_counted(verdicts)}; {done.runs:,} runs.")


def _counted(verdicts: Iterable[str]) -> str:
    counts = Counter(verdicts)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in COLOURS)
