"""`tailroom sweep`: run a scenario at many points and store the runs."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tailroom.arguments import COMPARED_RUNS, RUNS
from tailroom.cli import completion, failures
from tailroom.cli.options import (
    AllowCode,
    AllowFiles,
    ClusterAddress,
    ScenarioFile,
    Settings,
    Workers,
    parse_axes,
    parse_settings,
)
from tailroom.cli.progress import runs_bar
from tailroom.cli.sweep_table import show, show_warnings_of_runs
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metrics import full_names
from tailroom.studies.sweep_study.plan import Precision, parse_precision
from tailroom.studies.sweep_study.study import MOST_RUNS, SweepResult, sweep


def sweep_command(  # noqa: PLR0913 - one argument an option
    file: ScenarioFile,
    *,
    store: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory of the store; created if missing.")
    ] = Path("tailroom-store"),
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help='Vary a key, e.g. --grid links.bottleneck.queue.limit="10 packets, 100 packets", '
            'a TOML list, or { from = "10 packets", to = "1000 packets", points = 9, '
            'scale = "log" }. Every combination is a point. May be repeated.',
            autocompletion=completion.axis_keys,
        ),
    ] = None,
    together: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help="Vary several keys together, row by row: the first value of a key goes with "
            "the first values of the others. May be repeated.",
            autocompletion=completion.axis_keys,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=RUNS.least, help="Number of runs per point (default: 5, or as in [sweep])."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC<WIDTH",
            help="Repeat each point until the half-width of the 95 % confidence interval of a "
            'metric is at most WIDTH, e.g. --until "utilization<0.005".',
            autocompletion=completion.metric_names,
        ),
    ] = None,
    at_most: Annotated[
        int,
        typer.Option(
            min=COMPARED_RUNS.least, help="With --until: maximum number of runs per point."
        ),
    ] = Precision.at_most,
    set_: Settings = None,
    series: Annotated[
        bool,
        typer.Option(
            "--series",
            help="Store time series too; they show whether measure_from is late enough.",
        ),
    ] = False,
    phase_check: Annotated[
        bool,
        typer.Option(
            "--phase-check",
            help="Repeat each point, once per seed, with RTTs shifted by less than a packet's "
            "transmission time, and show how far the results change.",
        ),
    ] = False,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Show this metric in the table, e.g. --metric queue_delay_s_p99 or "
            "--metric call.loss_fraction (default: utilization, loss and mean queueing delay of "
            "the links that vary, else of all links). The store has every metric. May be "
            "repeated.",
            autocompletion=completion.metric_names,
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help=f"Allow more than {MOST_RUNS:,} runs.")
    ] = False,
    allow_code: AllowCode = False,
    allow_files: AllowFiles = False,
) -> None:
    """Run a scenario at every point of a grid, several times each, and keep every run.

    The keys that vary are those of the scenario's [sweep] and of --grid and --together. Runs that
    are in the store are not repeated, so an interrupted sweep continues with the missing runs.
    """
    with failures.reported(_show_known):
        settings = parse_settings(set_)
        if metric:
            full_names(Scenario.of(file, settings), metric)
        with runs_bar() as progress:
            result = sweep(
                file,
                store,
                grid=parse_axes("--grid", grid),
                together=parse_axes("--together", together),
                seeds=seeds,
                until=parse_precision("--until", until, at_most) if until else None,
                set=settings,
                series=series,
                phase_check=phase_check or None,
                workers=workers,
                executor=cluster,
                max_runs=10**9 if yes else MOST_RUNS,
                progress=progress,
            )
        console = Console(highlight=False)
        show(result, console, metrics=metric or ())
        show_warnings_of_runs(result, console)


def _show_known(result: SweepResult) -> str:
    """Shows the points of an interrupted sweep that have runs."""
    done = sum(result.run_counts)
    if done:
        show(result, Console(highlight=False), only_finished=True)
    return (
        f"{done:,} of {result.planned_runs:,} runs are kept; "
        f"to continue, give the same command again: {failures.this_command()}"
    )
