"""Conditions on the traffic of a link that several models share."""

from math import inf

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import Bottleneck, FlowClass


def need_permanent_flows(link: Bottleneck) -> None:
    """Requires a permanent flow under congestion control.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link.
    """
    if not link.classes:
        raise NotApplicableError(
            f"link {link.name}: no permanent flow under congestion control crosses it"
        )


def rate_limit_bps(flows: FlowClass) -> float:
    """Largest rate of a flow on an empty path: its access rate, or its window per round trip."""
    by_window = 8 * flows.packet_bytes * flows.max_window / flows.rtt_s if flows.rtt_s else inf
    return min(flows.access_rate_bps, by_window)


def permanent_load(link: Bottleneck) -> float:
    """Load of permanent flows under congestion control, each at its own rate limit.

    A fraction of the link's rate; infinite if a flow has no limit.
    """
    return (
        sum(flow_class.count * rate_limit_bps(flow_class) for flow_class in link.classes)
        / link.rate_bps
    )


def offered_load(link: Bottleneck) -> float:
    """Offered load of all flows, as a fraction of the link's rate.

    Infinite if a permanent flow under congestion control has no limit of its own.
    """
    return permanent_load(link) + link.stream_load + link.dynamic_load


def need_load_below_one(link: Bottleneck) -> float:
    """Returns the offered load, for a model of a link that carries its offered load.

    Raises:
        NotApplicableError: The offered load is not between 0 and 1.
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
