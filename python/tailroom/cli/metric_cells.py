"""Metrics as the cells of a table for people: headings in words, values with their units."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from tailroom.simulation.metric_catalogue import metric_of

if TYPE_CHECKING:
    from tailroom.statistics.intervals import Interval

WIDEST = 14
"""Longer headings take several lines."""


def owner_of(metric: str) -> tuple[str, str]:
    """Whose a metric is, in words, and its name without that: of `links.core.utilization`."""
    kind, _, rest = metric.partition(".")
    if kind in ("links", "groups") and "." in rest:
        owner, _, name = rest.partition(".")
        return f"{kind.removesuffix('s').capitalize()} {owner}", name
    return "All flows", rest or metric


def heading(name: str) -> str:
    """The heading of a metric, by its name without its owner."""
    if name.startswith("links.") and name.count(".") == 2:
        _, link, rest = name.split(".")
        return f"{heading(rest)}\nat {link}"
    return metric_of(name).heading or in_lines(name, WIDEST)


def in_lines(name: str, widest: int) -> str:
    """The name of a metric in lines of at most so many characters, where its words allow."""
    lines = [""]
    for word in name.replace("_", "_\0").replace(".", ".\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) > widest:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def cell(name: str, interval: Interval | None) -> str:
    """A mean with its unit and, of several seeds, the half-width of its interval below."""
    if interval is None or not isfinite(interval.mean):
        return "-"
    unit, width = metric_of(name).unit, interval.half_width
    mean = unit.text(interval.mean)
    return f"{mean}\n+-{unit.half_width(width, mean)}" if isfinite(width) else mean


def value(name: str, number: float) -> str:
    """A value of a metric with its unit."""
    return metric_of(name).unit.text(number)
