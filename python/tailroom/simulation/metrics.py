"""Metrics: the numbers of a summary by the names that sweeps store and targets use."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tailroom.errors import MetricError, ScenarioError
from tailroom.scenario.named_values import few, near
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.engine_run import simulate

if TYPE_CHECKING:
    import pyarrow as pa

ALL_FLOWS = "flows"
"""Prefix of metrics of all permanent flows under congestion control together."""

OWNERS = ("links", "pools", "groups")
"""Parts of the summary whose entries have metrics of their own."""

LARGEST_POOL_LOSS = "pool_loss_fraction_max"
"""Metric of the pool that loses most."""

MOST_NEAR = 4
"""Maximum number of similar names in an error message."""
MOST_LISTED = 6
"""Maximum number of names in an error message if no name is similar."""
USUAL = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99", "goodput_bps")
"""Metrics that people ask for most, which are named where no name is similar."""

NO_NUMBERS = ("congestion", "all_sizes", "coflows")
"""Keys whose values are not numbers: a text and tables, which may be null."""

NO_MEASUREMENTS = "settings"
"""Keys of a group in the scenario, which are given and not measured."""


def metrics_of(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """Returns every number of a summary by a dotted name.

    The names are `links.NAME.METRIC`, `pools.NAME.METRIC` and `groups.NAME.METRIC` as in `tailroom
    run --json`, `convergence_time_s`, `pool_loss_fraction_max` (the largest loss of a pool), and
    `flows.METRIC` (`jain_index`, `goodput_bps`) for all permanent flows under congestion control
    together. Whether a value is only a lower bound (`METRIC_is_lower_bound`) is 1 or 0.
    """
    numbers: dict[str, float | None] = {}
    for kind in OWNERS:
        for name, values in summary[kind].items():
            _flatten(f"{kind}.{name}", values, numbers)
    controlled = [flow["goodput_bps"] for flow in summary["flows"] if flow["congestion"]]
    numbers[f"{ALL_FLOWS}.goodput_bps"] = sum(controlled) if controlled else None
    numbers[f"{ALL_FLOWS}.jain_index"] = jain_index(controlled)
    numbers["convergence_time_s"] = summary["convergence_time_s"]
    if pools := summary["pools"]:
        losses = [pool["loss_fraction"] for pool in pools.values()]
        numbers[LARGEST_POOL_LOSS] = max((one for one in losses if one is not None), default=None)
    return numbers


def jain_index(rates: Iterable[float]) -> float | None:
    """Returns Jain's index (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984), in [1/n, 1].

    Args:
        rates: Rates of n flows in any unit, 0 or more.

    Returns:
        The index; `None` if there is no flow or all rates are 0.
    """
    rates = list(rates)
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def names_of(table: "pa.Table") -> list[str]:
    """Returns the names of the columns of stored runs that are metrics."""
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    return [
        column.name
        for column in table.schema
        if column.type == pa.float64() and column.name != "wall_s"
    ]


def expected_names(source: Scenario) -> list[str] | None:
    """Returns the metrics that runs of a scenario will have, by simulating 1 us of it.

    Returns `None` if the scenario does not permit a run of 1 us; the first run then shows them.
    """
    known = source.resolved
    starts = {f"flows.{name}.start": "0 s" for name in known["flows"]}
    # A log that begins after the end of the run is refused.
    logs = {
        f"{table}.{name}.{log}.{end}": time
        for table, log in (("links", "arrival_log"), ("flows", "endpoint_log"))
        for name, one in known[table].items()
        if log in one
        for end, time in (("from", "0 s"), ("to", "1 us"))
    }
    instant = source.replacing({"duration": "1 us", "measure_from": "0 s", **starts, **logs})
    try:
        return list(metrics_of(simulate(instant).summary))
    except ScenarioError:
        return None


def full_names(source: Scenario, wanted: Iterable[str]) -> dict[str, str]:
    """Returns the full names of metrics by the given names, without a finished run.

    Raises:
        MetricError: No metric has such a name, or several have it.
    """
    known = expected_names(source)
    return {name: name if known is None else find_metric(name, known) for name in wanted}


def find_metric(name: str, known: Iterable[str]) -> str:
    """Returns the full name of a metric.

    `utilization` is the utilization of the only link, `core.utilization` the utilization of link
    `core`, `jain_index` the index of all flows, `reno.goodput_bps` the goodput of group `reno`.
    Metrics of links come before metrics of pools, and these before metrics of groups.

    Args:
        name: Full or short name.
        known: Full names of all metrics.

    Raises:
        MetricError: No metric has this name, or several have it.
    """
    known = list(known)
    kind, matches = _matches(name, known)
    if len(matches) == 1:
        return matches[0]
    if matches:
        short = few(name, [match.removeprefix(f"{kind}.") for match in matches])
        raise MetricError(f"{name}: several metrics have this name; choose one of {short}")
    raise MetricError(f"{name}: {_why_missing(name, known)}")


def _matches(name: str, known: list[str]) -> tuple[str, list[str]]:
    """Returns `links`, `pools` or `groups`, and the metrics that a name may mean; empty if none."""
    if name in known:
        return "", [name]
    if f"{ALL_FLOWS}.{name}" in known and name == "jain_index":
        return "", [f"{ALL_FLOWS}.{name}"]
    for kind in OWNERS:
        owned = [metric for metric in known if metric.startswith(f"{kind}.")]
        matches = [metric for metric in owned if metric == f"{kind}.{name}"] or [
            metric
            for metric in owned
            if metric.endswith(f".{name}") and metric.count(".") == name.count(".") + 2
        ]
        if matches:
            return kind, matches
    return "", []


def short_name(metric: str, known: list[str], *, fewest_parts: int = 1) -> str:
    """Returns the shortest name by which `find_metric` finds a metric.

    Args:
        metric: Full name of the metric.
        known: Full names of all metrics.
        fewest_parts: Minimum number of parts between dots; 2 includes the link or group.
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
        elif isinstance(value, (int, float)):
            into[name] = float(value)


