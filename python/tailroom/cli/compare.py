"""`tailroom compare`: a simulation compared with the models, or with a measurement."""

import json as json_text
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

import tailroom
from tailroom.arguments import COMPARED_RUNS, IDLE_RTT
from tailroom.cli import report
from tailroom.cli.answer import write_and_print
from tailroom.cli.failures import InputError
from tailroom.cli.options import (
    Json,
    NoTitle,
    OptionalScenarioFile,
    PictureFile,
    read_duration_s,
    refuse,
)
from tailroom.cli.progress import progress_bar, runs_bar
from tailroom.cli.sentences import say
from tailroom.cli.signature import options_of
from tailroom.cli.terminal_text import escape
from tailroom.libraries import need
from tailroom.models import read_bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom.statistics.intervals import Interval
from tailroom.storage.output import output_file
from tailroom.studies.prediction import Predictions

QUANTITIES = ("utilization", "loss_fraction", "queue_packets_mean", "queue_delay_s_mean")
"""Quantities that both a simulated link and a model may have."""

SHOWN = ("utilization", "loss_fraction", "queue_delay_s_mean")
"""Those that are printed."""

Values = Mapping[str, float | None]


class _Row(NamedTuple):
    """A row of the comparison."""

    name: str
    values: Values
    off_by: str = ""
    """The utilization minus the simulated one."""
    verdict: str = ""
    """How many assumptions fail."""


@options_of(
    "predict",
    "choices",
    without=("congestion", "metrics", "models", "target", "vary"),
)
def compare(  # noqa: PLR0913 - one argument an option
    scenario: OptionalScenarioFile = None,
    *,
    measured: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this measurement instead of models, and estimate the buffer that "
            "explains it: data of flent, JSON of `iperf3 -J`, a log of `ss -tin`, or the CSV of "
            "Waveform's bufferbloat test. The scenario may then be left out.",
        ),
    ] = None,
    idle_rtt: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="RTT of the idle path, in s, ms or us, which replaces that of the measurement.",
        ),
    ] = None,
    out: PictureFile = None,
    no_title: NoTitle = False,
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
    """Compare a simulation with the models of the literature, or with a measurement.

    Without --seeds, a single run is simulated, whose sampling error is unknown.
    """
    if measured:
        several = ("store", "workers", "executor")
        refuse(
            {**options, "seeds": seeds},
            (*several, "seeds"),
            "a measurement is one run; leave it out",
        )
        of_run = {name: options[name] for name in ("link", "seed", "set") if name in options}
        rtt_s = read_duration_s("idle_rtt", idle_rtt, IDLE_RTT) if idle_rtt else None
        _compare_measured(measured, scenario, out, json=json, idle_rtt_s=rtt_s, **of_run)
        return
    given = {"idle_rtt": idle_rtt, "out": out}
    refuse(given, given, "applies to a measurement; add --measured FILE")
    if scenario is None:
        raise InputError("FILE: give a scenario, or a measurement with --measured FILE")
    COMPARED_RUNS.check("seeds", seeds)
    link = options.pop("link", None)
    of_one_run = {name: options[name] for name in ("seed", "set") if name in options}
    if seeds is None:
        refuse(options, ("store", "workers", "executor"), "applies to several runs; add --seeds")
    source = Scenario.of(scenario, options.get("set"))
    name = read_bottleneck(source, link, options.get("seed")).name
    if seeds is None:
        with progress_bar() as progress:
            result = tailroom.run(scenario, progress=progress, **of_one_run)
        simulated: Mapping[str, Any] = result.links[name]
        simulation = {quantity: simulated[quantity] for quantity in QUANTITIES}
        about: dict[str, Any] = {"seed": result.summary["seed"], "simulation": simulation}
        intervals = None
        warnings = result.summary["warnings"]
    else:
        with runs_bar() as runs_progress:
            choices = tailroom.choices(scenario, seeds=seeds, progress=runs_progress, **options)
        metrics = choices.choices[0].metrics
        intervals = {key: metrics.get(f"links.{name}.{key}") for key in QUANTITIES}
        simulation = {
            key: interval.mean if interval else None for key, interval in intervals.items()
        }
        with_ends = {
            key: interval.as_dict() if interval else None for key, interval in intervals.items()
        }
        about = {"seeds": seeds, "simulation": with_ends}
        warnings = list(choices.choices[0].warnings)
    # The runs come first: they refuse a store or a cluster.
    predictions = tailroom.predict(scenario, link=name, **of_one_run)
    if json:
        answer = {**about, "warnings": warnings, **predictions.as_dict()}
        print(json_text.dumps(answer, indent=2))
    else:
        console = Console(highlight=False)
        _show(predictions, simulation, intervals, console)
        report.show_warnings(warnings, console)


def _compare_measured(
    measured: Path, scenario: Path | None, out: Path | None, *, json: bool, **options: Any
) -> None:
    if out:
        need("matplotlib")
    with output_file(out) if out else nullcontext() as output:
        with progress_bar() as progress:
            compared = tailroom.compare_measured(measured, scenario, progress=progress, **options)

        def show() -> None:
            if json:
                print(json_text.dumps(compared.as_dict(), indent=2))
                return
            from tailroom.cli.measured_buffer import show as show_measured  # noqa: PLC0415 - loads NumPy

            show_measured(compared, Console(highlight=False))

        write_and_print(output, lambda path: compared.plot().savefig(path, dpi=150), show)
    if out and not json:
        print(f"RTTs are drawn in {out}")


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
    rows = [_Row("simulation", simulated)]
    for words, end in (("from", "low"), ("to", "high")) if intervals else ():
        ends = {
            key: interval.as_dict()[end] if interval else None
            for key, interval in (intervals or {}).items()
        }
        rows.append(_Row(f"  95 %, {words}", ends))
    for answer in predictions.answers:
        prediction = answer.prediction
        values = {name: getattr(prediction, name) for name in QUANTITIES} if prediction else {}
        if any(value is not None for value in values.values()):
            failing = len(answer.failing)
            verdict = f"[red]{failing} of {len(answer.assumptions)}[/red]" if failing else "none"
            error = _off_by(values["utilization"], simulated["utilization"])
            rows.append(_Row(answer.model.name, values, error, verdict))
    columns = [report.column([row.values for row in rows], name) for name in SHOWN]
    for row, utilization, *others in zip(rows, *columns, strict=True):
        table.add_row(row.name, utilization, row.off_by, *others, row.verdict)
    console.print(table)
    if intervals:
        count = max(value.count for value in intervals.values() if value)
        say(console, f"'off by' is model minus the mean of {count} runs, in percentage points.")
    say(console, "`tailroom model` lists the violated assumptions and the required buffers.")


def _off_by(predicted: float | None, simulated: float | None) -> str:
    """A predicted utilization minus the simulated one in percentage points; empty if unknown."""
    if predicted is None or simulated is None:
        return ""
    points = 100 * (predicted - simulated)
    return f"{points:+.2f}" if points else ""
