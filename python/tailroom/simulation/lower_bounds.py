"""Values of which some are only lower bounds, as not everything has ended when a run does.

The engine counts a flow, query or step that has not ended with its age. A mean or percentile that
may be larger when it ends is a lower bound (`METRIC_is_lower_bound`); what a percentile is at most
is known as long as few have not ended (`METRIC_at_most`).
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from tailroom.simulation.metric_catalogue import AT_MOST, IS_LOWER_BOUND

FEW_UNFINISHED = 0.01
"""Share of unfinished flows up to which a mean, in which their ages count, is taken as it is.

A mean has no upper bound as long as anything has not ended, and in most runs something has not."""


class Values(list[float]):
    """The values of a metric in runs, and what each of them is at most."""

    def __init__(self, values: Sequence[float], at_most: Sequence[float]) -> None:
        """Makes a list of `values`.

        Args:
            values: The values, by run.
            at_most: The largest numbers that they may be; infinite if there is no bound.
        """
        super().__init__(values)
        self.at_most = tuple(at_most)


def values_of(metric: str, rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Returns the values of a metric, which know their bounds if some are only lower bounds.

    Args:
        metric: Full name of the metric.
        rows: The metrics of runs by full name, which define this one. The result has a value per
            row, in their order.
    """
    values = [row[metric] for row in rows]
    if not any(row.get(f"{metric}{IS_LOWER_BOUND}") for row in rows):
        return values
    return Values(values, [_at_most(metric, row) for row in rows])


def columns_of(metric: str) -> tuple[str, ...]:
    """Returns the full names of the metrics that `values_of` reads.

    Args:
        metric: Full name of the metric.
    """
    owner, _, _ = metric.rpartition(".")
    what = "coflows" if owner.endswith(".coflows") else "flows"
    ends = (IS_LOWER_BOUND, AT_MOST)
    counts = (f"{owner}.completed_{what}", f"{owner}.unfinished_{what}")
    return (metric, *(f"{metric}{end}" for end in ends), *counts)


def mark(values: Mapping[str, Any], metric: str) -> str:
    """Returns the mark before a number that is only a lower bound; else nothing.

    Args:
        values: Part of a summary.
        metric: Name of the number in it.
    """
    return MARK if values.get(f"{metric}{IS_LOWER_BOUND}") else ""


MARK = "≥ "
"""Stands before a number that is only a lower bound."""
LEGEND = "≥ at least: some had not ended when the run did, and count with their age"
"""What the mark means."""


def _at_most(metric: str, row: Mapping[str, Any]) -> float:
    if not row.get(f"{metric}{IS_LOWER_BOUND}"):
        return float(row[metric])
    if not metric.endswith("_mean"):
        at_most = row.get(f"{metric}{AT_MOST}")
        return inf if at_most is None else float(at_most)
    _, _, _, completed, unfinished = columns_of(metric)
    begun = row[completed] + row[unfinished]
    return float(row[metric]) if row[unfinished] <= FEW_UNFINISHED * begun else inf
