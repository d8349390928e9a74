"""Conditions on the traffic of a link that several models share."""

from tailroom import _engine
from tailroom.models.bottleneck import Bottleneck


def need_permanent_flows(link: Bottleneck) -> None:
    """Requires a permanent flow under congestion control.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link.
    """
    _engine.need_permanent_flows(link)


def permanent_load(link: Bottleneck) -> float:
    """Load of permanent flows under congestion control, each at its own rate limit.

    A fraction of the link's rate; infinite if a flow has no limit.
    """
    return _engine.permanent_load(link)


def need_load_below_one(link: Bottleneck) -> float:
    """Returns the offered load, for a model of a link that carries its offered load.

    Raises:
        NotApplicableError: The offered load is not between 0 and 1.
    """
    return _engine.need_load_below_one(link)
