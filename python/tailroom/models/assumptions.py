"""Assumptions that several models share, each checked against a link."""

from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, assume


def drop_tail(link: Bottleneck) -> Assumption:
    """The buffer drops packets only if it is full."""
    return assume("the buffer is DropTail", link.discipline == "drop_tail", link.discipline)


def one_bottleneck(link: Bottleneck) -> Assumption:
    """No other shared link delays or drops packets of these flows."""
    others = ", ".join(link.other_links)
    return assume("flows cross no other shared link", not link.other_links, others)


def steady_link(link: Bottleneck) -> Assumption:
    """Rate and delay do not change, and the link has no random loss."""
    loss = link.random_loss_fraction
    found = "rate or delay change" if link.changes else f"the wire loses {loss:.3g} of the packets"
    return assume("the link is steady and loses nothing", not (link.changes or loss), found)


def one_packet_size(link: Bottleneck) -> Assumption:
    """All data packets have one size."""
    sizes = link.packet_sizes_bytes
    varied = [stream.group for stream in link.streams if not stream.fixed_size]
    found = f"{min(sizes)} to {max(sizes)} B" if len(sizes) > 1 else f"{', '.join(varied)} varies"
    return assume("packets have one size", len(sizes) <= 1 and not varied, found)


def long_flows_alone(link: Bottleneck) -> Assumption:
    """Only permanent flows under congestion control cross the link."""
    load = link.stream_load + link.dynamic_load
    others = [source.group for source in link.streams + link.dynamic]
    found = f"{', '.join(others)} offer {load:.3g} of the rate"
    return assume("nothing else crosses the link", not others, found)


def fast_access(link: Bottleneck) -> Assumption:
    """No access link is slower than the bottleneck."""
    slowest = min(
        (flow_class.access_rate_bps for flow_class in link.classes), default=link.rate_bps
    )
    return assume(
        "access links are no slower than the link",
        slowest >= link.rate_bps,
        f"{slowest / 1e6:.6g} Mbit/s",
    )


def unbounded_windows(link: Bottleneck) -> Assumption:
    """No window reaches its maximum before link and buffer are full."""
    need = (link.bdp_packets + link.limit_packets) / max(1, link.flow_count)
    smallest = min((flow_class.max_window for flow_class in link.classes), default=need)
    found = f"{smallest:g} packets, where a share of link and buffer is {need:.4g}"
    return assume("windows have no other bound", smallest >= need, found)


def counted(flows: int) -> str:
    """Returns the number of flows in words."""
    return "1 flow" if flows == 1 else f"{flows} flows"


def only_controls(link: Bottleneck, *controls: str) -> Assumption:
    """Flows run these congestion controls."""
    others = sorted({flow_class.congestion for flow_class in link.classes} - set(controls))
    return assume(f"flows run {' or '.join(controls)}", not others, ", ".join(others))
