"""The catalogue of metrics: label, unit, range, direction and axis of each, in one place.

Tables, pictures, reports, criteria and targets read here how a metric is shown. A metric has one
entry whatever link, group or flow it is of: `links.*.utilization` is the utilization of any link.
"""

from dataclasses import dataclass, replace
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

Better = Literal["higher", "lower"]

STATISTICS = {"mean": "mean", "p01": "p01", "p50": "median", "p99": "p99", "max": "largest"}
"""The word behind the unit in a name, and how it stands in a label."""


@dataclass(frozen=True)
class Metric:
    """What a metric is called, and how it is shown. No metric is negative."""

    label: str
    """On axes, without the unit."""
    unit: Unit
    better: Better | None = None
    """Which values a user wants, all else equal; `None` if that depends on the question."""
    highest: float | None = None
    """The largest possible value; `None` if there is no bound."""
    is_logarithmic: bool = True
    """Whether an axis is logarithmic where the values span decades."""
    heading: str = ""
    """In tables; the name of the metric if empty."""


def _statistics(name: str, metric: Metric, statistics: str, **headings: str) -> dict[str, Metric]:
    """An entry per statistic: `queue_delay_s` becomes `queue_delay_s_mean` and so on."""
    return {
        f"{name}_{one}": replace(
            metric, label=f"{STATISTICS[one]} {metric.label}", heading=headings.get(one, "")
        )
        for one in statistics.split()
    }


_LOSS = Metric("loss", FRACTION, "lower", 1.0, heading="loss")
_WAIT = Metric("queueing delay", SECONDS, "lower")
_WAIT_HEADINGS = {"mean": "queueing\ndelay mean", "p99": "queueing\ndelay p99"}
_GOODPUT = Metric("goodput", BITS_PER_S, "higher", heading="goodput")
_JAIN = Metric("fairness", INDEX, "higher", 1.0, is_logarithmic=False, heading="Jain's\nindex")
_PROBABILITY = Metric("probability", LOAD, None, 1.0)

LINK = {
    "capacity_bps": Metric("capacity", BITS_PER_S),
    "utilization": Metric(
        "utilization", SHARE, "higher", 1.0, is_logarithmic=False, heading="utilization"
    ),
    "loss_fraction": _LOSS,
    "arrivals_packets": Metric("arrivals", PACKETS),
    "drops_packets": Metric("drops", PACKETS, "lower"),
    "drops_overflow_packets": Metric("drops overflow", PACKETS, "lower"),
    "drops_early_packets": Metric("drops early", PACKETS),
    "drops_head_packets": Metric("drops head", PACKETS),
    "marks_packets": Metric("marks", PACKETS),
    "random_losses_packets": Metric("random losses", PACKETS, "lower"),
    "departures_packets": Metric("departures", PACKETS),
    **_statistics("queue_packets", Metric("queue", PACKETS, "lower"), "mean p01 p99"),
    **_statistics("queue_seen_packets", Metric("queue seen", PACKETS, "lower"), "mean p01 p99"),
    **_statistics("queue_delay_s", _WAIT, "mean p01 p99", **_WAIT_HEADINGS),
    "limit_packets": Metric("limit", PACKETS),
    "limit_bytes": Metric("limit", BYTES),
    "limit_ms": Metric("limit", MILLISECONDS),
    "limit_bdp": Metric("limit", BDP),
    **_statistics("burst_packets", Metric("burst", PACKETS), "mean p99 max"),
    "congestion_episodes": Metric("congestion episodes", COUNT),
    "loss_synchronization": Metric("loss synchronization", SHARE, None, 1.0),
    "offered_load": Metric("offered load", LOAD),
    "flows_in_progress_mean": Metric("mean flows in progress", MEAN_COUNT),
    "flows_in_progress_p99": Metric("p99 flows in progress", COUNT),
    "bottlenecked_flows_mean": Metric("mean bottlenecked flows", MEAN_COUNT),
    "bottlenecked_flows_p99": Metric("p99 bottlenecked flows", COUNT),
    "bottlenecked_time_fraction": Metric("bottlenecked time", TIME_FRACTION, None, 1.0),
}
"""Of a link."""

