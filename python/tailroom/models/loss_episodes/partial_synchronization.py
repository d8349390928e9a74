"""Partial synchronization: a share of the flows loses in each loss episode.

Between full synchronization (`sawtooth`) and independent losses (`drop_tail_fixed_point`): whenever
link and buffer are full, each flow loses with a probability that follows from the growth of its
window. At small buffers, trains of packets overflow the buffer before the link is full, as in
`burst_cliff`. docs/models/partial-synchronization.md derives the law and gives its error.
"""

from functools import lru_cache
from math import exp, hypot, log1p, sqrt

import numpy as np

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
from tailroom.models.loss_episodes import episodes
from tailroom.models.loss_episodes.episodes import Episodes, Exposure, Link
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.smallest_limit import LEAST_LIMIT, smallest_limit_near
from tailroom.models.rules import burst_cliff
from tailroom.models.sawtooth.sawtooth import synchronised
from tailroom.models.window_laws.window_law import Floats, WindowLaw
from tailroom.written_numbers import number

LOSSES = 0.5
"""Losses per flow and episode at a growth of one packet per round trip. This constant and those
below are fitted on the link of Figure 3 of Barman et al. 2004."""
GROWTH_EXPONENT = 0.5
"""The losses per flow grow with the growth of its window to this power."""

EDGE = 1.35
"""The cliff's edge for very different RTTs, over that of `burst_cliff`."""
EDGE_RTT_VARIATION = 0.039
"""Coefficient of variation of the RTTs at which the edge has 1 - 1/e of that value."""
EDGE_SHARPNESS = 8.0
TRAINS = 1.19
"""Utilization by trains below the edge, over that of `burst_cliff`."""
ABOVE_THE_CLIFF = 0.99
"""Share of the full pipe from which on queue and loss are predicted."""

CONTROLS = ("reno", "highspeed")
"""Controls whose window decides its own growth and whose cliff is known."""
MOST_FLOWS = 200
"""The windows of more flows would take seconds to follow."""


def exposure_of(law: WindowLaw) -> Exposure:
    """Mean number of losses per flow in an episode: 0.5 sqrt(a(w)).

    Args:
        law: Window law with `increase`.
    """

    def exposure(windows: Floats, trips_s: Floats) -> Floats:
        assert law.increase is not None
        growth: Floats = np.asarray(law.increase(windows, trips_s))
        return LOSSES * growth**GROWTH_EXPONENT

    return exposure


def constant_share(share: float) -> Exposure:
    """Losses per flow if each flow loses in this share of the episodes.

    Args:
        share: Share of the flows that loses in an episode, in (0, 1]; 1 is all flows at once.
    """
    losses = -log1p(-share) if share < 1 else np.inf
    return lambda windows, _trips_s: np.full_like(windows, losses)


def edge_packets(link: Bottleneck) -> float:
    """The cliff's edge: that of `burst_cliff` times 1.35 (1 - exp(-v / 0.039)).

    v is the coefficient of variation of the flows' RTTs. The factor is 1.04 for RTTs spread evenly
    over 20 %, with which `burst_cliff` was fitted.
    """
    name, burst, _ = burst_cliff.hosts(link)
    rtts_s = _rtts_s(link)
    variation = float(rtts_s.std() / rtts_s.mean())
    edge = burst_cliff.edge_packets(
        burst_cliff.CONTROLS[name], link.bdp_packets, link.flow_count, burst
    )
    return EDGE * (1 - exp(-variation / EDGE_RTT_VARIATION)) * edge


def filled_share(link: Bottleneck, limit: float) -> float:
    """Share in (0, 1] of the full pipe that trains of packets let these flows reach.

    1 - (1 - T) / (1 + (B / E)^8), where T is the share that whole windows in trains reach, as in
    `burst_cliff`. Paced flows have the share of `burst_cliff`, and a single flow has 1.

    Args:
        link: The link.
        limit: Queue limit B, in packets.
    """
    _, burst, is_paced = burst_cliff.hosts(link)
    bdp, flows, limit = link.bdp_packets, link.flow_count, max(LEAST_LIMIT, limit)
    if flows == 1:
        return 1.0
    if is_paced:
        return burst_cliff.paced_fill(limit, bdp / flows, flows)
    whole = burst_cliff.train_fill(limit, bdp, flows, burst)
    load = TRAINS * whole / sqrt(1 - whole**2)
    trains = load / hypot(1, load)
    beyond: float = min(1e30, (limit / max(1e-9, edge_packets(link))) ** EDGE_SHARPNESS)
    return 1 - (1 - trains) / (1 + beyond)


