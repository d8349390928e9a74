"""`tailroom sweep`: run a scenario at many points and store the runs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tailroom.cli import completion, failures
from tailroom.cli.options import ScenarioFile
from tailroom.cli.progress import runs_bar
from tailroom.cli.signature import options_of
from tailroom.cli.sweep_table import show
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metrics import full_names
from tailroom.studies.sweep_study.study import SweepResult, sweep


def _show_known(metrics: Sequence[str], result: SweepResult) -> str:
    """Shows the points of an interrupted sweep that have runs."""
    done = sum(result.run_counts)
    if done:
        show(result, Console(highlight=False), metrics=metrics, only_finished=True)
    return (
        f"{done:,} of {result.planned_runs:,} runs are kept; "
        f"to continue, give the same command again: {failures.this_command()}"
    )


@options_of("sweep", without=("congestion",))
def sweep_command(
    scenario: ScenarioFile,
    *,
    store: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Directory of the store that keeps the runs; it is created if need be.",
        ),
    ] = Path("tailroom-store"),
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Show this metric in the table, e.g. --metric queue_delay_s_p99 or "
            "--metric call.loss_fraction (default: completion times of queries, and utilization, "
            "loss and mean queueing delay of the links that vary, else of all links, at most of "
            "20). The store has every metric. Repeatable.",
            autocompletion=completion.metric_names,
        ),
    ] = None,
    **options: Any,
) -> None:
    """Run a scenario at every point of a grid, several times each, and keep every run.

    The keys that vary are those of the scenario's [sweep] and of --grid and --together. Runs that
    are in the store are not repeated, so an interrupted sweep continues with the missing runs.
    """
    if metric:
        full_names(Scenario.of(scenario, options.get("set")), metric)
    with failures.reported(partial(_show_known, metric or ())), runs_bar() as progress:
        result = sweep(scenario, store=store, progress=progress, **options)
    show(result, Console(highlight=False), metrics=metric or ())
