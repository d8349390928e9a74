"""Synchronised flows: utilization, loss and queue of the sawtooth of their windows."""

from math import exp, inf, log, log1p, sqrt

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import (
    drop_tail,
    fast_access,
    long_flows_alone,
    one_bottleneck,
    one_packet_size,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.root import root_between
from tailroom.models.numerics.smallest_limit import LEAST_LIMIT, smallest_limit
from tailroom.models.sawtooth.cycle import Cycle, Flows, cycle
from tailroom.models.traffic import need_permanent_flows
from tailroom.models.window_laws import law_of
from tailroom.written_numbers import number, significant

SMALLEST_TROUGH = 2.0
"""In packets: a smaller window cannot fall further (RFC 5681 sec. 3.1, Eq. 4)."""


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """Mean utilization, queue and loss of the cycle, and the smallest limit for the utilization.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, the flows
            run several controls, or their control has no window law.
    """
    flows = synchronised(link, link.capacity_pps)
    flow_cycle = cycle(flows, link.limit_packets)
    return Prediction(
        utilization=flow_cycle.utilization,
        loss_fraction=min(1.0, flow_cycle.lost_packets / flow_cycle.packets),
        queue_packets_mean=flow_cycle.queue_packets_mean,
        queue_delay_s_mean=flow_cycle.queue_delay_s_mean,
        required_packets=required(link, flows, target.utilization),
        required_for=f"{100 * target.utilization:g} % utilization",
        details=details(flow_cycle, full_limit(flows)),
    )


def details(flow_cycle: Cycle, full: float) -> dict[str, float]:
    """Further numbers of a cycle."""
    return {
        "minimum_utilization_fraction": flow_cycle.utilization_min,
        "limit_for_full_utilization_packets": full,
        "peak_window_packets": flow_cycle.peak_window,
        "cycle_s": flow_cycle.seconds,
    }


def synchronised(link: Bottleneck, capacity_pps: float) -> Flows:
    """Returns the link's flows as equal flows with their mean RTT over this capacity.

    Raises:
        NotApplicableError: See `predict`.
    """
    need_permanent_flows(link)
    controls = sorted({flow_class.congestion for flow_class in link.classes})
    if len(controls) > 1:
        raise NotApplicableError(
            f"link {link.name}: flows run {', '.join(controls)}, and how they share the link is "
            "beyond a sawtooth of equal flows"
        )
    first = link.classes[0]
    if any(flow_class.parameters != first.parameters for flow_class in link.classes):
        raise NotApplicableError(
            f"link {link.name}: flows run {controls[0]} with different parameters"
        )
    law_of(first)
    return Flows(first, link.flow_count, link.mean_rtt_s, capacity_pps)


def required(link: Bottleneck, flows: Flows, utilization: float) -> float:
    """Returns the smallest limit with this mean utilization, in waiting packets."""
    control, bdp, law = link.classes[0].congestion, flows.bdp_packets, flows.law
    if law.decrease is not None and control in ("reno", "aimd", "dctcp"):
        buffer = aimd_buffer(utilization, float(law.decrease(1.0)))
        return max(LEAST_LIMIT, bdp * buffer)
    if law.decrease is not None and control == "scalable":
        buffer = mimd_buffer(utilization, float(law.decrease(inf)))
        limit = max(LEAST_LIMIT, bdp * buffer)
        if flows.trough(limit) > max(law.kinks):
            return limit
    return smallest_limit(lambda limit: cycle(flows, limit).utilization >= utilization)


def full_limit(flows: Flows) -> float:
    """Returns the smallest limit at which the queue never empties, in waiting packets."""
    return smallest_limit(lambda limit: flows.count * flows.trough(limit) >= flows.bdp_packets)


def minimum_utilization(buffer_bdp: float, decrease: float) -> float:
    """Utilization right after a loss, with a buffer in bandwidth-delay products (Spang 2021)."""
    return min(1.0, (1 - decrease) * (1 + buffer_bdp))


def aimd_utilization(buffer_bdp: float, decrease: float) -> float:
    """Mean utilization of windows that grow by a constant each round trip.

    With x the window over the bandwidth-delay product, from x0 = (1 - decrease) x1 to
    x1 = 1 + buffer_bdp: the integral of x over the integral of max(1, x).
    """
    peak = 1 + buffer_bdp
    trough = (1 - decrease) * peak
    if trough >= 1:
        return 1.0
    return (peak**2 - trough**2) / 2 / (1 - trough + (peak**2 - 1) / 2)


def aimd_buffer(utilization: float, decrease: float) -> float:
    """The inverse of `aimd_utilization`, in bandwidth-delay products; at least 0.

    Reno: 0.603 for 0.98, and 1 for 1.
    """
    left = 1 - decrease
    root = (utilization * left) ** 2 + utilization * (1 - left**2 - utilization)
    return max(0.0, utilization / (utilization * left + sqrt(max(0.0, root))) - 1)


def mimd_utilization(buffer_bdp: float, decrease: float) -> float:
    """Mean utilization of windows that grow in proportion to themselves each round trip (Scalable).

    As `aimd_utilization`, with dx / x in place of dx.
    """
    peak = 1 + buffer_bdp
    trough = (1 - decrease) * peak
    if trough >= 1:
        return 1.0
    return (peak - trough) / (-log(trough) + peak - 1)


def mimd_buffer(utilization: float, decrease: float) -> float:
    """The inverse of `mimd_utilization`, in bandwidth-delay products; at least 0.

    With y = 1 + buffer and k = 1 - decrease / utilization, k y - 1 = ln((1 - decrease) y). Scalable
    TCP: 0.061 for 0.98, and 1/7 for 1.
    """
    left, k = 1 - decrease, 1 - decrease / utilization
    if k >= left:
        return decrease / left
    # With z = -k y, z e^z = -k / (left e).
    peak = exp(-1) / left
    if k != 0:
        peak = -_lambert_w(-k * peak) / k
    return max(0.0, peak - 1)


def _lambert_w(x: float) -> float:
    """The w >= -1 with w exp(w) = x, for x > -1 / e."""
    return root_between(lambda w: w * exp(w) - x, -1.0, max(1.0, log1p(max(0.0, x))))


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Flows that share the link equally and lose packets at the same time."""
    return [*sawtooth_assumptions(link, link.capacity_pps), long_flows_alone(link)]


def sawtooth_assumptions(link: Bottleneck, capacity_pps: float) -> list[Assumption]:
    """Returns the assumptions of a sawtooth over this capacity, without those on other traffic."""
    flows = synchronised(link, capacity_pps)
    trough = flows.trough(link.limit_packets)
    rtts = [1e3 * flow_class.rtt_s for flow_class in link.classes]
    return [
        assume("one flow, or all reduce together", flows.count == 1, f"{flows.count} flows"),
        assume(
            "flows have one RTT",
            len(set(rtts)) == 1,
            f"{number(min(rtts))} to {number(max(rtts))} ms; their mean is taken",
        ),
        assume(
            f"windows stay above {SMALLEST_TROUGH:g} packets",
            trough >= SMALLEST_TROUGH,
            f"{significant(trough, 3)} after a loss",
        ),
        assume(
            "each packet is acknowledged",
            all(flow_class.packets_per_ack == 1 for flow_class in link.classes),
            f"one ACK for {max(flow_class.packets_per_ack for flow_class in link.classes)} packets",
        ),
        drop_tail(link),
        unbounded_windows(link),
        one_packet_size(link),
        one_bottleneck(link),
        steady_link(link),
        fast_access(link),
    ]


MODEL = Model(
    name="sawtooth",
    title="Synchronised flows: the sawtooth of their windows",
    source="Spang, Arslan, McKeown 2021, generalised to the mean and to other window laws",
    assumptions=assumptions,
    predict=predict,
)
