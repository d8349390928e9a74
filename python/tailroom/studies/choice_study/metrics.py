"""The metrics of several choices that are shown by default."""

from collections.abc import Iterable, Mapping, Sequence

from tailroom.simulation.metrics import ALL_FLOWS
from tailroom.statistics.intervals import Interval

LINK_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics shown per link."""
GROUP_METRICS = (
    "goodput_bps",
    "loss_fraction",
    "queue_delay_s_p99",
    "one_way_delay_s_p99",
    "jitter_s_mean",
    "all_sizes.completion_time_s_mean",
    "all_sizes.completion_time_s_p99",
    "coflows.completion_time_s_mean",
    "coflows.completion_time_s_p99",
    "jain_index",
)
"""Metrics shown per group, as far as the group defines them: completion times of dynamic flows and
of coflows, one-way delay and jitter of sources without acknowledgements, fairness of several
flows."""
FLOWS, FAIRNESS = "flows", "jain_index"
ALL_FAIRNESS = f"{ALL_FLOWS}.{FAIRNESS}"


def default_metrics(
    metrics_by_choice: Sequence[Mapping[str, Interval]],
    known: Iterable[str],
    links: Sequence[str],
) -> list[str]:
    """Full names of the metrics that are shown: of these links, of every group, of all flows.

    Args:
        metrics_by_choice: The metrics that each choice defines, by full name.
        known: Full names of all metrics, in the order in which links and groups are shown.
        links: Names of the links to show.
    """
    defined = {name for metrics in metrics_by_choice for name in metrics}
    owners = dict.fromkeys(".".join(name.split(".")[:2]) for name in known)
    groups = [owner for owner in owners if owner.startswith("groups.")]
    shown = [f"links.{link}.{metric}" for link in links for metric in LINK_METRICS]
    for group in groups:
        flows = f"{group}.{FLOWS}"
        has_several = any(
            metrics[flows].mean > 1 for metrics in metrics_by_choice if flows in metrics
        )
        shown += [
            f"{group}.{metric}" for metric in GROUP_METRICS if has_several or metric != FAIRNESS
        ]
    if len(groups) > 1 and _are_several_controlled(metrics_by_choice, groups):
        shown.append(ALL_FAIRNESS)
    return [name for name in shown if name in defined]


def _are_several_controlled(
    metrics_by_choice: Sequence[Mapping[str, Interval]], groups: Iterable[str]
) -> bool:
    """Whether several groups have permanent flows under congestion control in any choice."""
    names = [f"{group}.cwnd_packets_mean" for group in groups]
    return any(sum(name in metrics for name in names) > 1 for metrics in metrics_by_choice)
