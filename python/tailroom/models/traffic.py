"""What several models ask of the traffic of a link."""

from math import inf

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import Bottleneck, FlowClass


def need_permanent_flows(link: Bottleneck) -> None:
    """A model of permanent flows under congestion control says nothing of other links.

    Raises:
        NotApplicableError: There is none.
    """
    if not link.classes:
        raise NotApplicableError(
            f"link {link.name}: no permanent flow under congestion control crosses it"
        )


def rate_limit_bps(flows: FlowClass) -> float:
    """What one flow cannot exceed on an empty path: its access rate, or its window a round trip."""
    by_window = 8 * flows.packet_bytes * flows.max_window / flows.rtt_s if flows.rtt_s else inf
    return min(flows.access_rate_bps, by_window)


def permanent_load(link: Bottleneck) -> float:
    """What permanent flows under congestion control offer, each at its own limit.

    As a part of the link's rate; infinite if a flow has no limit.
    """
    return (
        sum(flow_class.count * rate_limit_bps(flow_class) for flow_class in link.classes)
        / link.rate_bps
    )


def offered_load(link: Bottleneck) -> float:
    """What all flows offer whatever the link does, as a part of its rate.

    Infinite if a permanent flow under congestion control has no limit of its own.
    """
    return permanent_load(link) + link.stream_load + link.dynamic_load


def need_load_below_one(link: Bottleneck) -> float:
    """The offered load, for a model of a link that carries what it is offered.

    Raises:
        NotApplicableError: Nothing is offered, or as much as the link carries, or more.
    """
    unlimited = dict.fromkeys(
        flow_class.group for flow_class in link.classes if rate_limit_bps(flow_class) == inf
    )
    if unlimited:
        raise NotApplicableError(
            f"link {link.name}: neither access rate nor window limits the flows of "
            f"{', '.join(unlimited)}, which take all they can get"
        )
    load = offered_load(link)
    if not 0 < load < 1:
        raise NotApplicableError(
            f"link {link.name}: the offered load is {load:.4g}; this model is for loads between "
            "0 and 1"
        )
    return load
