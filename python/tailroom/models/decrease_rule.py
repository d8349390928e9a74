"""What keeps a link busy depends on how much a control takes away: (1 - beta) / beta of a BDP.

A window of BDP + B packets falls to beta (BDP + B); the link stays busy if that is the BDP or more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from typing import Any

from scipy.optimize import brentq

from tailroom.models.assumptions import (
    drop_tail,
    long_flows_alone,
    one_bottleneck,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck, FlowClass
from tailroom.models.model import Assumption, Model, NotApplicableError, Prediction, Target, assume
from tailroom.models.traffic import need_permanent_flows

BBR1_DRAINED = 0.75
"""Pacing gain of BBRv1 in the round trip after it probed (Cardwell et al. 2016)."""

HTCP_LARGEST = 0.8
"""What H-TCP keeps of the window at most; at least half (draft-leith-tcp-htcp sec. 2)."""


@dataclass(frozen=True)
class Decrease:
    """How much of what fills link and buffer remains in flight after a decrease."""

    minimum: Callable[[float, float], float]
    """`minimum(w, b)`: smallest utilization in [0, 1] with window w at the loss, in packets, and a
    buffer of b bandwidth-delay products."""
    required: Callable[[float], float]
    """`required(share)`: buffer in BDPs for full utilization, `share` the BDP a flow in packets."""


def keep(beta: float) -> Decrease:
    """A control that keeps the part beta of its window, whatever that was."""
    return Decrease(
        minimum=lambda _w, b: min(1.0, beta * (1 + b)),
        required=lambda _share: (1 - beta) / beta if beta > 0 else float("inf"),
    )


def _highspeed(parameters: Mapping[str, Any]) -> Decrease:
    """HighSpeed takes less from large windows (RFC 3649 sec. 5)."""
    low, high = parameters["low_window"], parameters["high_window"]
    at_high = parameters["high_decrease"]

    def beta(w: float) -> float:
        part = min(1.0, max(0.0, log(max(w, low) / low) / log(high / low)))
        return float(1 - (0.5 + (at_high - 0.5) * part))

    def required(share: float) -> float:
        # The window w falls to the share itself; between one and two shares, as beta is in
        # [1/2, 1].
        w = brentq(lambda w: beta(w) * w - share, share, 2 * share, xtol=1e-9 * share, rtol=1e-14)
        return float(w / share - 1)

    return Decrease(lambda w, b: min(1.0, beta(w) * (1 + b)), required)


def _htcp(parameters: Mapping[str, Any]) -> Decrease:
    """H-TCP keeps the smallest over the largest RTT, 1 / (1 + b), within 1/2 and 0.8."""
    if not parameters["adaptive_backoff"]:
        return keep(0.5)

    def minimum(_w: float, b: float) -> float:
        return min(1.0, min(HTCP_LARGEST, max(0.5, 1 / (1 + b))) * (1 + b))

    return Decrease(minimum, lambda _share: 1 / HTCP_LARGEST - 1)


def _bbr1(_parameters: Mapping[str, Any]) -> Decrease:
    """BBRv1 does not heed losses; its slow round trip drains the buffer instead."""
    return Decrease(lambda _w, b: min(1.0, BBR1_DRAINED + b), lambda _share: 1 - BBR1_DRAINED)


DECREASES: dict[str, Callable[[Mapping[str, Any]], Decrease]] = {
    "reno": lambda _parameters: keep(0.5),
    "aimd": lambda parameters: keep(1 - parameters["decrease"]),
    "cubic": lambda parameters: keep(parameters["beta"]),
    "bic": lambda parameters: keep(1 - parameters["decrease"]),
    "scalable": lambda parameters: keep(1 - parameters["decrease"]),
    "hybla": lambda _parameters: keep(0.5),
    "highspeed": _highspeed,
    "fhstcp": lambda _parameters: _highspeed(
        {"low_window": 38.0, "high_window": 83000.0, "high_decrease": 0.1}
    ),
    "htcp": _htcp,
    "bbr1": _bbr1,
}


def decrease_of(flows: FlowClass) -> Decrease:
    """How these flows decrease.

    Raises:
        NotApplicableError: Their control has no decrease that is known beforehand.
    """
    if flows.congestion not in DECREASES:
        raise NotApplicableError(
            f"no fixed decrease for {flows.congestion} (group {flows.group}); "
            f"there is one for {', '.join(DECREASES)}"
        )
    return DECREASES[flows.congestion](flows.parameters)


def controls_of(link: Bottleneck) -> list[tuple[int, Decrease]]:
    """The controls that differ, with how many flows run each.

    Raises:
        NotApplicableError: A control has no decrease that is known beforehand.
    """
    counts: dict[str, tuple[int, FlowClass]] = {}
    for one in link.classes:
        key = f"{one.congestion} {sorted(one.parameters.items())}"
        counts[key] = (counts.get(key, (0, one))[0] + one.count, one)
    return [(count, decrease_of(one)) for count, one in counts.values()]


def minimum_utilization(link: Bottleneck) -> float:
    """Smallest utilization in a cycle, all flows reducing together with equal windows.

    min(beta (1 + b), 1), of BBRv1 min(3/4 + b, 1) (Spang, Arslan, McKeown 2021); the mean
    over the flows where they differ.

    Raises:
        NotApplicableError: A control has no decrease that is known beforehand.
    """
    buffer = link.limit_packets / link.bdp_packets
    window = (link.bdp_packets + link.limit_packets) / link.flow_count
    total = sum(count * one.minimum(window, buffer) for count, one in controls_of(link))
    return total / link.flow_count


def predict(link: Bottleneck, _target: Target) -> Prediction:
    """The limit that fills the link, and the smallest utilization at the limit that it has.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, none of its
            round trips takes time, or a control has no decrease that is known beforehand.
    """
    need_permanent_flows(link)
    if not link.bdp_packets:
        raise NotApplicableError(f"link {link.name}: its round trips take no time")
    share = link.bdp_packets / link.flow_count
    largest = max(one.required(share) for _, one in controls_of(link))
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
    kinds = sorted({one.congestion for one in link.classes})
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
