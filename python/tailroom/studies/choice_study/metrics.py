"""Which metrics of several choices are shown unless others are asked for."""

from collections.abc import Iterable, Mapping, Sequence

from tailroom.simulation.metrics import ALL_FLOWS
from tailroom.statistics.intervals import Interval

LINK_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
GROUP_METRICS = (
    "goodput_bps",
    "loss_fraction",
    "queue_delay_s_p99",
    "one_way_delay_s_p99",
    "jitter_s_mean",
    "all_sizes.completion_time_s_mean",
    "all_sizes.completion_time_s_p99",
    "jain_index",
)
"""Those of them that a group has: completion times of dynamic flows, one-way delay and
jitter of sources without acknowledgements, fairness of several flows."""
FLOWS, FAIRNESS = "flows", "jain_index"
ALL_FAIRNESS = f"{ALL_FLOWS}.{FAIRNESS}"


def default_metrics(
    found: Sequence[Mapping[str, Interval]], known: Iterable[str], links: Sequence[str]
) -> list[str]:
    """Full names of the metrics that are shown: of these links, of every group, of all flows.

    Args:
        found: The metrics that each choice defines.
        known: All metrics, in the order in which links and groups are to be shown.
        links: The links that matter.
    """
    defined = {name for one in found for name in one}
    owners = dict.fromkeys(".".join(name.split(".")[:2]) for name in known)
    groups = [one for one in owners if one.startswith("groups.")]
    shown = [f"links.{link}.{metric}" for link in links for metric in LINK_METRICS]
    for group in groups:
        several = any(
            one[f"{group}.{FLOWS}"].mean > 1 for one in found if f"{group}.{FLOWS}" in one
        )
        shown += [f"{group}.{one}" for one in GROUP_METRICS if several or one != FAIRNESS]
    if len(groups) > 1 and _are_several_controlled(found, groups):
        shown.append(ALL_FAIRNESS)
    return [name for name in shown if name in defined]


def _are_several_controlled(found: Sequence[Mapping[str, Interval]], groups: Iterable[str]) -> bool:
    """Whether flows of several groups are under congestion control and stay."""
    return any(sum(f"{group}.cwnd_packets_mean" in one for group in groups) > 1 for one in found)
