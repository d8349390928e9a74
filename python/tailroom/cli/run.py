"""`tailroom run`: simulate a scenario, show or save what happened."""

import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import tailroom
from tailroom import result_files
from tailroom.cli import failures, phases, report
from tailroom.cli.options import ScenarioFile, Seed, Settings, parse_settings
from tailroom.cli.progress import progress_bar, runs_bar
from tailroom.output_directory import output_directory

AUTOMATIC_SAMPLES = 500
"""Points of the series that --out records for the pictures if the scenario asks for none."""


def run(  # noqa: PLR0913 - one argument an option
    file: ScenarioFile,
    *,
    set_: Settings = None,
    seed: Seed = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write scenario, summary, series and pictures into a new DIR."
        ),
    ] = None,
    phase_check: Annotated[
        bool,
        typer.Option(
            "--phase-check",
            help="Repeat the run with 8 seeds, and with RTTs shifted 8 times by less than a "
            "packet's transmission time, and show what that changes.",
        ),
    ] = False,
) -> None:
    """Simulate a scenario and print what happened."""
    with failures.reported():
        overrides = parse_settings(set_)
        with output_directory(out) if out else nullcontext() as staging:
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
                        file, seed=seed, set=overrides, progress=repeated
                    )
                result.summary["phase_check"] = phases.as_dicts(spreads)
            if staging:
                result_files.write(result, staging)
        if json:
            print(result_files.summary_text(result.summary), end="")
        else:
            report.show(result, Console())
            if phase_check:
                phases.show(spreads, Console(highlight=False))
            if out:
                print(f"Scenario, summary, series and pictures are in {out}{_automatic(result)}")


def _automatic(result: tailroom.Result) -> str:
    """Says that series were recorded although the scenario has none."""
    if "series" in tomllib.loads(result.scenario):
        return ""
    interval_s = result.series("queue")["time_s"][0].as_py()
    return f" (a sample each {interval_s:g} s, as the scenario has no [series])"
