"""The coupling of the two probabilities of DualPI2."""

import math
from collections.abc import Iterator

from tailroom.vectors.scripts import Arrivals, Probe, QueueScript
from tailroom.vectors.vector import Expectation, Vector

RATE_BPS = 40e6
COUPLING = 2.0
PROBE = Probe(packet_bytes=200, rtt_s=0.01)


def vectors() -> Iterator[Vector]:
    """A classic load that does not react, and L4S packets that measure."""
    for percent in (1, 4, 9):
        yield _coupled(percent)


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
        url="https://www.rfc-editor.org/rfc/rfc9332",
        script=QueueScript(
            discipline="dual_pi2",
            parameters={
                "target": 0.015,
                "update_interval": 0.016,
                "alpha": 0.16,
                "beta": 3.2,
                "coupling": COUPLING,
            },
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
