"""`tailroom model`: predictions of analytic models, without simulation."""

import json as json_text
from contextlib import nullcontext
from itertools import chain
from math import ceil, isinf
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tailroom import written_numbers
from tailroom.cli import completion, failures, report
from tailroom.cli.answer import write_and_print
from tailroom.cli.blocks import Column, print_block, tables_needed
from tailroom.cli.metric_cells import cell
from tailroom.cli.options import Json, NoTitle, PictureFile, ScenarioFile
from tailroom.cli.progress import runs_bar
from tailroom.cli.sentences import say
from tailroom.cli.signature import options_of
from tailroom.cli.table import Parts
from tailroom.cli.terminal_text import escape
from tailroom.models import Bottleneck, Prediction, Requirement
from tailroom.scenario.axis import key_words, parse_axis, value_words
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.storage.output import output_file
from tailroom.studies.prediction import Answer, Curves, Predictions, predict, predict_over

WIDEST = 14
"""Largest width of the name of a model above a column, in characters."""
PREDICTED = ("utilization", "loss_fraction", "queue_delay_s_mean")
"""Metrics that models predict."""
CURVES = ("utilization", "loss_fraction", "queue_delay_s_mean")
"""Metrics whose curves are printed."""


@options_of("predict", without=("congestion", "target"))
def model(  # noqa: PLR0913 - one argument an option
    scenario: ScenarioFile,
    *,
    utilization: Annotated[
        float, typer.Option(help="Smallest utilization for the required buffers, a fraction.")
    ] = Requirement.utilization,
    loss_fraction: Annotated[
        float, typer.Option(help="Largest loss fraction of the required buffers.")
    ] = Requirement.loss_fraction,
    over: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=VALUES",
            help="Evaluate the models at several values of a key, e.g. "
            '--over links.bottleneck.queue.limit="10 packets, 100 packets"'
            ', a TOML list, or { from = "10 packets", to = "1000 packets", '
            'points = 9, scale = "log" }.',
            autocompletion=completion.axis_keys,
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            help="With --over, also simulate each value, with this number of seeds, and show the "
            "simulation next to the models."
        ),
    ] = 0,
    json: Json = False,
    out: PictureFile = None,
    no_title: NoTitle = False,
    **options: Any,
) -> None:
    """Predict the effect of a buffer with the analytic models of the literature.

    No simulation is run without --seeds. Each model states its assumptions; the assumptions that
    the scenario violates are printed below the table.
    """
    if out and not over:
        raise failures.InputError("--out: applies to curves; add --over KEY=VALUES")
    if seeds and not over:
        raise failures.InputError("--seeds: applies to curves; add --over KEY=VALUES")
    target = Requirement(utilization, loss_fraction)
    if not over:
        _print(predict(scenario, target=target, **options), json=json)
        return
    with output_file(out) if out else nullcontext() as output:
        with runs_bar() if seeds else nullcontext() as progress:
            curves = predict_over(
                scenario, parse_axis(over), target=target, seeds=seeds, progress=progress, **options
            )
        write_and_print(
            output,
            lambda path: curves.plot().savefig(path, dpi=150),
            lambda: _print(curves, json=json),
        )
    if out and not json:
        print(f"Curves are in {out}")


def _print(answer: Curves | Predictions, *, json: bool) -> None:
    if json:
        print(json_text.dumps(answer.as_dict(), indent=2))
    elif isinstance(answer, Curves):
        _show_curves(answer, Console(highlight=False))
    else:
        show(answer, Console(highlight=False))


def show(predictions: Predictions, console: Console) -> None:
    """Prints a row per model that applies, the violated assumptions, and the other models."""
    link = predictions.link
    applying = [answer for answer in predictions.answers if answer.prediction]
    console.print(
        f"Link [bold]{escape(link.name)}[/bold]: {report.rate_of_link(link)}, {link.discipline}, "
        f"limit {written_numbers.packet_limit(link.limit_packets)}"
        + (
            f" = {written_numbers.exact_bdp(link.limit_packets / link.bdp_packets)}"
            if link.bdp_packets
            else ""
        )
    )
    console.print(_table(applying, link))
    wanted = [
        (escape(answer.prediction.required_for), answer.model.name)
        for answer in applying
        if answer.prediction and answer.prediction.required_packets is not None
    ]
    _list("Needed limits are for", wanted, console)
    show_failing(applying, console)
    others = [answer for answer in predictions.answers if not answer.prediction]
    reasons = [(escape(answer.why_not), answer.model.name) for answer in others]
    _list("Models that do not apply", reasons, console)
    if len(predictions.answers) == 1:
        details = [answer.prediction.details for answer in applying if answer.prediction]
        numbers = [
            (f"{name} = {written_numbers.number(value)}", "")
            for detail in details
            for name, value in detail.items()
        ]
        _list("More numbers", numbers, console)
    else:
        console.print("\nMore numbers of a single model: --model NAME")


