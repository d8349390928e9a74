"""`tailroom compare`: one simulation beside every model."""

import json as json_text
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

import tailroom
from tailroom.cli import failures, report
from tailroom.cli.options import LinkName, ScenarioFile, Seed, Settings, parse_settings
from tailroom.cli.progress import progress_bar
from tailroom.predict import Predictions

QUANTITIES = ("utilization", "loss_fraction", "queue_packets_mean", "queue_delay_s_mean")
"""What both a simulated link and a model may have."""


def compare(
    file: ScenarioFile,
    *,
    set_: Settings = None,
    seed: Seed = None,
    link: LinkName = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Simulate a scenario once and print what each model says beside it."""
    with failures.reported():
        settings = parse_settings(set_)
        predictions = tailroom.predict(file, link=link, seed=seed, set=settings)
        with progress_bar() as progress:
            result = tailroom.run(file, seed=seed, set=settings, progress=progress)
        measured = result.links[predictions.link.name]
        simulated = {quantity: measured[quantity] for quantity in QUANTITIES}
        if json:
            answer = {"seed": result.summary["seed"], "simulation": simulated}
            print(json_text.dumps({**answer, **predictions.as_dict()}, indent=2))
        else:
            _show(predictions, simulated, Console(highlight=False))


def _show(predictions: Predictions, simulated: dict[str, Any], console: Console) -> None:
    table = report.table_of(
        f"Link {escape(predictions.link.name)}",
        "",
        "utilization",
        "off by",
        "loss",
        "queueing\ndelay mean",
        "failing\nassumptions",
    )
    table.add_row("simulation", *_cells(simulated, simulated["utilization"]), "")
    for answer in predictions.answers:
        said = answer.prediction
        values = {name: getattr(said, name) for name in QUANTITIES} if said else {}
        if any(value is not None for value in values.values()):
            failing = len(answer.failing)
            verdict = f"[red]{failing} of {len(answer.assumptions)}[/red]" if failing else "none"
            cells = _cells(values, simulated["utilization"])
            table.add_row(answer.model.name, *cells, verdict)
    console.print(table)
    console.print("`tailroom model` says what fails, and what buffers the models ask for.")


def _cells(values: dict[str, Any], simulated_utilization: float) -> tuple[str, ...]:
    utilization = values["utilization"]
    error = None if utilization is None else utilization - simulated_utilization
    return (
        report.percent(utilization),
        report.number(error, "{:+.4f}") if error else "",
        report.fraction(values["loss_fraction"]),
        report.milliseconds(values["queue_delay_s_mean"]),
    )
