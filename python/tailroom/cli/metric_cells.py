"""Metrics as cells of printed tables: headings in words, values with their units."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from tailroom.simulation.lower_bounds import MARK
from tailroom.simulation.metric_catalogue import metric_of

if TYPE_CHECKING:
    from tailroom.statistics.intervals import Interval

WIDEST = 14
"""Largest width of a heading, in characters; longer headings take several lines."""


def owner_of(metric: str) -> tuple[str, str]:
    """The owner of a metric in words, and its name without the owner.

    `links.core.utilization` gives `("Link core", "utilization")`.
    """
    kind, _, rest = metric.partition(".")
    if kind in ("links", "pools", "groups") and "." in rest:
        owner, _, name = rest.partition(".")
        return f"{kind.removesuffix('s').capitalize()} {owner}", name
    return "All flows", rest or metric


def heading(name: str) -> str:
    """The heading of a metric, given its name without the owner."""
    if name.startswith("links.") and name.count(".") == 2:
        _, link, rest = name.split(".")
        return f"{heading(rest)}\nat {link}"
    return metric_of(name).heading or in_lines(name, WIDEST)


def in_lines(name: str, widest: int) -> str:
    """The name of a metric, broken between words into lines of at most `widest` characters."""
    lines = [""]
    for word in name.replace("_", "_\0").replace(".", ".\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) > widest:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def cell(name: str, interval: Interval | None) -> str:
    """A mean with its unit and, for several seeds, its interval below."""
    if interval is None or not isfinite(interval.mean):
        return "-"
    unit = metric_of(name).unit
    mean = unit.text(interval.mean)
    arms = interval.plus_minus(lambda length: unit.half_width(length, mean), "\n")
    marked = f"{MARK if interval.is_lower_bound else ''}{mean}"
    return f"{marked}\n{arms}" if arms else marked


def value(name: str, number: float) -> str:
    """A value of a metric with its unit."""
    return metric_of(name).unit.text(number)
