"""`tailroom compare`: a simulation compared with the prediction of each model."""

import json as json_text
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

import tailroom
from tailroom.arguments import COMPARED_RUNS
from tailroom.cli import report
from tailroom.cli.options import Json, ScenarioFile, refuse
from tailroom.cli.progress import progress_bar, runs_bar
from tailroom.cli.signature import options_of
from tailroom.cli.terminal_text import escape
from tailroom.statistics.intervals import Interval
from tailroom.studies.prediction import Predictions

QUANTITIES = ("utilization", "loss_fraction", "queue_packets_mean", "queue_delay_s_mean")
"""Quantities that both a simulated link and a model may have."""

Values = Mapping[str, float | None]


@options_of(
    "predict",
    "choices",
    without=("congestion", "metrics", "models", "target", "vary"),
)
def compare(
    scenario: ScenarioFile,
    *,
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Simulate with this number of seeds, at least 2, and show means with 95 % "
            "confidence intervals.",
        ),
    ] = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Simulate a scenario and compare it with the prediction of each model.

    Without --seeds, a single run is simulated, whose sampling error is unknown.
    """
    COMPARED_RUNS.check("seeds", seeds)
    link = options.pop("link", None)
    of_one_run = {name: options[name] for name in ("seed", "set") if name in options}
    if seeds is None:
        refuse(options, ("store", "workers", "executor"), "applies to several runs; add --seeds")
    predictions = tailroom.predict(scenario, link=link, **of_one_run)
    name = predictions.link.name
    if seeds is None:
        with progress_bar() as progress:
            result = tailroom.run(scenario, progress=progress, **of_one_run)
        simulated: Mapping[str, Any] = result.links[name]
        measured = {quantity: simulated[quantity] for quantity in QUANTITIES}
        about: dict[str, Any] = {"seed": result.summary["seed"], "simulation": measured}
        intervals = None
        warnings = result.summary["warnings"]
    else:
        with runs_bar() as runs_progress:
            choices = tailroom.choices(scenario, seeds=seeds, progress=runs_progress, **options)
        metrics = choices.choices[0].metrics
        intervals = {key: metrics.get(f"links.{name}.{key}") for key in QUANTITIES}
        measured = {key: interval.mean if interval else None for key, interval in intervals.items()}
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