def _why_missing(name: str, known: list[str]) -> str:
    """Says which part of the name is unknown, and which names the user may have meant."""
    owner, _, metric = name.rpartition(".")
    if not owner:
        return f"there is no such metric; {_nearest(metric, known, known)}"
    first, _, rest = owner.partition(".")
    kinds, bare = ([first], rest) if rest and first in OWNERS else (OWNERS, owner)
    for kind in kinds:
        own = [full for full in known if full.startswith(f"{kind}.{bare}.")]
        if own:
            problem = f"{kind.removesuffix('s')} {bare} has no {metric}"
            return f"{problem}; {_elsewhere(metric, own, known) or _nearest(metric, own, known)}"
    if owner == ALL_FLOWS:
        own = [full for full in known if full.startswith(f"{ALL_FLOWS}.")]
        return f"there is no such metric of all flows; {_nearest(metric, own, known)}"
    owned = [full for full in known if full.startswith(tuple(f"{kind}." for kind in kinds))]
    if not owned:
        return f"the scenario has no {kinds[0]}; choose a metric of a link or of a group"
    has = {full.split(".")[0] for full in owned}
    words = " or ".join(kind.removesuffix("s") for kind in kinds if kind in has)
    stated, _, inner = bare.partition(".")
    problem = f"there is no {words} {stated}"
    # Of 131 links and a group of queries, the group alone has metrics of coflows.
    end = f"{inner}.{metric}".lstrip(".")
    having = [full for full in owned if full.split(".", 2)[2] == end]
    if inner and having:
        return f"{problem}; did you mean {few(name, [full.partition('.')[2] for full in having])}?"
    owners = list(dict.fromkeys(full.split(".")[1] for full in having or owned))
    return f"{problem}; choose one of {few(stated, near(stated, owners) or owners)}"


def _elsewhere(metric: str, own: list[str], known: list[str]) -> str:
    """Lists other links or groups that have a metric of this name; empty if there are none."""
    of_parts = [full for full in own if full.count(".") > 2 and full.endswith(f".{metric}")]
    at_links = [full for full in of_parts if ".links." in full]
    of_others = [full for full in of_parts if full not in at_links]
    where = [f"it has {_listed(metric, of_others, known)}"] if of_others else []
    where += [f"of its packets at a link: {_listed(metric, at_links, known)}"] if at_links else []
    for kind in OWNERS:
        others = [
            full
            for full in known
            if full.startswith(f"{kind}.") and full.count(".") == 2 and full.endswith(f".{metric}")
        ]
        if others:
            where.append(f"{kind} have: {_listed(metric, others, known)}")
    return "; ".join(where)


def _nearest(metric: str, among: list[str], known: list[str]) -> str:
    """Lists similar metrics, or some of all, by names that `find_metric` finds."""
    by_last_part: dict[str, list[str]] = {}
    for full in among:
        by_last_part.setdefault(full.rpartition(".")[2], []).append(full)
    # The most similar last part first, for every link and group that has it.
    similar = [
        short_name(full, known)
        for part in near(metric, by_last_part)
        for full in by_last_part[part]
    ]
    if similar:
        return f"did you mean {' or '.join(list(dict.fromkeys(similar))[:MOST_NEAR])}?"
    usual = [short_name(full, known) for full in among if full.rpartition(".")[2] in USUAL]
    names = list(dict.fromkeys(usual or (short_name(full, known) for full in among)))
    return f"choose one of {', '.join(names[:MOST_LISTED])} (`tailroom list metrics` shows all)"


def _listed(name: str, metrics: list[str], known: list[str]) -> str:
    """A few metrics with the names of their links and groups."""
    return few(name, [short_name(metric, known, fewest_parts=2) for metric in metrics])
