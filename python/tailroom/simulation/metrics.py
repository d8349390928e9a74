"""Metrics: the numbers of a summary by name, as a sweep stores them and a target names them."""

import tomllib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tailroom.errors import MetricError, ScenarioError
from tailroom.scenario.named_values import near
from tailroom.scenario.source import ScenarioSource
from tailroom.simulation.engine_run import simulate

if TYPE_CHECKING:
    import pyarrow as pa

ALL_FLOWS = "flows"
"""Prefix of what concerns all permanent flows under congestion control together."""

OWNERS = ("links", "groups")
"""What has metrics of its own."""

MOST_NEAR = 4
"""Names that an error offers where some are near."""
MOST_LISTED = 12
"""Names that an error lists where none is near."""

NO_NUMBERS = ("congestion", "all_sizes")
"""A text and a table, null where a group has no control and no finite flows."""


NO_MEASUREMENTS = "settings"
"""A group's keys as they were in the run: given, not measured."""


def metrics_of(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Every number of a summary by a dotted name.

    `links.NAME.METRIC` and `groups.NAME.METRIC` as in `tailroom run --json`, and `flows.METRIC` for
    all permanent flows under congestion control together: `jain_index`, `goodput_bps`.
    """
    numbers: dict[str, float | None] = {}
    for kind in OWNERS:
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


def expected_names(source: ScenarioSource) -> list[str] | None:
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


def full_names(source: ScenarioSource, wanted: Iterable[str]) -> dict[str, str]:
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
    kind, found = _matches(name, known)
    if len(found) == 1:
        return found[0]
    if found:
        short = ", ".join(one.removeprefix(f"{kind}.") for one in found)
        raise MetricError(f"{name}: there are several; choose one of {short}")
    raise MetricError(f"{name}: {_why_missing(name, known)}")


def _matches(name: str, known: list[str]) -> tuple[str, list[str]]:
    """The metrics that a name may mean, and whether they are of `links` or `groups`."""
    if name in known:
        return "", [name]
    if f"{ALL_FLOWS}.{name}" in known and name == "jain_index":
        return "", [f"{ALL_FLOWS}.{name}"]
    for kind in OWNERS:
        owned = [one for one in known if one.startswith(f"{kind}.")]
        found = [one for one in owned if one == f"{kind}.{name}"] or [
            one
            for one in owned
            if one.endswith(f".{name}") and one.count(".") == name.count(".") + 2
        ]
        if found:
            return kind, found
    return "", []


def short_name(metric: str, known: list[str], *, fewest_parts: int = 1) -> str:
    """The shortest name by which `find_metric` finds a metric of this full name.

    Args:
        metric: Its full name.
        known: The full names of all metrics.
        fewest_parts: Words between dots; 2 names the link or group too.
    """
    parts = metric.split(".")
    for start in range(len(parts) - fewest_parts, 0, -1):
        short = ".".join(parts[start:])
        if _matches(short, known)[1] == [metric]:
            return short
    return metric


def _flatten(prefix: str, values: Mapping[str, Any], into: dict[str, float | None]) -> None:
    for key, value in values.items():
        if key == NO_MEASUREMENTS:
            continue
        name = f"{prefix}.{key}"
        if isinstance(value, Mapping):
            _flatten(name, value, into)
        elif value is None:
            if key not in NO_NUMBERS:
                into[name] = None
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            into[name] = float(value)


def _why_missing(name: str, known: list[str]) -> str:
    """Why there is no such metric, and which the user may have meant."""
    owner, _, metric = name.rpartition(".")
    if not owner:
        return f"there is no such metric; {_nearest(metric, known, known)}"
    kinds = [owner.partition(".")[0]] if owner.startswith(("links.", "groups.")) else OWNERS
    bare = owner.removeprefix("links.").removeprefix("groups.")
    for kind in kinds:
        own = [one for one in known if one.startswith(f"{kind}.{bare}.")]
        if own:
            what = f"{kind.removesuffix('s')} {bare} has no {metric}"
            return f"{what}; {_elsewhere(metric, own, known) or _nearest(metric, own, known)}"
    if owner == ALL_FLOWS:
        own = [one for one in known if one.startswith(f"{ALL_FLOWS}.")]
        return f"there is no such metric of all flows; {_nearest(metric, own, known)}"
    owned = [one for one in known if one.startswith(tuple(f"{kind}." for kind in kinds))]
    owners = list(dict.fromkeys(one.split(".")[1] for one in owned))
    what = " or ".join(kind.removesuffix("s") for kind in kinds)
    return f"there is no {what} {bare}; choose one of {_listed(near(bare, owners) or owners)}"


def _elsewhere(metric: str, own: list[str], known: list[str]) -> str:
    """Where else there is a metric of this very name; empty if nowhere."""
    at_links = [one for one in own if one.count(".") > 2 and one.endswith(f".{metric}")]
    where = [f"of its packets at a link: {_names(at_links, known)}"] if at_links else []
    for kind in OWNERS:
        others = [
            one
            for one in known
            if one.startswith(f"{kind}.") and one.count(".") == 2 and one.endswith(f".{metric}")
        ]
        if others:
            where.append(f"{kind} have: {_names(others, known)}")
    return "; ".join(where)


def _names(metrics: list[str], known: list[str]) -> str:
    return _listed([short_name(one, known, fewest_parts=2) for one in metrics])


def _nearest(metric: str, among: list[str], known: list[str]) -> str:
    """The nearest metrics, else some of those there are, by names that `find_metric` finds."""
    last: dict[str, list[str]] = {}
    for one in among:
        last.setdefault(one.rpartition(".")[2], []).append(one)
    # The most similar word first, of every link and group that has it.
    meant = [short_name(one, known) for word in near(metric, last) for one in last[word]]
    if meant:
        return f"did you mean {' or '.join(list(dict.fromkeys(meant))[:MOST_NEAR])}?"
    return f"choose one of {_listed([short_name(one, known) for one in among])}"


def _listed(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    more = len(names) - MOST_LISTED
    rest = f" and {more} more (`tailroom run FILE --json` shows all)" if more > 0 else ""
    return f"{', '.join(names[:MOST_LISTED])}{rest}"
