"""What `tailroom list metrics` and `tailroom list models` print."""

from collections.abc import Callable, Mapping

from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from tailroom.cli import failures
from tailroom.models import MODELS
from tailroom.quoting import shown
from tailroom.scenario.named_values import near
from tailroom.simulation.metric_catalogue import CATALOGUE

PLACES = {
    "links.*.": "of a link, as `utilization` or `NAME.utilization`",
    "links.*.discipline_state.": "of a queue discipline, as `NAME.discipline_state.drop_count`",
    "pools.*.": "of a pool",
    "pools.*.links.*.": "of a link in its pool, as `POOL.links.NAME.memory_share`",
    "groups.*.": "of a group of flows, as `NAME.goodput_bps`",
    "groups.*.all_sizes.": "of flows that end, as `NAME.all_sizes.slowdown_p99`",
    "groups.*.coflows.": "of queries and collectives, as `NAME.coflows.completion_time_s_p99`",
    "groups.*.links.*.": "of the packets of a group at a link, as `NAME.links.LINK.loss_fraction`",
    "flows.": "of all permanent flows",
    "": "of the run",
}
"""Where metrics belong, by the start of their full names."""


def print_metrics(console: Console, word: str) -> None:
    """Prints the metrics that have a word, by what they belong to, with unit and meaning."""
    names = [full.rpartition(".")[2] for full in CATALOGUE]
    among = set(near(word, names)) if word else set()
    is_found = False
    for start, words in PLACES.items():
        table = _table("metric", "unit", "meaning")
        for full, metric in CATALOGUE.items():
            name = full.rpartition(".")[2]
            is_one = name in among or word.lower() in f"{name} {metric.label}".lower()
            if full == f"{start}{name}" and is_one:
                better = f"; {metric.better} is better" if metric.better else ""
                table.add_row(name, metric.unit.name, Text(f"{metric.label}{better}"))
        if table.row_count:
            is_found = True
            console.print(Text(f"Metrics {words}", style="bold"))
            console.print(table)
    if not is_found:
        raise _none("metric", word)


def print_models(console: Console, word: str) -> None:
    """Prints the models that have a word, with method and source."""
    table = _table("model", "method", "source")
    for model in MODELS.values():
        if word.lower() in f"{model.name} {model.title} {model.source}".lower():
            table.add_row(model.name, Text(model.title), Text(model.source))
    if not table.row_count:
        raise _none("model", word)
    console.print(table)


def _none(kind: str, word: str) -> failures.InputError:
    """The refusal of a word that nothing has."""
    return failures.InputError(
        f"list {kind}s: no {kind} has {shown(word)}; leave it out to list all"
    )


def _table(name: str, *further: str) -> Table:
    """A table whose names stay whole, so that they can be copied."""
    return Table(Column(name, no_wrap=True), *further, box=box.SIMPLE_HEAD)


LISTS: Mapping[str, Callable[[Console, str], None]] = {
    "metrics": print_metrics,
    "models": print_models,
}
"""Kinds of `tailroom list` that are no components of scenarios."""
