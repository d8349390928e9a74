"""Metrics: the numbers of a summary by name, as a sweep stores them and a target names them."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tailroom._engine import ScenarioError
from tailroom.run import simulate
from tailroom.scenario import ScenarioText
from tailroom.wrong_input import WrongInputError

if TYPE_CHECKING:
    import pyarrow as pa

ALL_FLOWS = "flows"
"""Prefix of what concerns all permanent flows under congestion control together."""

NO_NUMBERS = ("congestion", "all_sizes")
"""A text and a table, null where a group has no control and no finite flows."""


class MetricError(WrongInputError, ValueError):
    """There is no such metric, or several; the message names those there are."""


def metrics_of(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Every number of a summary by a dotted name.

    `links.NAME.METRIC` and `groups.NAME.METRIC` as in `tailroom run --json`, and `flows.METRIC` for
    all permanent flows under congestion control together: `jain_index`, `goodput_bps`.
    """
    numbers: dict[str, float | None] = {}
    for kind in ("links", "groups"):
        for name, values in summary[kind].items():
            _flatten(f"{kind}.{name}", values, numbers)
    controlled = [flow["goodput_bps"] for flow in summary["flows"] if flow["congestion"]]
    numbers[f"{ALL_FLOWS}.goodput_bps"] = sum(controlled) if controlled else None
    numbers[f"{ALL_FLOWS}.jain_index"] = jain_index(controlled)
    numbers["convergence_time_s"] = summary["convergence_time_s"]
    return numbers


def jain_index(rates: Iterable[float]) -> float | None:
    """(sum x)^2 / (n sum x^2) of Jain, Chiu, Hawe (1984); `None` where nothing flows."""
    rates = list(rates)
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def names_of(table: "pa.Table") -> list[str]:
    """The metrics among the columns of stored runs."""
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    return [one.name for one in table.schema if one.type == pa.float64() and one.name != "wall_s"]


def expected_names(source: ScenarioText) -> list[str] | None:
    """The metrics that runs of a scenario will have, from an instant of it.

    `None` if the scenario admits no run that short: then the first run shows them.
    """
    flows = tomllib.loads(source.resolve(seed=None))["flows"]
    starts = {f"flows.{name}.start": "0 s" for name in flows}
    instant = source.replacing({"duration": "1 us", "measure_from": "0 s", **starts})
    try:
        return list(metrics_of(simulate(instant).summary))
    except ScenarioError:
        return None


def full_names(source: ScenarioText, wanted: Iterable[str]) -> dict[str, str]:
    """The full names of metrics, before any run shows them.

    Raises:
        MetricError: There is none of a name, or several.
    """
    known = expected_names(source)
    return {name: name if known is None else find_metric(name, known) for name in wanted}


def find_metric(name: str, known: Iterable[str]) -> str:
    """The full name of a metric that a user names in short.

    `utilization` is that of the only link, `core.utilization` that of link `core`, `jain_index`
    that of all flows, `reno.goodput_bps` that of group `reno`. A link's comes before a group's.

    Raises:
        MetricError: There is none of this name, or several.
    """
    known = list(known)
    if name in known:
        return name
    if f"{ALL_FLOWS}.{name}" in known and name == "jain_index":
        return f"{ALL_FLOWS}.{name}"
    for kind in ("links", "groups"):
        owned = [one for one in known if one.startswith(f"{kind}.")]
        found = [one for one in owned if one == f"{kind}.{name}"] or [
            one
            for one in owned
            if one.endswith(f".{name}") and one.count(".") == name.count(".") + 2
        ]
        if len(found) == 1:
            return found[0]
        if found:
            short = ", ".join(one.removeprefix(f"{kind}.") for one in found)
            raise MetricError(f"{name}: there are several; choose one of {short}")
    raise MetricError(f"{name}: there is no such metric; {_nearest(name, known)}")


def _flatten(prefix: str, values: Mapping[str, Any], into: dict[str, float | None]) -> None:
    for key, value in values.items():
        name = f"{prefix}.{key}"
        if isinstance(value, Mapping):
            _flatten(name, value, into)
        elif value is None:
            if key not in NO_NUMBERS:
                into[name] = None
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            into[name] = float(value)


def _nearest(name: str, known: list[str]) -> str:
    """What the user may have meant: the nearest metric, else some of those there are."""
    last = list(dict.fromkeys(one.rpartition(".")[2] for one in known))
    near = difflib.get_close_matches(name.rpartition(".")[2], last, n=3)
    return f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(last)}"