DISCIPLINE = {
    "average_queue_packets": Metric("average queue", PACKETS),
    "average_queue_bytes": Metric("average queue", BYTES),
    "max_p": _PROBABILITY,
    "drop_probability": replace(_PROBABILITY, label="drop probability"),
    "largest_drop_probability": replace(_PROBABILITY, label="largest drop probability"),
    "base_probability": replace(_PROBABILITY, label="base probability"),
    "classic_probability": replace(_PROBABILITY, label="classic probability"),
    "l4s_probability": replace(_PROBABILITY, label="L4S probability"),
    "classic_delay_s": Metric("classic delay", SECONDS, "lower"),
    "l4s_delay_s": Metric("L4S delay", SECONDS, "lower"),
    "drop_count": Metric("drop count", COUNT),
    "dropping_state": Metric("dropping state", LOAD, None, 1.0, is_logarithmic=False),
    "backlogged_flows": Metric("backlogged flows", COUNT),
    "backlogged_flows_mean": Metric("mean backlogged flows", MEAN_COUNT),
    "active_flows": Metric("active flows", COUNT),
    "active_flows_mean": Metric("mean active flows", MEAN_COUNT),
    "active_flows_p99": Metric("p99 active flows", COUNT),
    "active_flows_max": Metric("largest active flows", COUNT),
    "emptied_intervals_fraction": Metric("emptied intervals", TIME_FRACTION, None, 1.0),
    "fair_rate_bps": Metric("fair rate", BITS_PER_S),
    "priority_load": Metric("priority load", LOAD),
}
"""What the queue disciplines report about themselves."""

_OF_FLOWS = {
    "goodput_bps": _GOODPUT,
    "throughput_bps": Metric("throughput", BITS_PER_S),
    # Above 1 if flows send more than the slowest link of their path carries.
    "share": Metric("share", SHARE, None, is_logarithmic=False),
    "loss_fraction": _LOSS,
    "marked_fraction": Metric("marked", FRACTION, None, 1.0),
    "retransmissions": Metric("retransmissions", COUNT, "lower"),
    **_statistics("rtt_s", Metric("RTT", SECONDS, "lower"), "mean"),
    **_statistics(
        "one_way_delay_s",
        Metric("one-way delay", SECONDS, "lower"),
        "mean",
        mean="one-way\ndelay mean",
    ),
    **_statistics("cwnd_packets", Metric("cwnd", PACKETS), "mean"),
    "congestion_events": Metric("congestion events", COUNT),
    "timeouts": Metric("timeouts", COUNT, "lower"),
    "completed_flows": Metric("completed flows", COUNT, "higher"),
}

FLOW = {
    **_OF_FLOWS,
    "packets_between_reductions_mean": Metric("mean packets between reductions", PACKETS),
    "seconds_between_reductions_mean": Metric("mean time between reductions", SECONDS),
}
"""Of one permanent flow: keys of `tailroom run --json`, not metrics of a sweep."""

GROUP = {
    "flows": Metric("flows", COUNT),
    **_OF_FLOWS,
    **_statistics("queue_delay_s", _WAIT, "mean p99", **_WAIT_HEADINGS),
    **_statistics(
        "one_way_delay_s",
        Metric("one-way delay", SECONDS, "lower"),
        "mean p99",
        mean="one-way\ndelay mean",
        p99="one-way\ndelay p99",
    ),
    **_statistics("jitter_s", Metric("jitter", SECONDS, "lower"), "mean", mean="jitter\nmean"),
    "refused_flows": Metric("refused flows", COUNT, "lower"),
    "refused_fraction": Metric("refused", FRACTION, "lower", 1.0),
    "jain_index": _JAIN,
}
"""Of a group of flows."""

