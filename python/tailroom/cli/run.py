"""`tailroom run`: simulate a scenario, print or save the results."""

import tomllib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import tailroom
from tailroom.arguments import RUNS
from tailroom.cli import completion, failures, phases, report
from tailroom.cli.answer import write_and_print
from tailroom.cli.options import (
    AllowCode,
    AllowFiles,
    ClusterAddress,
    ScenarioFiles,
    Seed,
    Settings,
    Workers,
    parse_axes,
    parse_settings,
)
from tailroom.cli.progress import progress_bar, runs_bar
from tailroom.libraries import need
from tailroom.scenario.axis import Axis
from tailroom.storage import result_directory as result_files
from tailroom.storage.output import output_directory

AUTOMATIC_SAMPLES = 500
"""Samples per series that --out records for the pictures of a scenario without `[series]`."""


def run(  # noqa: PLR0913 - one argument an option
    files: ScenarioFiles,
    *,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help="Run the scenario with each of several values and compare the results, e.g. "
            "--vary links.bottleneck.queue=codel,pie,fq_codel. A queue named by a word keeps the "
            "scenario's limit. Values are written as for `tailroom sweep --grid`. May be repeated: "
            "every combination is a choice.",
            autocompletion=completion.axis_keys,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Show this metric of each choice, e.g. --metric call.loss_fraction. Names are "
            "those of --json; the end of a name suffices if it is unambiguous. May be repeated.",
            autocompletion=completion.metric_names,
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=RUNS.least,
            help="Number of runs per choice; with 2 or more, means have 95 % intervals.",
        ),
    ] = 1,
    set_: Settings = None,
    seed: Seed = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write scenario, summary, series and pictures into a new directory; for several "
            "choices, the table (CSV and JSON), the scenarios and one picture.",
        ),
    ] = None,
    phase_check: Annotated[
        bool,
        typer.Option(
            "--phase-check",
            help="Repeat the run with 8 seeds and with 8 shifts of the RTTs by less than a "
            "packet's transmission time, and show how far the results change.",
        ),
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Store for the runs of several choices; stored runs are not repeated.",
        ),
    ] = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    allow_code: AllowCode = False,
    allow_files: AllowFiles = False,
) -> None:
    """Simulate a scenario and print the results.

    Several choices are compared: `tailroom run FILE --vary links.down.queue=codel,pie` and
    `tailroom run A.toml B.toml` print a table per link and per group of flows, a row per choice.
    """
    with failures.reported():
        overrides = parse_settings(set_)
        where = _Where(workers, cluster)
        if len(files) > 1 or vary or metric or seeds > 1:
            if phase_check:
                raise failures.InputError(
                    "--phase-check: applies to a single run; leave out --vary, --metric and "
                    "--seeds, and give one FILE"
                )
            wanted = _Wanted(files, parse_axes("--vary", vary), tuple(metric or ()), seeds, seed)
            _run_choices(wanted, overrides, store, where, json=json, out=out)
            return
        options = {"--store": store, "--workers": workers, "--cluster": cluster}
        for option, given in options.items():
            if given and not (phase_check and option != "--store"):
                raise failures.InputError(
                    f"{option}: applies to several runs; leave it out, or add --vary, --seeds or "
                    "another FILE"
                )
        checked = where if phase_check else None
        _run_one(files[0], overrides, seed, json=json, out=out, phase_check=checked)


@dataclass(frozen=True)
class _Where:
    """The machine or cluster that performs several runs."""

    workers: int | None
    cluster: str | None


@dataclass(frozen=True)
class _Wanted:
    """The choices to compare."""

    files: list[Path]
    vary: dict[str, Axis]
    metrics: tuple[str, ...]
    seeds: int
    seed: int | None


def _run_choices(  # noqa: PLR0913 - one argument an option
    wanted: _Wanted,
    overrides: dict[str, str],
    store: Path | None,
    where: _Where,
    *,
    json: bool,
    out: Path | None,
) -> None:
    """Compares choices, prints them, and writes them with --out."""
    # These modules load NumPy and Arrow, which a single run may not need.
    from tailroom.cli import choices  # noqa: PLC0415
    from tailroom.studies.choice_study import answer as choice_answer  # noqa: PLC0415

    with output_directory(out) if out else nullcontext() as output:
        with runs_bar() as progress:
            compared = tailroom.choices(
                wanted.files,
                wanted.vary,
                metrics=wanted.metrics,
                seeds=wanted.seeds,
                seed=wanted.seed,
                set=overrides,
                store=store,
                workers=where.workers,
                executor=where.cluster,
                progress=progress,
            )

        def show() -> None:
            if json:
                print(choice_answer.text_of(compared, every_metric=not wanted.metrics), end="")
            else:
                choices.show(compared, Console(highlight=False))

        write_and_print(output, lambda directory: choice_answer.write(compared, directory), show)
    if out and not json:
        print(f"Table, scenarios and picture are in {out}")


def _run_one(  # noqa: PLR0913 - one argument an option
    file: Path,
    overrides: dict[str, str],
    seed: int | None,
    *,
    json: bool,
    out: Path | None,
    phase_check: _Where | None,
) -> None:
    """Simulates one scenario with one seed, with a phase check if `phase_check` is given."""
    if out:
        need("pyarrow", "matplotlib")
    with output_directory(out) if out else nullcontext() as output:
        with progress_bar() as progress:
            result = tailroom.run(
                file,
                seed=seed,
                set=overrides,
                progress=progress,
                series_samples=AUTOMATIC_SAMPLES if out else None,
            )
        if phase_check:
            with runs_bar() as repeated:
                spreads = tailroom.phase_check(
                    file,
                    seed=seed,
                    set=overrides,
                    workers=phase_check.workers,
                    executor=phase_check.cluster,
                    progress=repeated,
                )
            result.summary["phase_check"] = phases.as_dicts(spreads)

        def show() -> None:
            if json:
                print(result_files.summary_text(result.summary), end="")
                return
            report.show(result, Console())
            if phase_check:
                phases.show(spreads, Console(highlight=False))

        write_and_print(output, lambda directory: result_files.write(result, directory), show)
    if out and not json:
        print(f"Scenario, summary, series and pictures are in {out}{_automatic(result)}")


def _automatic(result: tailroom.Result) -> str:
    """Returns a note on series that were recorded although the scenario has no `[series]`."""
    if "series" in tomllib.loads(result.scenario):
        return ""
    interval_s = result.series("queue")["time_s"][0].as_py()
    return f" (one sample per {interval_s:g} s, as the scenario has no [series])"
