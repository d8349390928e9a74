"""The catalogue of metrics: label, unit, range, direction and axis of each, in one place.

Tables, pictures, reports, criteria and targets read from this catalogue how a metric is shown. A
metric has one entry for all links, groups and flows: `links.*.utilization` is the utilization of
any link.
"""

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Literal

from tailroom.simulation.metric_units import (
    BDP,
    BITS_PER_S,
    BYTES,
    COUNT,
    FACTOR,
    FRACTION,
    INDEX,
    LOAD,
    MEAN_COUNT,
    MILLISECONDS,
    PACKETS,
    SECONDS,
    SHARE,
    TIME_FRACTION,
    Unit,
)
from tailroom.simulation.result_types import LinkSummary

Better = Literal["higher", "lower"]
"""The direction in which a quantity improves."""

STATISTICS = {
    "mean": "mean",
    "p01": "p01",
    "p50": "median",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
    "max": "largest",
}
"""The statistic at the end of a name, and its word in a label."""

WIDEST = 11
"""Largest width of a line of a heading, in characters, unless a word is longer."""


IS_LOWER_BOUND = "_is_lower_bound"
"""End of the name that says whether a mean or percentile may be larger: some have not ended."""
AT_MOST = "_at_most"
"""End of the name of what a percentile is at most when all have ended."""


@dataclass(frozen=True)
class Metric:
    """How a metric is named and shown. No metric is negative."""

    quantity: str
    """The quantity in words, without statistic and unit."""
    unit: Unit
    """Unit of the values, and how values are written."""
    better: Better | None = None
    """Direction that a user wants, all else equal; `None` if it depends on the question."""
    highest: float | None = None
    """The largest possible value; `None` if there is no bound."""
    is_logarithmic: bool = True
    """Whether an axis is logarithmic if the values span decades."""
    in_tables: str = ""
    """The quantity in the headings of tables, where `quantity` is too long or too general."""
    statistic: str = ""
    """The statistic in words, as in `STATISTICS`; empty for a number that is none."""

    @property
    def label(self) -> str:
        """Label on axes, without the unit."""
        return f"{self.statistic} {self.quantity}".strip()

    @property
    def heading(self) -> str:
        """Heading in the tables of every command, of several lines; values have their unit."""
        return in_lines(f"{self.in_tables or self.quantity} {self.statistic}".strip())


def in_lines(words: str) -> str:
    """Breaks words into lines of at most `WIDEST` characters."""
    return "\n".join(wrap(words, WIDEST, break_long_words=False, break_on_hyphens=False))


def _statistics(name: str, metric: Metric, statistics: str) -> dict[str, Metric]:
    """Returns one entry per statistic, such as `queue_delay_s_mean`.

    Args:
        name: Name of the metric without the statistic.
        metric: The entry without the statistic.
        statistics: Keys of `STATISTICS`, separated by spaces.
    """
    return {
        f"{name}_{statistic}": replace(metric, statistic=STATISTICS[statistic])
        for statistic in statistics.split()
    }


def _bounded(name: str, metric: Metric, statistics: str) -> dict[str, Metric]:
    """Returns one entry per statistic, and those that say whether and how far it may be larger.

    Arguments are those of `_statistics`. A mean has no bound above.
    """
    found = _statistics(name, metric, statistics)
    for key, one in list(found.items()):
        found[f"{key}{IS_LOWER_BOUND}"] = Metric(
            f"{one.label}, only a lower bound", SHARE, "lower", 1.0
        )
        if not key.endswith("_mean"):
            heading = f"{one.in_tables or one.quantity} {one.statistic} at most"
            found[f"{key}{AT_MOST}"] = replace(
                one, quantity=f"{one.label}, at most", in_tables=heading, statistic=""
            )
    return found


_LOSS = Metric("loss", FRACTION, "lower", 1.0)
_WAIT = Metric("queueing delay", SECONDS, "lower")
_MEMORY = Metric("memory", BYTES, "lower")
_GOODPUT = Metric("goodput", BITS_PER_S, "higher")
_JAIN = Metric("fairness", INDEX, "higher", 1.0, is_logarithmic=False, in_tables="Jain's index")
_PROBABILITY = Metric("probability", LOAD, None, 1.0)

_OF_FULL_MEMORY = {"drops_overflow_packets", "drops_pool_packets", "drops_headroom_packets"}
"""Drops for want of memory, of which fewer are better."""

