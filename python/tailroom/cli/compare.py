"""`tailroom compare`: a simulation and the prediction of every model."""

import json as json_text
import tempfile
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

import tailroom
from tailroom.cli import failures, report
from tailroom.cli.options import LinkName, ScenarioFile, Seed, Settings, parse_settings
from tailroom.cli.progress import progress_bar, sweep_bar
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.studies.prediction import Predictions
from tailroom.studies.repetition import repeat

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
            min=2,
            help="Number of runs; shows their mean with its 95 % confidence interval.",
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="With --seeds: store for the runs; stored runs are not repeated."
        ),
    ] = None,
    link: LinkName = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Simulate a scenario and print what each model says beside it.

    Without --seeds, a single run is simulated, whose sampling error is unknown.
    """
    with failures.reported():
        settings = parse_settings(set_)
        if store and seeds is None:
            raise failures.InputError("--store: applies to several runs only; add --seeds")
        predictions = tailroom.predict(file, link=link, seed=seed, set=settings)
        name = predictions.link.name
        if seeds is None:
            with progress_bar() as progress:
                result = tailroom.run(file, seed=seed, set=settings, progress=progress)
            measured = {quantity: result.links[name][quantity] for quantity in QUANTITIES}
            about: dict[str, Any] = {"seed": result.summary["seed"], "simulation": measured}
            intervals = None
        else:
            intervals = _repeat(file, name, settings, seed, seeds, store)
            measured = {
                key: interval.mean if interval else None for key, interval in intervals.items()
            }
            said = {key: _as_dict(interval) for key, interval in intervals.items()}
            about = {"seeds": seeds, "simulation": said}
        if json:
            print(json_text.dumps({**about, **predictions.as_dict()}, indent=2))
        else:
            _show(predictions, measured, intervals, Console(highlight=False))


def _repeat(  # noqa: PLR0913, PLR0917 - what the command line says
    file: Path,
    link: str,
    settings: dict[str, str],
    seed: int | None,
    seeds: int,
    store: Path | None,
) -> dict[str, Interval | None]:
    """Returns the interval of each quantity over the runs in which it is defined."""
    replaced: dict[str, object] = {**settings, **({} if seed is None else {"seed": seed})}
    with sweep_bar() as progress, tempfile.TemporaryDirectory(prefix="tailroom-") as dropped:
        runs = repeat(file, store or dropped, seeds=seeds, set=replaced, progress=progress)
    found: dict[str, Interval | None] = {}
    for quantity in QUANTITIES:
        values = [
            value for value in runs[f"links.{link}.{quantity}"].to_pylist() if value is not None
        ]
        found[quantity] = mean_interval(values) if values else None
    return found


def _as_dict(interval: Interval | None) -> dict[str, float | None] | None:
    if interval is None:
        return None
    half_width = interval.half_width if isfinite(interval.half_width) else None
    return {"mean": interval.mean, "half_width": half_width}


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
        widths = {
            key: interval.half_width if interval else None for key, interval in intervals.items()
        }
        table.add_row("  95 %, +-", *_cells(widths, None), "")
    for answer in predictions.answers:
        said = answer.prediction
        values = {name: getattr(said, name) for name in QUANTITIES} if said else {}
        if any(value is not None for value in values.values()):
            failing = len(answer.failing)
            verdict = f"[red]{failing} of {len(answer.assumptions)}[/red]" if failing else "none"
            cells = _cells(values, simulated["utilization"])
            table.add_row(answer.model.name, *cells, verdict)
    console.print(table)
    if intervals:
        count = max(value.count for value in intervals.values() if value)
        console.print(f"'off by' is model minus the mean of {count} runs.")
    console.print("`tailroom model` lists the violated assumptions and the needed buffers.")


def _cells(values: Values, simulated_utilization: float | None) -> tuple[str, ...]:
    utilization = values["utilization"]
    unknown = utilization is None or simulated_utilization is None
    error = None if unknown else (utilization or 0) - (simulated_utilization or 0)
    return (
        report.percent(utilization),
        report.number(error, "{:+.4f}") if error else "",
        report.fraction(values["loss_fraction"]),
        report.milliseconds(values["queue_delay_s_mean"]),
    )
