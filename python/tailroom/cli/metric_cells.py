"""Metrics as the cells of a table for people: headings in words, values with their units."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from tailroom.cli import report

if TYPE_CHECKING:
    from tailroom.statistics.intervals import Interval

HEADINGS = {
    "utilization": "utilization",
    "loss_fraction": "loss",
    "goodput_bps": "goodput",
    "queue_delay_s_mean": "queueing\ndelay mean",
    "queue_delay_s_p99": "queueing\ndelay p99",
    "one_way_delay_s_mean": "one-way\ndelay mean",
    "one_way_delay_s_p99": "one-way\ndelay p99",
    "jitter_s_mean": "jitter\nmean",
    "all_sizes.completion_time_s_mean": "completion\ntime mean",
    "all_sizes.completion_time_s_p99": "completion\ntime p99",
    "jain_index": "Jain's\nindex",
}
"""Of the metrics that are shown unless others are asked for, without their owner."""
BITS_PER_S = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
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
    if name in HEADINGS:
        return HEADINGS[name]
    if name.startswith("links.") and name.count(".") == 2:
        _, link, rest = name.split(".")
        return f"{heading(rest)}\nat {link}"
    lines = [""]
    for word in name.replace("_", "_\0").replace(".", ".\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(word) > WIDEST:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def cell(name: str, interval: Interval | None) -> str:
    """A mean with its unit and, of several seeds, the half-width of its interval below."""
    if interval is None or not isfinite(interval.mean):
        return "-"
    mean, width = value(name, interval.mean), interval.half_width
    return f"{mean}\n+-{_width(name, width, mean)}" if isfinite(width) else mean


def value(name: str, number: float) -> str:
    """A value of a metric with its unit."""
    words = _words(name)
    if words[-1] == "utilization":
        return report.percent(number)
    if words[-1] == "fraction":
        return report.fraction(number)
    if words[-1] == "bps":
        return report.rate(number)
    if "s" in words[1:]:
        return _milliseconds(number)
    if "packets" in words:
        return report.packets(number)
    return f"{number:.3f}" if "index" in words else f"{number:,.6g}"


def _words(name: str) -> list[str]:
    """The words of a metric's name without its owner; the last but one or two is its unit."""
    return name.rpartition(".")[2].split("_")


def _width(name: str, width: float, mean: str) -> str:
    """A half-width in the unit of its mean."""
    words = _words(name)
    if words[-1] == "utilization":
        return f"{_rounded(100 * width)}%"
    if words[-1] == "fraction":
        return f"{width:.1e}" if width else "0"
    if words[-1] == "bps":
        unit = mean.partition(" ")[2]
        return f"{_rounded(width / BITS_PER_S[unit])} {unit}"
    if "s" in words[1:]:
        return f"{_rounded(1e3 * width)} ms"
    return _rounded(width)


def _rounded(width: float) -> str:
    """Two digits: those of an interval say no more."""
    return f"{float(f'{width:.2g}'):,g}"


def _milliseconds(value_s: float) -> str:
    """Seconds as milliseconds, with digits enough for the delay of a fast link."""
    ms = 1e3 * value_s
    if ms == 0:
        return "0 ms"
    digits = 3 if abs(ms) < 1 else 2 if abs(ms) < 10 else 1 if abs(ms) < 1000 else 0
    return f"{ms:,.{digits}f} ms"