def _list(title: str, statements: list[tuple[str, str]], console: Console) -> None:
    """Prints each statement (markup) once, with the names of its models."""
    if statements:
        console.print(f"\n{title}")
    for statement in dict.fromkeys(text for text, _ in statements):
        names = ", ".join(name for text, name in statements if text == statement)
        line = f"  {statement}: [dim]{names}[/dim]" if names else f"  {statement}"
        say(console, line, is_one_line=False)


def _table(answers: list[Answer], link: Bottleneck) -> Table:
    table = report.table_of(
        "Models",
        "model",
        "utilization",
        "loss",
        "mean\ndelay",
        "needed\nlimit",
        "fails",
    )
    table.columns[0].no_wrap = True
    applying = [(answer, answer.prediction) for answer in answers if answer.prediction]
    values = [{name: getattr(one, name) for name in PREDICTED} for _, one in applying]
    columns = (report.column(values, name) for name in PREDICTED)
    for (answer, prediction), *predicted in zip(applying, *columns, strict=True):
        failing = len(answer.failing)
        table.add_row(
            answer.model.name,
            *predicted,
            _needed(prediction, link),
            f"[red]{failing} of {len(answer.assumptions)}[/red]" if failing else "-",
        )
    return table


def _needed(prediction: Prediction, link: Bottleneck) -> str | Parts:
    """The required limit in whole packets and in bdp."""
    packets = prediction.required_packets
    if packets is None:
        return "-"
    if isinf(packets):
        return "none"
    # Round up to whole packets, without counting a rounding error as a packet.
    whole = max(1, ceil(packets * (1 - 1e-9)))
    if not link.bdp_packets:
        return f"{whole:,}"
    bdp = packets / link.bdp_packets
    return Parts(f"{whole:,}", f"{written_numbers.index(bdp)} bdp", between=" = ")


def show_failing(answers: list[Answer], console: Console) -> None:
    """Prints each violated assumption once, with the names of its models."""
    broken = [
        (
            f"[red]{escape(assumption.statement)}[/red]; "
            f"here {escape(written_numbers.without_exponents(assumption.found))}",
            answer.model.name,
        )
        for answer in answers
        for assumption in answer.failing
    ]
    _list("Assumptions that fail here", broken, console)


def _show_curves(curves: Curves, console: Console) -> None:
    """Prints tables per quantity, first the simulation.

    Values are rows and models columns, or the reverse if that takes fewer tables.
    """
    quantities = {quantity: rows for quantity in CURVES if (rows := _rows(curves, quantity))}
    by_value = [_with_a_row_per_value(curves, rows) for rows in quantities.values()]
    by_model = [_with_a_row_per_model(curves, rows) for rows in quantities.values()]
    counts = [
        sum(tables_needed(console, *columns) for columns in form) for form in (by_value, by_model)
    ]
    is_by_model = counts[1] < counts[0]
    over = f" over {key_words(curves.axis.key)}" if is_by_model else ""
    for quantity, columns in zip(quantities, by_model if is_by_model else by_value, strict=True):
        title = metric_of(quantity).label.capitalize()
        print_block(console, f"{title}{over}", *columns)


def _rows(curves: Curves, quantity: str) -> dict[str, list[str]]:
    """A quantity at each value, by model; first the simulation."""
    values = {name: curves.values(name, quantity) for name in curves.models_predicting(quantity)}
    simulated = curves.simulation(quantity) if curves.simulated else []
    means = [one.mean for one in simulated if one]
    write = metric_of(quantity).unit.writer([*means, *chain.from_iterable(values.values())])
    rows = {
        name: ["-" if number is None else write(number) for number in some]
        for name, some in values.items()
    }
    if not curves.simulated:
        return rows
    return {"simulation": [cell(quantity, one, write) for one in simulated], **rows}


def _with_a_row_per_value(
    curves: Curves, rows: dict[str, list[str]]
) -> tuple[list[Column], list[Column]]:
    heading = key_words(curves.axis.key).replace(" of ", "\nof ")
    columns = [Column(_in_lines(name), cells) for name, cells in rows.items()]
    return [Column(heading, _values(curves))], columns


def _in_lines(name: str) -> str:
    """The name of a model, broken between its words into lines of at most `WIDEST` characters."""
    lines = [""]
    for word in name.replace("_", "_\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) > WIDEST:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def _with_a_row_per_model(
    curves: Curves, rows: dict[str, list[str]]
) -> tuple[list[Column], list[Column]]:
    columns = [
        Column(value, [cells[place] for cells in rows.values()])
        for place, value in enumerate(_values(curves))
    ]
    return [Column("", list(rows))], columns


def _values(curves: Curves) -> list[str]:
    return [value_words(value, curves.axis.values) for value in curves.axis.values]