LINK = {
    "capacity_bps": Metric("capacity", BITS_PER_S),
    "utilization": Metric("utilization", SHARE, "higher", 1.0, is_logarithmic=False),
    "utilization_without_duplicates": Metric(
        "utilization without duplicates", SHARE, "higher", 1.0, is_logarithmic=False
    ),
    "loss_fraction": _LOSS,
    "arrivals_packets": Metric("arrivals", PACKETS),
    "drops_packets": Metric("drops", PACKETS, "lower"),
    **{
        key: Metric(
            key.removesuffix("_packets").replace("_", " "),
            PACKETS,
            "lower" if key in _OF_FULL_MEMORY else None,
        )
        for key in LinkSummary.__annotations__
        if key.startswith("drops_") and key != "drops_packets"
    },
    "marks_packets": Metric("marks", PACKETS),
    "random_losses_packets": Metric("random losses", PACKETS, "lower"),
    "reordered_packets": Metric("reordered packets", PACKETS, "lower"),
    "departures_packets": Metric("departures", PACKETS),
    **_statistics(
        "queue_packets", Metric("queue", PACKETS, "lower"), "mean p01 p50 p95 p99 p999 max"
    ),
    **_statistics("queue_seen_packets", Metric("queue seen", PACKETS, "lower"), "mean p01 p99"),
    **_statistics("queue_delay_s", _WAIT, "mean p01 p50 p95 p99 p999 max"),
    "limit_packets": Metric("limit", PACKETS),
    "limit_bytes": Metric("limit", BYTES),
    "limit_ms": Metric("limit", MILLISECONDS, in_tables="limit (ms)"),
    "limit_bdp": Metric("limit", BDP, in_tables="limit (bdp)"),
    **_statistics("burst_packets", Metric("burst", PACKETS), "mean p99 max"),
    "congestion_episodes": Metric("congestion episodes", COUNT),
    "loss_synchronization": Metric("loss synchronization", SHARE, None, 1.0),
    "offered_load": Metric("offered load", LOAD),
    "flows_in_progress_mean": Metric("flows in progress", MEAN_COUNT, statistic="mean"),
    "flows_in_progress_p99": Metric("flows in progress", COUNT, statistic="p99"),
    "bottlenecked_flows_mean": Metric("bottlenecked flows", MEAN_COUNT, statistic="mean"),
    "bottlenecked_flows_p99": Metric("bottlenecked flows", COUNT, statistic="p99"),
    "bottlenecked_time_fraction": Metric("bottlenecked time", TIME_FRACTION, None, 1.0),
    "pause_frames": Metric("pause frames", COUNT, "lower"),
    "paused_fraction": Metric("paused time", TIME_FRACTION, "lower", 1.0),
    "blocked_fraction": Metric("blocked time", TIME_FRACTION, "lower", 1.0),
    **_statistics("pause_s", Metric("pause", SECONDS, "lower"), "max"),
    **_statistics("ingress_bytes", Metric("memory of the ingress", BYTES, "lower"), "max"),
    **_statistics("headroom_bytes", Metric("headroom", BYTES, "lower"), "max"),
}
"""Metrics of a link."""

POOL = {
    "size_bytes": Metric("size", BYTES),
    "shared_bytes": Metric("shared memory", BYTES),
    **_statistics("memory_bytes", _MEMORY, "mean p50 p95 p99 max"),
    "loss_fraction": _LOSS,
    "arrivals_packets": Metric("arrivals", PACKETS),
    "drops_pool_packets": Metric("drops pool", PACKETS, "lower"),
    "drops_threshold_packets": Metric("drops threshold", PACKETS),
}
"""Metrics of the memory that links share."""

POOL_LINK = {
    **_statistics("memory_bytes", _MEMORY, "mean"),
    "memory_share": Metric("share of the memory", SHARE, None, 1.0),
    "threshold_fraction": Metric("refused by the threshold", FRACTION, None, 1.0),
}
"""Metrics of a link in its pool."""

