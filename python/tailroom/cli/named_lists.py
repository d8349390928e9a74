"""What `tailroom list metrics` and `tailroom list models` print."""

from collections.abc import Callable, Mapping

from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from tailroom.models import MODELS
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


def print_metrics(console: Console) -> None:
    """Prints every metric with its unit and its meaning, by what it belongs to."""
    for start, words in PLACES.items():
        console.print(Text(f"Metrics {words}", style="bold"))
        table = _table("metric", "unit", "meaning")
        for full, metric in CATALOGUE.items():
            name = full.rpartition(".")[2]
            if full == f"{start}{name}":
                better = f"; {metric.better} is better" if metric.better else ""
                table.add_row(name, metric.unit.name, Text(f"{metric.label}{better}"))
        console.print(table)


def print_models(console: Console) -> None:
    """Prints every model with its method and its source."""
    table = _table("model", "method", "source")
    for model in MODELS.values():
        table.add_row(model.name, Text(model.title), Text(model.source))
    console.print(table)


def _table(name: str, *further: str) -> Table:
    """A table whose names stay whole, so that they can be copied."""
    return Table(Column(name, no_wrap=True), *further, box=box.SIMPLE_HEAD)


LISTS: Mapping[str, Callable[[Console], None]] = {
    "metrics": print_metrics,
    "models": print_models,
}
"""Kinds of `tailroom list` that are no components of scenarios."""
