"""A congested link: the buffer for full utilization and for few losses, and its delay.

As the number of flows grows, loss determines the buffer: each flow keeps at least its share of the
packets in flight, and only a longer round trip makes room for these packets.
"""

from math import sqrt

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import (
    drop_tail,
    long_flows_alone,
    one_bottleneck,
    only_controls,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.traffic import need_permanent_flows


def harmonic_rtt_s(link: Bottleneck) -> float:
    """Harmonic mean of the flows' propagation RTTs, in seconds.

    Raises:
        NotApplicableError: A round trip takes no time.
    """
    if not all(flow_class.rtt_s for flow_class in link.classes):
        raise NotApplicableError(f"link {link.name}: a round trip takes no time")
    return link.flow_count / sum(flow_class.count / flow_class.rtt_s for flow_class in link.classes)


def windows(link: Bottleneck) -> float:
    """Sum over the flows of window times sqrt(loss).

    sqrt(3 / (2 d)) each, where every ACK stands for d packets (Mathis et al. 1997): 1.22, and 0.87
    with delayed ACKs.
    """
    return sum(
        flow_class.count * sqrt(1.5 / flow_class.packets_per_ack) for flow_class in link.classes
    )


def loss(link: Bottleneck) -> float:
    """Loss fraction in [0, 1] of a full link: windows fill link and buffer."""
    in_flight = link.capacity_pps * harmonic_rtt_s(link) + link.limit_packets
    return min(1.0, (windows(link) / in_flight) ** 2)


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """The limit for full utilization and the target loss; loss at the limit the link has.

    For utilization B >= C T, for loss B >= 0.87 n / sqrt(p) - C T, with T the harmonic mean of the
    round trips; for a delay D, B <= C D (Dhamdhere, Jiang, Dovrolis 2005).

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, or a round
            trip takes no time.
    """
    need_permanent_flows(link)
    bdp = link.capacity_pps * harmonic_rtt_s(link)
    for_loss = max(0.0, windows(link) / sqrt(target.loss_fraction) - bdp)
    needed = max(bdp, for_loss)
    return Prediction(
        loss_fraction=loss(link),
        required_packets=needed,
        required_for=f"full utilization and a loss of {target.loss_fraction:.4g}",
        details={
            "required_for_utilization_packets": bdp,
            "required_for_loss_packets": for_loss,
            "required_queue_delay_s_max": needed / link.capacity_pps,
            "queue_delay_s_max": link.limit_packets / link.capacity_pps,
            "harmonic_rtt_s": bdp / link.capacity_pps,
            "minimum_utilization_fraction": min(1.0, (1 + link.limit_packets / bdp) / 2),
        },
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Permanent Reno flows that fill the link and lose packets at the same time."""
    share = (link.bdp_packets + link.limit_packets) / link.flow_count
    return [
        only_controls(link, "reno"),
        assume("all flows reduce together", link.flow_count <= 2, f"{link.flow_count} flows"),
        assume("windows hold several packets", share >= 4, f"{share:.3g} packets each"),
        unbounded_windows(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="loss_and_delay_bounds",
    title="Congested link: buffer for full utilization and few losses",
    source="Dhamdhere, Jiang, Dovrolis 2005, INFOCOM",
    assumptions=assumptions,
    predict=predict,
)