DISCIPLINE = {
    "average_queue_packets": Metric("average queue", PACKETS),
    "average_queue_bytes": Metric("average queue", BYTES),
    "max_p": _PROBABILITY,
    "drop_probability": replace(_PROBABILITY, quantity="drop probability"),
    "largest_drop_probability": replace(_PROBABILITY, quantity="largest drop probability"),
    "base_probability": replace(_PROBABILITY, quantity="base probability"),
    "classic_probability": replace(_PROBABILITY, quantity="classic probability"),
    "l4s_probability": replace(_PROBABILITY, quantity="L4S probability"),
    "classic_delay_s": Metric("classic delay", SECONDS, "lower"),
    "l4s_delay_s": Metric("L4S delay", SECONDS, "lower"),
    "drop_count": Metric("drop count", COUNT),
    "dropping_state": Metric("dropping state", LOAD, None, 1.0, is_logarithmic=False),
    "backlogged_flows": Metric("backlogged flows", COUNT),
    "hash_collisions": Metric("flows that share a queue", COUNT),
    "backlogged_flows_mean": Metric("backlogged flows", MEAN_COUNT, statistic="mean"),
    "active_flows": Metric("active flows", COUNT),
    "active_flows_mean": Metric("active flows", MEAN_COUNT, statistic="mean"),
    "active_flows_p99": Metric("active flows", COUNT, statistic="p99"),
    "active_flows_max": Metric("active flows", COUNT, statistic="largest"),
    "emptied_intervals_fraction": Metric("emptied intervals", TIME_FRACTION, None, 1.0),
    "fair_rate_bps": Metric("fair rate", BITS_PER_S),
    "priority_load": Metric("priority load", LOAD),
}
"""Metrics that queue disciplines report about themselves."""

_OF_FLOWS = {
    "goodput_bps": _GOODPUT,
    "throughput_bps": Metric("throughput", BITS_PER_S),
    # Above 1 if flows send more than the capacity of the slowest link on their path.
    "share": Metric("share", SHARE, None, is_logarithmic=False),
    "loss_fraction": _LOSS,
    "marked_fraction": Metric("marked", FRACTION, None, 1.0),
    "retransmissions": Metric("retransmissions", COUNT, "lower"),
    "duplicate_packets": Metric("duplicates", PACKETS, "lower"),
    "discarded_packets": Metric("discarded", PACKETS, "lower"),
    **_statistics("rtt_s", Metric("RTT", SECONDS, "lower"), "mean"),
    **_statistics(
        "one_way_delay_s",
        Metric("one-way delay", SECONDS, "lower"),
        "mean",
    ),
    **_statistics("cwnd_packets", Metric("cwnd", PACKETS), "mean"),
    "congestion_events": Metric("congestion events", COUNT, in_tables="cuts"),
    "timeouts": Metric("timeouts", COUNT, "lower"),
    "undone_reductions": Metric("undone reductions", COUNT, "lower"),
    "loss_probes": Metric("loss probes", COUNT, "lower"),
    "completed_flows": Metric("completed flows", COUNT, "higher", in_tables="completed"),
}

FLOW = {
    **_OF_FLOWS,
    **_statistics(
        "packets_between_reductions", Metric("packets between reductions", PACKETS), "mean"
    ),
    **_statistics("seconds_between_reductions", Metric("time between reductions", SECONDS), "mean"),
}
"""Metrics of one permanent flow; `tailroom run --json` has them, but the rows of a sweep do not."""

GROUP = {
    "flows": Metric("flows", COUNT),
    **_OF_FLOWS,
    **_statistics("queue_delay_s", _WAIT, "mean p50 p95 p99 p999 max"),
    **_statistics(
        "one_way_delay_s",
        Metric("one-way delay", SECONDS, "lower"),
        "mean p99",
    ),
    **_statistics("jitter_s", Metric("jitter", SECONDS, "lower"), "mean"),
    "refused_flows": Metric("refused flows", COUNT, "lower"),
    "refused_fraction": Metric("refused", FRACTION, "lower", 1.0),
    "jain_index": _JAIN,
}
"""Metrics of a group of flows."""

GROUP_AT_LINK = {
    "arrivals_packets": Metric("arrivals", PACKETS),
    "drops_packets": Metric("drops", PACKETS, "lower"),
    "loss_fraction": _LOSS,
    **_statistics("queue_delay_s", _WAIT, "mean p50 p95 p99 p999 max"),
}
"""Metrics of the packets of a group at one link."""

