"""The burst cliff: utilization of long flows at small buffers, where bursts decide.

An ACK-clocked window crosses the bottleneck as one train at the rate of the link. Trains of several
flows overlap by chance, and a buffer below the overlap drops packets of both. Paced flows have
trains of one packet, BBR has trains of its send quantum. docs/models/burst-cliff.md derives the law
and gives its error.
"""

from dataclasses import dataclass
from math import exp, hypot, log

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import (
    drop_tail,
    long_flows_alone,
    one_bottleneck,
    one_packet_size,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.root import root_between
from tailroom.models.numerics.smallest_limit import smallest_limit
from tailroom.models.sawtooth.cycle import cycle
from tailroom.models.sawtooth.sawtooth import synchronised
from tailroom.models.traffic import need_permanent_flows


@dataclass(frozen=True)
class Control:
    """Constants of a congestion control, fitted to simulations at 1 and 10 Gbit/s."""

    shortfall: float
    """Share of the rate that one flow leaves unused without a buffer, in (0, 1)."""
    decay_bdp: float
    """Buffer, in bandwidth-delay products, that divides the shortfall by e."""
    flows_exponent: float
    """The shortfall falls with the number of flows to this power."""
    edge: float = 0.0
    """Factor of the cliff's edge without pacing; 0 for a control that paces."""


CONTROLS = {
    "reno": Control(0.33, 0.12, 0.18, edge=0.127),
    "highspeed": Control(0.26, 0.165, 0.14, edge=0.151),
    "cubic": Control(0.17, 0.056, 0.07, edge=0.116),
    "bbr3": Control(0.45, 0.14, 0.7),
}
"""The constants per congestion control."""

LEAST_WINDOW = 2.5
"""Mean window that remains without a buffer, in packets; fitted, as are the constants below."""
EDGE_WINDOW_EXPONENT = 0.2
EDGE_FLOWS_EXPONENT = 0.4
EDGE_SHARPNESS = 12.0
OWN_PACKETS = 2.0
"""Packets that one flow needs beyond the burst of its host."""

PACED_LOSS = 0.38
"""Factor of ln(window): how far a paced flow's queue may reach before a loss."""
PACED_SHARPNESS = 0.75
BBR_LOSS = 0.095
BBR_SHARPNESS = 0.5
IN_SERVICE = 0.4
"""Bursts that the packet in transmission takes from the buffer."""

LARGEST_QUANTUM_BYTES = 65_536
SMALLEST_QUANTUM_PACKETS = 2
QUANTUM_S = 1e-3
"""BBRv3 sends what its pacing rate allows in 1 ms at once (`SetSendQuantum`)."""

FITTED_WINDOWS = (25.0, 1200.0)
"""Bandwidth-delay product per flow in the simulations of the fit, in packets."""
FITTED_FLOWS = (3, 30)
"""Numbers of flows in these simulations, beside one flow."""


def full_pipe(control: Control, limit: float, bdp: float, flows: int) -> float:
    """Utilization of flows without bursts, in (0, 1): 1 - D n^-g exp(-B / (X BDP)).

    Args:
        control: Constants D, X, g.
        limit: Queue limit B, in packets.
        bdp: Bandwidth-delay product, in packets.
        flows: Number of flows n.
    """
    unused = control.shortfall / float(flows**control.flows_exponent)
    return 1 - unused * exp(-limit / (control.decay_bdp * bdp))


def train_fill(limit: float, bdp: float, flows: int, burst: int) -> float:
    """Share in [0, 1) of the full pipe that whole windows in trains reach below the edge.

    W^3 = B'^2 BDP / (n - 1) with B' = B / (1 + min(1, s / B)); y = (W + 2.5) n / BDP, and the share
    is y / sqrt(1 + y^2).

    Args:
        limit: Queue limit B, in packets.
        bdp: Bandwidth-delay product, in packets.
        flows: Number of flows n, at least 2.
        burst: Packets s that a host sends together.
    """
    usable = limit / (1 + min(1.0, burst / limit))
    window = float((usable**2 * bdp / (flows - 1)) ** (1 / 3)) + LEAST_WINDOW
    y = window * flows / bdp
    return y / hypot(1, y)


def edge_packets(control: Control, bdp: float, flows: int, burst: int) -> float:
    """The cliff's edge without pacing: E = k BDP / w^(1/5) + s n^(2/5), in packets, w = BDP / n.

    Above it, queueing spreads the trains over the round trip.
    """
    spread = control.edge * bdp * (bdp / flows) ** -EDGE_WINDOW_EXPONENT
    return float(spread + burst * flows**EDGE_FLOWS_EXPONENT)


def unpaced(control: Control, limit: float, bdp: float, flows: int, burst: int) -> float:
    """Utilization in [0, 1] without pacing.

    Args:
        control: Constants of the control.
        limit: Queue limit, in packets.
        bdp: Bandwidth-delay product, in packets.
        flows: Number of flows, at least 2.
        burst: Packets that a host sends together.
    """
    full = full_pipe(control, limit, bdp, flows)
    trains = train_fill(limit, bdp, flows, burst)
    # In logarithms, because the power overflows far from the edge.
    beyond = EDGE_SHARPNESS * log(edge_packets(control, bdp, flows, burst) / limit)
    spread = 1 / (1 + exp(min(beyond, 700.0)))
    return full * (1 - (1 - trains) * (1 - spread))


def paced_fill(bursts: float, window: float, flows: int, loss: float, sharpness: float) -> float:
    """Share in [0, 1] of the full pipe that paced flows reach.

    y = max(0, c ln(w) / (b - 0.4) - b / n), and the share is (1 + y^k)^(-1/k).

    Args:
        bursts: Bursts b that fit into the buffer.
        window: Bandwidth-delay product per flow w, in packets.
        flows: Number of flows n.
        loss: Constant c.
        sharpness: Constant k.
    """
    reach = loss * log(max(1.0, window)) / max(1e-3, bursts - IN_SERVICE)
    y = max(0.0, reach - bursts / flows)
    return float((1 + y**sharpness) ** (-1 / sharpness))


def paced(control: Control, limit: float, bdp: float, flows: int) -> float:
    """Utilization in [0, 1] of two or more flows that are paced packet by packet."""
    full = full_pipe(control, limit, bdp, flows)
    return full * paced_fill(limit, bdp / flows, flows, PACED_LOSS, PACED_SHARPNESS)


def bbr(limit: float, bdp: float, flows: int, flow_pps: float, packet_bytes: float) -> float:
    """Utilization in [0, 1] of BBRv3, whose bursts grow with its rate.

    A burst has u r 1 ms packets, at least 2 and at most 64 KB, at the utilization u that results.

    Args:
        limit: Queue limit, in packets.
        bdp: Bandwidth-delay product, in packets.
        flows: Number of flows.
        flow_pps: Packets per second of a flow with its share r of the link.
        packet_bytes: Size of a packet.
    """
    full = full_pipe(CONTROLS["bbr3"], limit, bdp, flows)
    largest = LARGEST_QUANTUM_BYTES / packet_bytes

    def missing(u: float) -> float:
        burst = min(largest, max(SMALLEST_QUANTUM_PACKETS, u * flow_pps * QUANTUM_S))
        share = paced_fill(limit / burst, bdp / flows, flows, BBR_LOSS, BBR_SHARPNESS)
        return full * share - u

    return root_between(missing, 0.0, 1.0)


def alone(link: Bottleneck, limit: float, burst: int, is_paced: bool) -> float:
    """Utilization in [0, 1] of one flow: its sawtooth, once the burst of its own host fits.

    Below that limit the window is at most 3 B + 1, because a burst is a third of the window or less
    (Linux, `tcp_tso_win_divisor`).
    """
    full = cycle(synchronised(link, link.capacity_pps), limit).utilization
    if is_paced or limit >= burst + OWN_PACKETS:
        return full
    return min(full, (3 * limit + 1) / link.bdp_packets)


def utilization(link: Bottleneck, limit: float) -> float:
    """Utilization in [0, 1] of the link's flows with another queue limit, in packets.

    Raises:
        NotApplicableError: See `predict`.
    """
    name, burst, is_paced = hosts(link)
    limit, bdp, flows = max(1.0, limit), link.bdp_packets, link.flow_count
    if name == "bbr3":
        return bbr(limit, bdp, flows, link.capacity_pps / flows, link.packet_bytes)
    if flows == 1:
        return alone(link, limit, burst, is_paced)
    if is_paced:
        return paced(CONTROLS[name], limit, bdp, flows)
    return unpaced(CONTROLS[name], limit, bdp, flows, burst)


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """Utilization, the smallest limit for a utilization, and the edge of the cliff.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, or flows
            run several controls or another one, or only some of them are paced.
    """
    name, burst, is_paced = hosts(link)
    bdp, flows = link.bdp_packets, link.flow_count
    details = {"bdp_per_flow_packets": bdp / flows}
    if not is_paced and flows > 1:
        edge = edge_packets(CONTROLS[name], bdp, flows, burst)
        details |= {"cliff_edge_packets": edge, "cliff_edge_bdp": edge / bdp}
    return Prediction(
        utilization=utilization(link, link.limit_packets),
        required_packets=smallest_limit(
            lambda limit: utilization(link, limit) >= target.utilization
        ),
        required_for=f"{100 * target.utilization:g} % utilization",
        details=details,
    )


def hosts(link: Bottleneck) -> tuple[str, int, bool]:
    """The control of the flows, the burst of their hosts, and whether they are paced.

    Raises:
        NotApplicableError: See `predict`.
    """
    need_permanent_flows(link)
    if link.bdp_packets <= 0:
        raise NotApplicableError(f"link {link.name}: flows have no propagation delay")
    names = sorted({one.congestion for one in link.classes})
    if len(names) > 1 or names[0] not in CONTROLS:
        raise NotApplicableError(
            f"link {link.name}: flows run {', '.join(names)}; the law is fitted for flows of one "
            f"control, which is {', '.join(CONTROLS)}"
        )
    pacing = {one.pacing or one.congestion == "bbr3" for one in link.classes}
    if len(pacing) > 1:
        raise NotApplicableError(
            f"link {link.name}: some flows are paced and some are not; the law is fitted for equal "
            "hosts"
        )
    return names[0], max(one.send_burst for one in link.classes), pacing.pop()


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Long flows of one control over a steady DropTail link, with RTTs that differ."""
    name, burst, is_paced = hosts(link)
    trips = sorted({one.rtt_s for one in link.classes})
    (low, high), (fewest, most) = FITTED_WINDOWS, FITTED_FLOWS
    window = link.bdp_packets / link.flow_count
    slowest = min(one.access_rate_bps for one in link.classes)
    delayed = max(one.packets_per_ack for one in link.classes)
    return [
        assume(
            "round trips differ, so that trains meet by chance",
            link.flow_count == 1 or len(trips) > 1,
            f"all take {1e3 * trips[0]:.4g} ms",
        ),
        assume(
            f"a flow's share of the bandwidth-delay product is {low:g} to {high:g} packets",
            low <= window <= high,
            f"{window:.4g} packets",
        ),
        assume(
            f"one flow, or {fewest} to {most} flows as in the fit",
            link.flow_count == 1 or fewest <= link.flow_count <= most,
            f"{link.flow_count} flows",
        ),
        assume(
            "paced flows send packets one by one",
            burst == 1 or not is_paced or name == "bbr3",
            f"bursts of {burst}",
        ),
        assume("each packet is acknowledged", delayed == 1, f"one ACK for {delayed} packets"),
        assume(
            "access links are faster than the link",
            slowest > link.rate_bps,
            f"{slowest / 1e6:.6g} Mbit/s",
        ),
        unbounded_windows(link),
        one_packet_size(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="burst_cliff",
    title="Burst cliff: utilization at small buffers, with and without pacing",
    source="new; derived and fitted in docs/models/burst-cliff.md",
    assumptions=assumptions,
    predict=predict,
)
