"""`tailroom compare`: a simulation compared with the prediction of each model."""

import json as json_text
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import tailroom
from tailroom.arguments import COMPARED_RUNS
from tailroom.cli import failures, report
from tailroom.cli.options import (
    AllowCode,
    AllowFiles,
    ClusterAddress,
    LinkName,
    ScenarioFile,
    Seed,
    Settings,
    Workers,
    parse_settings,
)
from tailroom.cli.progress import progress_bar, runs_bar
from tailroom.cli.shown_text import escape
from tailroom.statistics.intervals import Interval
from tailroom.studies.prediction import Predictions

QUANTITIES = ("utilization", "loss_fraction", "queue_packets_mean", "queue_delay_s_mean")
"""Quantities that both a simulated link and a model may have."""

Values = Mapping[str, float | None]


def compare(  # noqa: PLR0913 - one argument an option
    file: ScenarioFile,
    *,
    set_: Settings = None,
    seed: Seed = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=COMPARED_RUNS.least,
            help="Simulate with this number of seeds, and show means with 95 % confidence "
            "intervals.",
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="With --seeds: store for the runs; stored runs are not repeated."
        ),
    ] = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    link: LinkName = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    allow_code: AllowCode = False,
    allow_files: AllowFiles = False,
) -> None:
    """Simulate a scenario and compare it with the prediction of each model.

    Without --seeds, a single run is simulated, whose sampling error is unknown.
    """
    with failures.reported():
        settings = parse_settings(set_)
        for option, given in (("--store", store), ("--workers", workers), ("--cluster", cluster)):
            if given and seeds is None:
                raise failures.InputError(f"{option}: applies to several runs; add --seeds")
        predictions = tailroom.predict(file, link=link, seed=seed, set=settings)
        name = predictions.link.name
        if seeds is None:
            with progress_bar() as progress:
                result = tailroom.run(file, seed=seed, set=settings, progress=progress)
            simulated: Mapping[str, Any] = result.links[name]
            measured = {quantity: simulated[quantity] for quantity in QUANTITIES}
            about: dict[str, Any] = {"seed": result.summary["seed"], "simulation": measured}
            intervals = None
            warnings = result.summary["warnings"]
        else:
            with runs_bar() as runs_progress:
                choices = tailroom.choices(
                    file,
                    seeds=seeds,
                    seed=seed,
                    set=settings,
                    store=store,
                    workers=workers,
                    executor=cluster,
                    progress=runs_progress,
                )
            metrics = choices.choices[0].metrics
            intervals = {key: metrics.get(f"links.{name}.{key}") for key in QUANTITIES}
            measured = {
                key: interval.mean if interval else None for key, interval in intervals.items()
            }
            simulation = {
                key: interval.as_dict() if interval else None for key, interval in intervals.items()
            }
            about = {"seeds": seeds, "simulation": simulation}
            warnings = list(choices.choices[0].warnings)
        if json:
            answer = {**about, "warnings": warnings, **predictions.as_dict()}
            print(json_text.dumps(answer, indent=2))
        else:
            console = Console(highlight=False)
            _show(predictions, measured, intervals, console)
            report.show_warnings(warnings, console)


def _show(
    predictions: Predictions,
    simulated: Values,
    intervals: Mapping[str, Interval | None] | None,
    console: Console,
) -> None:
    table = report.table_of(
        f"Link {escape(predictions.link.name)}",
        "",
        "utilization",
        "off by",
        "loss",
        "queueing\ndelay mean",
        "fails",
    )
    table.columns[0].no_wrap = True
    table.add_row("simulation", *_cells(simulated, simulated["utilization"]), "")
    if intervals:
        for words, end in (("from", "low"), ("to", "high")):
            ends = {
                key: interval.as_dict()[end] if interval else None
                for key, interval in intervals.items()
            }
            table.add_row(f"  95 %, {words}", *_cells(ends, None), "")
    for answer in predictions.answers:
        prediction = answer.prediction
        values = {name: getattr(prediction, name) for name in QUANTITIES} if prediction else {}
        if any(value is not None for value in values.values()):
            failing = len(answer.failing)
            verdict = f"[red]{failing} of {len(answer.assumptions)}[/red]" if failing else "none"
            cells = _cells(values, simulated["utilization"])
            table.add_row(answer.model.name, *cells, verdict)
    console.print(table)
    if intervals:
        count = max(value.count for value in intervals.values() if value)
        console.print(f"'off by' is model minus the mean of {count} runs.")
    console.print("`tailroom model` lists the violated assumptions and the required buffers.")


def _cells(values: Values, simulated_utilization: float | None) -> tuple[str, ...]:
    utilization = values["utilization"]
    unknown = utilization is None or simulated_utilization is None
    error = None if unknown else (utilization or 0) - (simulated_utilization or 0)
    return (
        report.shown("utilization", utilization),
        report.number(error, "{:+.4f}") if error else "",
        report.of(values, "loss_fraction"),
        report.of(values, "queue_delay_s_mean"),
    )
