"""What an answer costs although every target is met: heavy loss, and groups that get little."""

from collections.abc import Iterator, Sequence

from tailroom.arguments import given
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.models import Bottleneck
from tailroom.models.bottleneck import FlowClass
from tailroom.storage.run import metric_names
from tailroom.studies.size_study.search import Tried
from tailroom.studies.size_study.targets import Target, limits_loss

NOTABLE_SHARE = 0.5
"""Goodput of a group, relative to an equal share per flow, below which an answer mentions it."""


def notices_of(answer: Tried, link: Bottleneck, targets: Sequence[Target]) -> tuple[str, ...]:
    """Returns what the targets do not limit and the runs of the answer show, a sentence each.

    Args:
        answer: The buffer of the answer.
        link: Its link with the traffic that crosses it.
        targets: The targets that the answer meets.
    """
    known = metric_names(answer.point.finished[0])
    return (*_loss(answer, link, targets, known), *_shares(answer, link, known))


def _loss(
    answer: Tried, link: Bottleneck, targets: Sequence[Target], known: Sequence[str]
) -> Iterator[str]:
    """The loss of the link, unless a target limits a loss."""
    metric = f"links.{link.name}.loss_fraction"
    if metric not in known or any(map(limits_loss, targets)):
        return
    loss = answer.interval(metric).mean
    if loss <= MOST_LOSS:
        return
    links = [
        name for name in known if name.startswith("links.") and name.endswith(".loss_fraction")
    ]
    name = "loss_fraction" if len(links) == 1 else f"{link.name}.loss_fraction"
    yield (
        f"at this limit {percent(loss)} % of the packets are lost; add "
        f"{given('targets', f'{name} <= 1%')}, or compare queue disciplines with "
        "tailroom run --vary"
    )


def _shares(answer: Tried, link: Bottleneck, known: Sequence[str]) -> Iterator[str]:
    """Groups of permanent flows with less than half of an equal share per flow.

    A group whose windows or access links hold its flows below that is left out.
    """
    groups: dict[str, list[FlowClass]] = {}
    for flow_class in link.classes:
        groups.setdefault(flow_class.group, []).append(flow_class)
    if len(groups) < 2 or any(f"groups.{group}.goodput_bps" not in known for group in groups):
        return
    goodputs = {group: answer.interval(f"groups.{group}.goodput_bps").mean for group in groups}
    total_bps = sum(goodputs.values())
    for group, classes in groups.items():
        flows = sum(flow_class.count for flow_class in classes)
        equal = flows / link.flow_count
        able_bps = sum(flow_class.count * _most_bps(flow_class) for flow_class in classes)
        if goodputs[group] < NOTABLE_SHARE * min(equal * total_bps, able_bps):
            yield (
                f"flows.{group}: {flows} of {link.flow_count} flows get "
                f"{percent(goodputs[group] / total_bps)} % of the goodput; equal shares would be "
                f"{percent(equal)} %"
            )


def _most_bps(flow_class: FlowClass) -> float:
    """The rate that the access link and the largest window of a flow allow."""
    window_bits = 8 * flow_class.packet_bytes * flow_class.max_window
    return min(flow_class.access_rate_bps, window_bits / flow_class.rtt_s)


def percent(share: float) -> str:
    """Writes a fraction as a number of percent, with a decimal below 10."""
    return f"{100 * share:.1f}" if share < 0.1 else f"{100 * share:.0f}"
