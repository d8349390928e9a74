"""Many Reno flows at a small buffer: the fixed point of their windows and its stability.

A small buffer drops the part p = rho^B of the packets of the moment (Raina and Wischik 2005). Reno
settles where w^2 p = 2. Linearised there, u'(t) = -2/(w T) u(t) - B/(w T) u(t - T) with the RTT T,
which dies out as long as that delay is short enough (docs/models/buffer-rules.md).
"""

from math import acos, exp, inf, log, pi, sqrt

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import (
    counted,
    drop_tail,
    long_flows_alone,
    one_bottleneck,
    only_controls,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.smallest_limit import smallest_limit
from tailroom.models.rules.square_root_rule import MANY
from tailroom.models.traffic import need_permanent_flows

SMALL = 100.0
"""In packets; a larger buffer is not small if flows are many and their windows short."""


def window(share: float, packets: float) -> float:
    """Window w in packets at which flows settle.

    w^2 (w / share)^B = 2 with B = `packets` in the buffer, the one in transmission included, and
    `share` the bandwidth-delay product per flow in packets, larger than sqrt(2).
    """
    return exp((log(2) + packets * log(share)) / (packets + 2))


def margin(share: float, packets: float) -> float:
    """Longest delay, in round trips, at which the fixed point would be stable.

    Above 1 the fixed point is stable. Infinite for B <= 2: no delay destabilizes it. For larger
    buffers w arccos(-2 / B) / sqrt(B^2 - 4), about pi w / (2 B).
    """
    if packets <= 2:
        return inf
    return window(share, packets) * acos(-2 / packets) / sqrt(packets**2 - 4)


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """Utilization and loss where windows settle, and the limit that gives the target utilization.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, or the
            bandwidth-delay product per flow is at most sqrt(2) packets.
    """
    need_permanent_flows(link)
    share = link.bdp_packets / link.flow_count
    if share <= sqrt(2):
        raise NotApplicableError(
            f"link {link.name}: {share:.3g} packets of the bandwidth-delay product a flow; below "
            "sqrt(2) even a window that always loses would be too large"
        )
    load, loss = fixed_point(share, link.system_packets)
    largest = smallest_limit(lambda limit: margin(share, limit + 1) <= 1) - 1

    def meets(limit: float) -> bool:
        load, loss = fixed_point(share, limit + 1)
        return load * (1 - loss) >= target.utilization

    return Prediction(
        utilization=load * (1 - loss),
        loss_fraction=loss,
        required_packets=smallest_limit(meets),
        required_for=f"{target.utilization:.4g} of the rate",
        details={
            "window_packets": window(share, link.system_packets),
            "margin_round_trips": margin(share, link.system_packets),
            "largest_stable_packets": largest,
            "largest_stable_approximate_packets": pi / 2 * share,
        },
    )


def fixed_point(share: float, packets: float) -> tuple[float, float]:
    """Load and loss at the fixed point, both in (0, 1)."""
    w = window(share, packets)
    return w / share, 2 / w**2


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Very many Reno flows, a small buffer, and a fixed point that holds."""
    share = link.bdp_packets / link.flow_count
    trips = margin(share, link.system_packets)
    packets = link.system_packets
    return [
        only_controls(link, "reno"),
        assume(f"more than {MANY} flows", link.flow_count > MANY, counted(link.flow_count)),
        assume(
            f"the buffer is small, at most {SMALL:g} packets",
            packets <= SMALL,
            f"{packets:.4g} packets",
        ),
        assume(
            "windows settle", trips > 1, f"a delay of {trips:.3g} round trips makes them oscillate"
        ),
        unbounded_windows(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="stability",
    title="Small buffers: where many Reno flows settle, and whether they do",
    source="Raina, Wischik 2005, NGI; Raina, Towsley, Wischik 2005, CCR 35(3)",
    assumptions=assumptions,
    predict=predict,
)
