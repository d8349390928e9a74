"""Parts of the scenarios that `compare_results.py` records: a dumbbell, a mix, other values."""

from typing import Any

from tailroom import _engine

Document = dict[str, Any]
"""A scenario, or a table in it, as `tomllib` reads it."""

Parameter = dict[str, Any]
"""A parameter of a component, as `_engine.components()` describes it."""

LINK: Document = {
    "rate": "50 Mbit/s",
    "delay": "5 ms",
    "queue": {"kind": "drop_tail", "limit": "60 packets"},
}

MIX: dict[str, Document] = {
    "cubic": {
        "count": 2,
        "congestion": "cubic",
        "ecn": "classic",
        "rtt": {"from": "20 ms", "to": "60 ms"},
        "start": {"uniform": ["0 s", "1 s"]},
    },
    "reno": {"congestion": "reno", "rtt": "40 ms"},
    "prague": {"congestion": "prague", "ecn": "l4s", "rtt": "30 ms", "start": "1 s"},
    "call": {"packet_size": "200 B", "source": {"kind": "poisson", "rate": "2 Mbit/s"}},
}
"""Flows with and without ECN, and an unresponsive one."""

INPUT_FILES = {
    "opportunities.txt": "".join(f"{ms}\n" * (1 + ms % 5) for ms in range(1, 400, 2)),
    "sizes.csv": "1000 B, 0.2\n20 kB, 0.7\n300 kB, 1\n",
    "flows.csv": "start_s,bytes,rate_bps,rtt_s\n"
    + "".join(
        f"{number / 20:.2f},{5000 + 7919 * number % 90000},{20_000_000 if number % 3 else ''},"
        f"{0.05 if number % 2 else ''}\n"
        for number in range(150)
    ),
}
"""Files that scenarios name: a trace of Mahimahi, a distribution, a list of flows."""


def dumbbell(flows: Document, link: Document) -> Document:
    """Flows over one link, for 12 s; `link` replaces keys of `LINK`, and `None` leaves one out."""
    bottleneck = {key: value for key, value in {**LINK, **link}.items() if value is not None}
    return {
        "duration": "12 s",
        "measure_from": "2 s",
        "series": {"interval": "250 ms"},
        "defaults": {"host": "plain"},
        "links": {"bottleneck": bottleneck},
        "flows": {name: {"path": ["bottleneck"], **group} for name, group in flows.items()},
    }


REQUIRED = {
    "limit": "60 packets",
    "threshold": "20 packets",
    "k_min": "10 packets",
    "k_max": "40 packets",
}
"""Parameters of disciplines that have no default, and no automatic value either."""


def another_value(parameter: Parameter) -> object:
    """A valid value that is not the default, or `None` if the parameter's type tells none."""
    default = parameter.get("default")
    kind = parameter["type"]
    if kind == "boolean":
        return not default
    if kind == "number":
        return _another_number(parameter)
    if kind == "integer":
        lowest = int(parameter.get("minimum", 0))
        return lowest + 1 if lowest + 1 != default else default + 1
    if kind == "queue_limit":
        return "30 packets" if default != "30 packets" else "40 packets"
    if kind == "size":
        return "1000 B" if default is None else f"{2 * round(_engine.quantity(kind, default))} B"
    if kind in ("duration", "positive_duration") and default is not None:
        return f"{round(1.5e9 * _engine.quantity(kind, default))} ns"
    return None


def _another_number(parameter: Parameter) -> float:
    lowest = float(parameter.get("minimum", 0.0))
    highest = float(parameter.get("maximum", 1e9))
    default = parameter.get("default")
    if default is None:
        return lowest + 0.5 * min(highest - lowest, 0.01)
    nearer = lowest + 0.5 * (float(default) - lowest)
    return nearer if nearer != default else min(highest, 1.25 * float(default) or 0.1)
