"""The coupling of the two probabilities of DualPI2, and the ramp of its L4S queue."""

import math
from collections.abc import Iterator

from tailroom.vectors.scripts import Arrivals, Probe, QueueScript
from tailroom.vectors.vector import Expectation, Vector

RATE_BPS = 40e6
COUPLING = 2.0
PROBE = Probe(packet_bytes=200, rtt_s=0.01)
URL = "https://www.rfc-editor.org/rfc/rfc9332"
MIN_TH_S, RANGE_S = 0.0008, 0.0004
"""Where the ramp begins, and its width (appendix A.1)."""
PARAMETERS = {
    "target": 0.015,
    "update_interval": 0.016,
    "alpha": 0.16,
    "beta": 3.2,
    "coupling": COUPLING,
}


def vectors() -> Iterator[Vector]:
    """A classic load that does not react, with L4S packets that measure; and only L4S packets."""
    for percent in (1, 4, 9):
        yield _coupled(percent)
    for delay_us in (500, 1000, 1500):
        yield _ramp(delay_us)


def _ramp(delay_us: int) -> Vector:
    """A window that never changes keeps a queue that never changes.

    A round trip takes as long as the window on the link: the RTT without queue, the transmission,
    and the wait. One classic packet in ten seconds does not matter.
    """
    window, size = 40, 1500
    packet_s = 8 * size / RATE_BPS
    delay_s = delay_us / 1e6
    marked = min(max((delay_s - MIN_TH_S) / RANGE_S, 0.0), 1.0)
    return Vector(
        id=f"dual_pi2.ramp-{delay_us}us",
        title=f"Of L4S packets that wait for {delay_us} us, {marked:.0%} are marked",
        source="RFC 9332 sec. 2.4 and appendix A.1 (laqm)",
        url=URL,
        script=QueueScript(
            discipline="dual_pi2",
            parameters={**PARAMETERS, "l4s_threshold": MIN_TH_S, "ramp": RANGE_S},
            limit_packets=10_000,
            rate_bps=RATE_BPS,
            arrivals=Arrivals(80.0, 100),
            probe=Probe(
                packet_bytes=size, rtt_s=(window - 1) * packet_s - delay_s, window_packets=window
            ),
            duration_s=9.0,
            measured_from_s=1.0,
        ),
        expect=(
            Expectation(
                quantity="probe_marked_fraction",
                value=(max(marked - 0.02, 0.0), min(marked + 0.02, 1.0)),
                why="p_L = max(p'_L, p_CL); the ramp p'_L rises from 0 at minTh = 800 us to 1 at "
                "1200 us, and p_CL = 0, as the delay is far below the target of 15 ms",
            ),
        ),
        chance="26,000 L4S packets: the fraction marked has a standard deviation of 0.003.",
    )


def _coupled(percent: int) -> Vector:
    """The L4S packets have priority, so they take their rate from the classic ones."""
    offered = RATE_BPS / (1 - percent / 100)
    probe_bps = 8 * PROBE.packet_bytes / PROBE.rtt_s
    classic = 1 - (RATE_BPS - probe_bps) / offered
    coupled = COUPLING * math.sqrt(classic)
    return Vector(
        id=f"dual_pi2.coupling-{percent}",
        title=f"A classic loss of {percent} % marks {coupled:.0%} of the L4S packets",
        source="RFC 9332 sec. 2.1, Eq. 1; appendix A.1 for the parameters",
        url=URL,
        script=QueueScript(
            discipline="dual_pi2",
            parameters=PARAMETERS,
            limit_packets=10_000,
            rate_bps=RATE_BPS,
            arrivals=Arrivals(offered, 1500),
            probe=PROBE,
            duration_s=60.0,
            measured_from_s=20.0,
        ),
        expect=(
            Expectation(
                quantity="probe_marked_fraction",
                value=(coupled - 0.03, coupled + 0.03),
                why="p_C = (p_CL / k)^2 with k = 2; the classic loss p_C must be what the link "
                f"cannot carry next to the L4S packets, {classic:.4f}, hence p_CL = 2 sqrt(p_C) = "
                f"{coupled:.4f}",
            ),
        ),
        chance="About 4,000 L4S packets: the fraction marked has a standard deviation of at most "
        "0.008, a quarter of the half width.",
    )