GROUP_AT_LINK = {
    "arrivals_packets": Metric("arrivals", PACKETS),
    "drops_packets": Metric("drops", PACKETS, "lower"),
    "loss_fraction": _LOSS,
    **_statistics("queue_delay_s", _WAIT, "mean p99", **_WAIT_HEADINGS),
}
"""Of the packets of a group at a link."""

SIZES = {
    "from_bytes": Metric("smallest payload", BYTES),
    "to_bytes": Metric("smallest payload above", BYTES),
    "completed_flows": Metric("completed flows", COUNT, "higher"),
    "unfinished_flows": Metric("unfinished flows", COUNT, "lower"),
    "loss_fraction": replace(_LOSS, heading=""),
    **_statistics(
        "completion_time_s",
        Metric("completion time", SECONDS, "lower"),
        "mean p50 p99",
        mean="completion\ntime mean",
        p99="completion\ntime p99",
    ),
    **_statistics("slowdown", Metric("slowdown", FACTOR, "lower"), "mean p50 p99"),
}
"""Of flows that arrive and depart, by size."""

CATALOGUE: dict[str, Metric] = {
    f"{prefix}{name}": metric
    for prefix, metrics in {
        "links.*.": LINK,
        "links.*.discipline_state.": DISCIPLINE,
        "groups.*.": GROUP,
        "groups.*.all_sizes.": SIZES,
        "groups.*.links.*.": GROUP_AT_LINK,
        "flows.": {"goodput_bps": _GOODPUT, "jain_index": _JAIN},
        "": {"convergence_time_s": Metric("convergence time", SECONDS, "lower")},
    }.items()
    for name, metric in metrics.items()
}
"""Every metric by its full name, with `*` for the names of links and groups."""

_BY_LAST_WORD = {
    pattern.rpartition(".")[2]: metric for pattern, metric in reversed(CATALOGUE.items())
}
"""The first entry of the catalogue for the last part of a name; all of them have one unit."""

_UNIT_OF_WORD = {
    one.word: one for one in (TIME_FRACTION, SECONDS, BITS_PER_S, BYTES, PACKETS, BDP, MILLISECONDS)
}


def pattern_of(name: str) -> str:
    """The full name of a metric with `*` for the names of links and groups."""
    parts = name.split(".")
    if len(parts) > 2 and parts[0] in ("links", "groups"):
        parts[1] = "*"
        if len(parts) > 4 and parts[2] == "links":
            parts[3] = "*"
    return ".".join(parts)


def metric_of(name: str) -> Metric:
    """The entry of a metric, by its full name or a short one.

    A short name ends like a full one: `utilization`, `all_sizes.slowdown_p99`, `core.utilization`.
    A name that is not in the catalogue, of runs that another version stored, is read by the words
    of its last part.
    """
    pattern, last = pattern_of(name), name.rpartition(".")[2]
    for full in (pattern, f"links.*.{pattern}", f"groups.*.{pattern}"):
        if full in CATALOGUE:
            return CATALOGUE[full]
    return _BY_LAST_WORD.get(last) or _by_words(last)


def axis_label(name: str) -> str:
    """The label of an axis: what is measured, whose it is if a group's, and the unit."""
    metric, parts = metric_of(name), name.split(".")
    owner = f" of {parts[1]}" if len(parts) > 2 and parts[0] == "groups" else ""
    if owner and len(parts) > 4 and parts[2] == "links":
        owner += f" at {parts[3]}"
    return f"{metric.label}{owner}{metric.unit.on_axis}"


def axis_scale(name: str) -> float:
    """A value of the metric times this is in the unit of its axis."""
    return metric_of(name).unit.scale


def _by_words(last: str) -> Metric:
    words = last.split("_")
    statistic = STATISTICS.get(words[-1], "") if len(words) > 1 else ""
    if statistic:
        words.pop()
    unit = _UNIT_OF_WORD.get(words[-1]) if len(words) > 1 else None
    if unit:
        words.pop()
    label = " ".join([statistic, *words]).strip()
    return Metric(label, unit or LOAD)
