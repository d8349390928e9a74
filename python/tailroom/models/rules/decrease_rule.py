"""The buffer that keeps a link busy, from the decrease of a control: (1 - beta) / beta BDP.

A window of BDP + B packets falls to beta (BDP + B); the link stays busy if that is the BDP or more.
"""

from collections.abc import Callable
from math import inf

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import (
    drop_tail,
    long_flows_alone,
    one_bottleneck,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck, FlowClass
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.traffic import need_permanent_flows
from tailroom.models.window_laws import law_of
from tailroom.models.window_laws.window_law import Epoch

BBR1_DRAINED = 0.75
"""Pacing gain of BBRv1 in the round trip after it probed (Cardwell et al. 2016)."""

LARGEST_BUFFER = 1e4
"""Largest buffer, in bandwidth-delay products; a control that needs more never fills the link."""

Minimum = Callable[[float, float], float]
"""`minimum(share, b)`: smallest utilization in a cycle, of a flow whose part of the BDP is `share`
packets, with a buffer of b bandwidth-delay products. It reaches 1 once and stays there."""


def minimum_of(flows: FlowClass) -> Minimum:
    """Packets in flight after a decrease, as a fraction of the BDP: beta (1 + b), at most 1.

    BBRv1 ignores losses; its slow round trip drains the buffer instead: 3/4 + b.

    Raises:
        NotApplicableError: The decrease of the control is not known in advance.
    """
    if flows.congestion == "bbr1":
        return lambda _share, b: min(1.0, BBR1_DRAINED + b)
    law = law_of(flows)

    def minimum(share: float, b: float) -> float:
        peak, rtt_s = share * (1 + b), flows.rtt_s * (1 + b)
        if law.decrease_at:
            epoch = Epoch(peak=peak, goal=peak, base_rtt_s=flows.rtt_s, peak_rtt_s=rtt_s)
            decrease = law.decrease_at(epoch)
        elif law.decrease:
            decrease = float(law.decrease(peak))
        else:
            raise NotApplicableError(f"no fixed decrease for {flows.congestion}")
        return min(1.0, (1 - decrease) * (1 + b))

    return minimum


def required_bdp(minimum: Minimum, share: float) -> float:
    """Returns the smallest buffer, in BDP, that keeps the link busy; infinite if no buffer does."""
    if minimum(share, LARGEST_BUFFER) < 1:
        return inf
    low, high = 0.0, LARGEST_BUFFER
    while high - low > 1e-13 * high and (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if minimum(share, middle) < 1 else (low, middle)
    return high


def controls_of(link: Bottleneck) -> list[tuple[int, Minimum]]:
    """Returns the distinct controls, each with its number of flows.

    Raises:
        NotApplicableError: The decrease of a control is not known in advance.
    """
    counts: dict[str, tuple[int, FlowClass]] = {}
    for flow_class in link.classes:
        key = f"{flow_class.congestion} {sorted(flow_class.parameters.items())}"
        counts[key] = (counts.get(key, (0, flow_class))[0] + flow_class.count, flow_class)
    return [(count, minimum_of(flow_class)) for count, flow_class in counts.values()]


def minimum_utilization(link: Bottleneck) -> float:
    """Smallest utilization in a cycle, all flows reducing together with equal windows.

    min(beta (1 + b), 1), of BBRv1 min(3/4 + b, 1) (Spang, Arslan, McKeown 2021); the mean
    over the flows where they differ.

    Raises:
        NotApplicableError: The decrease of a control is not known in advance.
    """
    buffer = link.limit_packets / link.bdp_packets
    share = link.bdp_packets / link.flow_count
    total = sum(count * minimum(share, buffer) for count, minimum in controls_of(link))
    return total / link.flow_count


def predict(link: Bottleneck, _target: Requirement) -> Prediction:
    """The limit that fills the link, and the smallest utilization at the limit that it has.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, none of its
            round trips takes time, or the decrease of a control is not known in advance.
    """
    need_permanent_flows(link)
    if not link.bdp_packets:
        raise NotApplicableError(f"link {link.name}: its round trips take no time")
    share = link.bdp_packets / link.flow_count
    largest = max(required_bdp(minimum, share) for _, minimum in controls_of(link))
    return Prediction(
        required_packets=largest * link.bdp_packets,
        required_for="full utilization",
        details={
            "minimum_utilization_fraction": minimum_utilization(link),
            "required_bdp": largest,
        },
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """One long flow, or several that lose packets at the same time."""
    flows = link.flow_count
    kinds = sorted({flow_class.congestion for flow_class in link.classes})
    return [
        assume("all flows run one control", len(kinds) == 1, ", ".join(kinds)),
        assume("one flow, or all reduce together", flows == 1, f"{flows} flows"),
        unbounded_windows(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="decrease_rule",
    title="Rule of thumb for any decrease: (1 - beta) / beta of a bandwidth-delay product",
    source="Spang, Arslan, McKeown 2021, IFIP Performance, arXiv:2109.11693",
    assumptions=assumptions,
    predict=predict,
)
