"""Metrics as cells of printed tables: headings in words, values with their units."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from tailroom.simulation.lower_bounds import MARK
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.written_numbers import half_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tailroom.statistics.intervals import Interval


def owner_of(metric: str) -> tuple[str, str]:
    """The owner of a metric in words, and its name without the owner.

    `links.core.utilization` gives `("Link core", "utilization")`.
    """
    kind, _, rest = metric.partition(".")
    if kind in ("links", "pools", "groups") and "." in rest:
        owner, _, name = rest.partition(".")
        return f"{kind.removesuffix('s').capitalize()} {owner}", name
    return "All flows", rest or metric


def heading(*names: str) -> str:
    """The heading of a metric, or of several statistics of a quantity, in every command's tables.

    Args:
        *names: Full names of metrics, or names without the owner.
    """
    first = names[0]
    if first.startswith("links.") and first.count(".") == 2:
        _, link, rest = first.split(".")
        return f"{heading(rest)}\nat {link}"
    if len(names) == 1:
        return metric_of(first).heading
    metrics = [metric_of(name) for name in names]
    quantity = metrics[0].in_tables or metrics[0].quantity
    return f"{quantity}\n{' / '.join(metric.statistic for metric in metrics)}"


def headings_in_one_table(metrics: Sequence[str], known: Sequence[str]) -> list[str]:
    """The headings of metrics of different owners in one table.

    A heading names the link or group if the runs have several of them.

    Args:
        metrics: Full names of the metrics of the table.
        known: Full names of all metrics of the runs.
    """
    owners = {tuple(name.split(".")[:2]) for name in known if name.count(".") > 1}
    kinds = [kind for kind, _ in owners]

    def of_one(metric: str) -> str:
        kind, name = metric.split(".", maxsplit=1)[0], owner_of(metric)[1]
        if metric.count(".") < 2 or kinds.count(kind) <= 1:
            return heading(name)
        return f"{heading(name)}\nof {metric.split('.')[1]}"

    return [of_one(metric) for metric in metrics]


def cells(name: str, intervals: Iterable[Interval | None]) -> list[str]:
    """The means of a column, all in one unit, each as `cell` writes it."""
    column = list(intervals)
    write = metric_of(name).unit.writer(one.mean for one in column if one)
    return [cell(name, one, write) for one in column]


def cell(name: str, interval: Interval | None, write: Callable[[float], str] | None = None) -> str:
    """A mean with its unit and, for several seeds, its interval below.

    Args:
        name: The metric.
        interval: Mean and interval; a dash stands for none.
        write: Writes the mean (default: in the unit that suits it best).
    """
    if interval is None or not isfinite(interval.mean):
        return "-"
    mean = (write or metric_of(name).unit.text)(interval.mean)
    arms = interval.plus_minus(lambda length: half_width(length, mean), "\n")
    marked = f"{MARK if interval.is_lower_bound else ''}{mean}"
    return f"{marked}\n{arms}" if arms else marked
