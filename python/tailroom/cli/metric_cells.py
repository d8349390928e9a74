"""Metrics as the cells of a table for people: headings in words, values with their units."""

from math import isfinite

from tailroom.cli import report
from tailroom.confidence import Interval

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
    mean, width = interval.mean, interval.half_width
    if not isfinite(width):
        return _value(name, mean)
    return f"{_value(name, mean)}\n+-{_value(name, width, is_width=True)}"


def _value(name: str, value: float, *, is_width: bool = False) -> str:
    words = name.rpartition(".")[2].split("_")
    if words[-1] == "utilization":
        return f"{_rounded(100 * value)}%" if is_width else report.percent(value)
    if words[-1] == "fraction":
        return f"{value:.1e}" if is_width and value else report.fraction(value)
    if words[-1] == "bps":
        return report.rate(value)
    if "s" in words[1:]:
        return f"{_rounded(1e3 * value)} ms" if is_width else _milliseconds(value)
    if is_width:
        return _rounded(value)
    if "packets" in words:
        return report.packets(value)
    return f"{value:.3f}" if "index" in words else f"{value:,.6g}"


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