SIZES = {
    "from_bytes": Metric("smallest payload", BYTES),
    "to_bytes": Metric("smallest payload above", BYTES),
    "completed_flows": Metric("completed flows", COUNT, "higher", in_tables="completed"),
    "unfinished_flows": Metric("unfinished flows", COUNT, "lower", in_tables="unfinished"),
    "loss_fraction": _LOSS,
    **_bounded(
        "completion_time_s",
        Metric("completion time", SECONDS, "lower"),
        "mean p50 p90 p95 p99 p999",
    ),
    **_bounded("slowdown", Metric("slowdown", FACTOR, "lower"), "mean p50 p99"),
}
"""Metrics of flows that arrive and depart, by class of sizes."""

COFLOWS = {
    "completed_coflows": Metric("completed coflows", COUNT, "higher", in_tables="completed"),
    "unfinished_coflows": Metric("unfinished coflows", COUNT, "lower", in_tables="unfinished"),
    **_bounded(
        "completion_time_s",
        Metric("completion time of coflows", SECONDS, "lower", in_tables="coflow time"),
        "mean p50 p90 p95 p99 p999",
    ),
}
"""Metrics of queries and of the steps of collective operations."""

CATALOGUE: dict[str, Metric] = {
    f"{prefix}{name}": metric
    for prefix, metrics in {
        "links.*.": LINK,
        "links.*.discipline_state.": DISCIPLINE,
        "pools.*.": POOL,
        "pools.*.links.*.": POOL_LINK,
        "groups.*.": GROUP,
        "groups.*.all_sizes.": SIZES,
        "groups.*.coflows.": COFLOWS,
        "groups.*.links.*.": GROUP_AT_LINK,
        "flows.": {"goodput_bps": _GOODPUT, "jain_index": _JAIN},
        "": {
            "convergence_time_s": Metric("convergence time", SECONDS, "lower"),
            "pool_loss_fraction_max": replace(_LOSS, quantity="largest loss of a pool"),
        },
    }.items()
    for name, metric in metrics.items()
}
"""Every metric by its full name, with `*` for the names of links, pools and groups."""

_BY_LAST_WORD = {
    pattern.rpartition(".")[2]: metric for pattern, metric in reversed(CATALOGUE.items())
}
"""The first entry per last part of a name; all entries with the same last part have one unit."""

_UNIT_OF_WORD = {
    unit.word: unit
    for unit in (TIME_FRACTION, SECONDS, BITS_PER_S, BYTES, PACKETS, BDP, MILLISECONDS)
}


def pattern_of(name: str) -> str:
    """Replaces the names of links, pools and groups in the full name of a metric by `*`."""
    parts = name.split(".")
    if len(parts) > 2 and parts[0] in ("links", "pools", "groups"):
        parts[1] = "*"
        if len(parts) > 4 and parts[2] == "links":
            parts[3] = "*"
    return ".".join(parts)


def metric_of(name: str) -> Metric:
    """Returns the entry of a metric by its full or short name.

    A short name is the end of a full name: `utilization`, `all_sizes.slowdown_p99`,
    `core.utilization`. Runs that another version stored may have metrics that the catalogue lacks;
    the words in the last part of such a name give the label and the unit.
    """
    pattern, last = pattern_of(name), name.rpartition(".")[2]
    for full in (pattern, *(f"{kind}.*.{pattern}" for kind in ("links", "pools", "groups"))):
        if full in CATALOGUE:
            return CATALOGUE[full]
    return _BY_LAST_WORD.get(last) or _by_words(last)


def axis_label(name: str) -> str:
    """Returns the label of an axis: the metric, its group or pool and its link, and the unit."""
    metric, parts = metric_of(name), name.split(".")
    owner = f" of {parts[1]}" if len(parts) > 2 and parts[0] in ("pools", "groups") else ""
    if owner and len(parts) > 4 and parts[2] == "links":
        owner += f" at {parts[3]}"
    return f"{metric.label}{owner}{metric.unit.on_axis}"


def axis_scale(name: str) -> float:
    """Returns the factor that converts values of a metric to the unit of its axis."""
    return metric_of(name).unit.scale


def _by_words(last: str) -> Metric:
    words = last.split("_")
    statistic = STATISTICS.get(words[-1], "") if len(words) > 1 else ""
    if statistic:
        words.pop()
    unit = _UNIT_OF_WORD.get(words[-1]) if len(words) > 1 else None
    if unit:
        words.pop()
    return Metric(" ".join(words), unit or LOAD, statistic=statistic)
