"""BBRv1: its queue in the buffer, and the share of loss-based flows beside it.

Several BBRv1 flows overestimate their rate together until their windows stop them, at twice their
estimate of the bandwidth-delay product. Beside flows that fill the buffer the same bound holds, but
the estimate is of a round trip that contains the others' queue.
"""

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

CWND_GAIN = 2.0
"""Window over the estimated bandwidth-delay product (Cardwell et al. 2016)."""

PROBE_WINDOW = 4.0
"""Packets in flight while a flow measures its RTT (Cardwell et al. 2016)."""

PROBE_INTERVAL_S = 10.0
PROBE_HOLD_S = 0.2
"""Period and least duration of that measurement (Cardwell et al. 2016)."""

LOSSLESS_BDP = 1.5
"""Below this buffer several flows lose packets all the time (RFC 9743, of BBRv1)."""

ALONE_BDP = 0.25
"""Buffer at which one flow's slow round trip does not empty it (Spang et al. 2021)."""


def in_flight_cap(bdp: float, flows: int) -> float:
    """Packets that BBRv1 flows alone have in flight together at most (Ware et al. 2019, Eq. 6).

    Packets that remain in flight while the flows measure their RTT add to the bound, if they exceed
    the bandwidth-delay product `bdp` in packets.
    """
    return CWND_GAIN * max(bdp, PROBE_WINDOW * flows)


def loss_based_share(bdp: float, limit: float, flows: int) -> float:
    """Share in [0, 1/2) of the link that loss-based flows keep beside `flows` BBRv1 flows.

    1/2 - 1 / (2 X) - 4 N / q at a queue limit of q packets, X bandwidth-delay products (Ware et al.
    2019, Eq. 9); 0 if the bound on BBR's window exceeds link and buffer.
    """
    if limit <= 0:
        return 0.0
    return max(0.0, 0.5 - bdp / (2 * limit) - PROBE_WINDOW * flows / limit)


def probing_fraction(link: Bottleneck) -> float:
    """Share in [0, 1] of the time that BBR flows spend on measuring their RTT.

    The flows first drain a full queue (Ware et al. 2019, Eq. 11).
    """
    full_s = link.limit_packets / link.capacity_pps + link.mean_rtt_s
    return min(1.0, (full_s + PROBE_HOLD_S) / PROBE_INTERVAL_S)


def predict(link: Bottleneck, _target: Requirement) -> Prediction:
    """The limit that BBRv1 flows need, their queue if they are alone, else the shares.

    Raises:
        NotApplicableError: No permanent BBRv1 flow crosses the link.
    """
    need_permanent_flows(link)
    flows = sum(flow_class.count for flow_class in link.classes if flow_class.congestion == "bbr1")
    if not flows:
        raise NotApplicableError(f"link {link.name}: no BBRv1 flow crosses it")
    bdp, limit = link.bdp_packets, link.limit_packets
    if flows == link.flow_count:
        return _alone(link, flows)
    share = loss_based_share(bdp, limit, flows)
    return Prediction(
        required_packets=LOSSLESS_BDP * bdp,
        required_for="BBRv1 without lasting loss",
        details={
            "bbr_share_fraction": 1 - share,
            "bbr_share_less_probing_fraction": (1 - share) * (1 - probing_fraction(link)),
            "loss_based_share_fraction": share,
        },
    )


def _alone(link: Bottleneck, flows: int) -> Prediction:
    bdp, limit = link.bdp_packets, link.limit_packets
    cap = in_flight_cap(bdp, flows)
    if flows == 1:
        return Prediction(
            required_packets=ALONE_BDP * bdp,
            required_for="full utilization",
            details={"in_flight_packets_max": cap},
        )
    queue = min(limit, max(0.0, cap - bdp))
    return Prediction(
        queue_packets_mean=queue,
        queue_delay_s_mean=queue / link.capacity_pps,
        required_packets=LOSSLESS_BDP * bdp,
        required_for="BBRv1 without lasting loss",
        details={"in_flight_packets_max": cap},
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Permanent BBRv1 flows, alone or beside loss-based ones, all with one round trip."""
    trips = sorted({flow_class.rtt_s for flow_class in link.classes})
    span = f"{1e3 * trips[0]:.4g} to {1e3 * trips[-1]:.4g} ms"
    limit, bdp = link.limit_packets, link.bdp_packets
    return [
        only_controls(link, "bbr1", "cubic", "reno"),
        assume("flows have one round trip time", len(trips) == 1, span),
        assume(
            f"the buffer holds {LOSSLESS_BDP:g} bandwidth-delay products",
            limit >= LOSSLESS_BDP * bdp,
            f"{limit:.4g} packets for {LOSSLESS_BDP * bdp:.4g}",
        ),
        unbounded_windows(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="bbr_buffer",
    title="BBRv1: its queue, its buffer, its share beside loss-based flows",
    source="Cardwell et al. 2016; Ware, Mukerjee, Seshan, Sherry 2019, IMC; RFC 9743",
    assumptions=assumptions,
    predict=predict,
)
