"""DCTCP: the marking threshold that keeps the link busy, and the amplitude of the queue.

Flows in step pass the threshold K for one round trip; the share of packets marked, alpha, is that
round trip's part of the cycle, and the windows fall by alpha / 2.
"""

from math import sqrt

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import (
    long_flows_alone,
    one_bottleneck,
    only_controls,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.traffic import need_permanent_flows

THRESHOLD_BDP = 1 / 7
"""Alizadeh et al. 2010, Eq. 13."""

BURST = 1.386
"""2 ln 2, of the bound on the gain g (Alizadeh et al. 2010, Eq. 15)."""


def amplitude(bdp: float, threshold: float, flows: int) -> float:
    """Amplitude of the queue, in packets (Alizadeh et al. 2010, Eq. 8).

    sqrt(2 N (C RTT + K)) / 2, at most half of what fills link and queue: alpha is at most 1.
    """
    full = bdp + threshold
    return min(sqrt(2 * flows * full), full) / 2


def utilization(lowest: float, highest: float, bdp: float) -> float:
    """Mean utilization in (0, 1] of a sawtooth of packets in flight, from `lowest` to `highest`.

    They grow evenly by round trip, and a round trip lasts as long as the link takes to send them,
    or the RTT: packets over time in a cycle is the integral of w over that of max(w, BDP).
    """
    if lowest >= bdp:
        return 1.0
    if highest <= bdp:
        return (lowest + highest) / (2 * bdp)
    sent = (highest**2 - lowest**2) / 2
    return sent / (bdp * (bdp - lowest) + (highest**2 - bdp**2) / 2)


def queue_mean(lowest: float, highest: float, bdp: float) -> float:
    """Mean queue over time in that cycle, in packets."""
    low = max(lowest, bdp)
    if highest <= low:
        return 0.0
    # The queue w - BDP lasts for a time in proportion to w.
    area = (highest**3 - low**3) / 3 - bdp * (highest**2 - low**2) / 2
    time = (highest**2 - low**2) / 2 + bdp * max(0.0, bdp - lowest)
    return area / time


def predict(link: Bottleneck, _target: Requirement) -> Prediction:
    """Queue and utilization with the threshold that the link has.

    The required limit holds the queue with the threshold of Eq. 13.

    Raises:
        NotApplicableError: No permanent DCTCP flow crosses the link, its round trips take no time,
            or it has no marking threshold.
    """
    need_permanent_flows(link)
    if not any(flow_class.congestion == "dctcp" for flow_class in link.classes):
        raise NotApplicableError(f"link {link.name}: no DCTCP flow crosses it")
    if link.discipline != "step_mark":
        raise NotApplicableError(
            f"link {link.name}: {link.discipline} has no marking threshold; step_mark has one"
        )
    bdp, flows = link.bdp_packets, link.flow_count
    if not bdp:
        raise NotApplicableError(f"link {link.name}: its round trips take no time")
    threshold = min(link.amounts_packets["threshold"], link.limit_packets)
    highest = bdp + min(threshold + flows, link.limit_packets)
    lowest = bdp + threshold + flows - amplitude(bdp, threshold, flows)
    lowest = min(lowest, highest)
    queue = queue_mean(lowest, highest, bdp)
    return Prediction(
        utilization=utilization(lowest, highest, bdp),
        queue_packets_mean=queue,
        queue_delay_s_mean=queue / link.capacity_pps,
        required_packets=THRESHOLD_BDP * bdp + flows,
        required_for="a threshold of a seventh of the bandwidth-delay product",
        details={
            "required_threshold_packets": THRESHOLD_BDP * bdp,
            "queue_packets_max": highest - bdp,
            "queue_packets_min": max(0.0, lowest - bdp),
            "amplitude_packets": amplitude(bdp, threshold, flows),
            "period_round_trips": amplitude(bdp, threshold, flows) / flows,
            "largest_gain_fraction": min(1.0, BURST / sqrt(2 * (bdp + threshold))),
        },
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Synchronized DCTCP flows, with a gain whose estimate lasts for a cycle."""
    flows, bdp = link.flow_count, link.bdp_packets
    threshold = link.amounts_packets["threshold"]
    window = (bdp + threshold) / flows
    gain = max(
        (float(flow_class.parameters.get("gain", 0)) for flow_class in link.classes), default=0.0
    )
    largest = BURST / sqrt(2 * (bdp + threshold))
    deaf = [flow_class.group for flow_class in link.classes if not flow_class.ecn]
    return [
        only_controls(link, "dctcp"),
        assume("flows use ECN", not deaf, f"{', '.join(deaf)} without"),
        assume(
            "the threshold is above a seventh of the bandwidth-delay product",
            threshold > THRESHOLD_BDP * bdp,
            f"{threshold:.4g} packets, a seventh is {THRESHOLD_BDP * bdp:.4g}",
        ),
        assume("flows reduce together: few, with large windows", flows <= 10, f"{flows} flows"),
        assume("windows are larger than 4 packets", window > 4, f"{window:.3g} packets"),
        assume(
            "the estimate lasts for a cycle",
            gain <= largest,
            f"gain {gain:.4g}, where {largest:.3g} is the bound",
        ),
        assume(
            "the buffer holds the queue",
            link.limit_packets >= threshold + flows,
            f"{link.limit_packets:.4g} packets for {threshold + flows:.4g}",
        ),
        unbounded_windows(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="dctcp_threshold",
    title="DCTCP: marking threshold and queue",
    source="Alizadeh et al. 2010, SIGCOMM, Eqs. 3 to 15",
    assumptions=assumptions,
    predict=predict,
)
