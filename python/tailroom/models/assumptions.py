"""Assumptions that several models share, each checked against a link."""

from tailroom import _engine
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption


def drop_tail(link: Bottleneck) -> Assumption:
    """The buffer drops packets only if it is full."""
    return Assumption(*_engine.shared_assumption("drop_tail", link))


def one_bottleneck(link: Bottleneck) -> Assumption:
    """No other shared link delays or drops packets of these flows."""
    return Assumption(*_engine.shared_assumption("one_bottleneck", link))


def steady_link(link: Bottleneck) -> Assumption:
    """Rate and delay do not change, and the link has no random loss."""
    return Assumption(*_engine.shared_assumption("steady_link", link))


def one_packet_size(link: Bottleneck) -> Assumption:
    """All data packets have one size."""
    return Assumption(*_engine.shared_assumption("one_packet_size", link))


def long_flows_alone(link: Bottleneck) -> Assumption:
    """Only permanent flows under congestion control cross the link."""
    return Assumption(*_engine.shared_assumption("long_flows_alone", link))


def fast_access(link: Bottleneck) -> Assumption:
    """No access link is slower than the bottleneck."""
    return Assumption(*_engine.shared_assumption("fast_access", link))


def unbounded_windows(link: Bottleneck) -> Assumption:
    """No window reaches its maximum before link and buffer are full."""
    return Assumption(*_engine.shared_assumption("unbounded_windows", link))