def at_limit(link: Bottleneck, limit: float, share: float | None = None) -> Episodes:
    """Means over the loss episodes with another queue limit, of flows that send no trains.

    Args:
        link: The link.
        limit: Queue limit, in packets.
        share: Share of the flows that loses in an episode, in (0, 1]; by default it follows from
            the growth of the windows.

    Raises:
        NotApplicableError: See `predict`.
    """
    return _at_limit(link.capacity_pps, limit, _flows(link), _law(link), share)


@lru_cache(maxsize=64)
def _at_limit(
    capacity_pps: float,
    limit: float,
    flows: tuple[tuple[float, int], ...],
    law: WindowLaw,
    share: float | None,
) -> Episodes:
    """Keeps its answers: the limit that a target requires does not depend on that of the link."""
    exposure = exposure_of(law) if share is None else constant_share(share)
    return episodes.run(Link(capacity_pps, limit, _rtts_of(flows), law), exposure)


def utilization(link: Bottleneck, limit: float) -> float:
    """Utilization in [0, 1] with another queue limit, in packets.

    Raises:
        NotApplicableError: See `predict`.
    """
    return at_limit(link, limit).utilization * filled_share(link, limit)


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """Mean utilization, the smallest limit for a utilization, and the share that loses.

    Queue and loss are predicted above the cliff only.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, the flows
            run several controls or another one than Reno and HighSpeed, only some of them are
            paced, or there are more than 200 of them.
    """
    found, share = at_limit(link, link.limit_packets), filled_share(link, link.limit_packets)
    above = share >= ABOVE_THE_CLIFF
    sent = found.utilization * link.capacity_pps * found.cycle_s
    queue = found.queue_packets_mean
    details = {"pipe_filled_fraction": share}
    if above:
        details |= {"synchronized_flows_fraction": found.share, "cycle_s": found.cycle_s}
    return Prediction(
        utilization=found.utilization * share,
        loss_fraction=min(1.0, found.growth_packets / sent) if above else None,
        queue_packets_mean=queue if above else None,
        queue_delay_s_mean=queue / link.capacity_pps if above else None,
        required_packets=smallest_limit_near(
            lambda limit: utilization(link, limit) - target.utilization, link.bdp_packets / 10
        ),
        required_for=f"{100 * target.utilization:g} % utilization",
        details=details,
    )


def _law(link: Bottleneck) -> WindowLaw:
    flows = synchronised(link, link.capacity_pps)
    burst_cliff.hosts(link)
    control = link.classes[0].congestion
    if control not in CONTROLS:
        raise NotApplicableError(
            f"link {link.name}: flows run {control}; the law is fitted for {' and '.join(CONTROLS)}"
        )
    if flows.count > MOST_FLOWS:
        raise NotApplicableError(
            f"link {link.name}: {flows.count} flows; windows are followed one by one for up to "
            f"{MOST_FLOWS} flows; square_root_rule is for more"
        )
    return flows.law


@lru_cache(maxsize=16)
def _rtts_of(flows: tuple[tuple[float, int], ...]) -> Floats:
    return np.repeat([rtt for rtt, _ in flows], [count for _, count in flows])


def _rtts_s(link: Bottleneck) -> Floats:
    """RTT of each flow."""
    return _rtts_of(_flows(link))


def _flows(link: Bottleneck) -> tuple[tuple[float, int], ...]:
    """RTT and number of the flows of each class."""
    return tuple((one.rtt_s, one.count) for one in link.classes)


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Several long flows of one control over a steady DropTail link, with RTTs that differ."""
    _law(link)
    _, burst, is_paced = burst_cliff.hosts(link)
    rtts_s = _rtts_s(link)
    delayed = max(one.packets_per_ack for one in link.classes)
    limit, flows = link.limit_packets, link.flow_count
    edge = edge_packets(link)
    return [
        assume("several flows", flows > 1, "1 flow"),
        assume(
            "round trips differ, so that trains meet by chance",
            flows == 1 or len(set(rtts_s.tolist())) > 1,
            f"all take {1e3 * rtts_s[0]:.4g} ms",
        ),
        assume(
            "the buffer is not near the cliff's edge, where runs differ",
            is_paced or flows == 1 or not edge / 2 < limit < 1.5 * edge,
            f"{number(limit)} packets, the edge is at {number(edge)}",
        ),
        assume("each packet is acknowledged", delayed == 1, f"one ACK for {delayed} packets"),
        assume("hosts send packets one by one", burst == 1, f"bursts of {burst}"),
        drop_tail(link),
        unbounded_windows(link),
        one_packet_size(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
        fast_access(link),
    ]


MODEL = Model(
    name="partial_synchronization",
    title="Partial synchronization: a share of the flows loses per episode",
    source="new; derived and fitted in docs/models/partial-synchronization.md",
    assumptions=assumptions,
    predict=predict,
)
