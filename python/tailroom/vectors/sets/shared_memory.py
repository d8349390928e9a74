"""How much of a shared memory congested ports get."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Arrivals, MemoryScript
from tailroom.vectors.vector import Expectation, Vector

MEMORY_BYTES = 1_000_000
RATE_BPS = 1e9
PACKET_BYTES = 100


def vectors() -> Iterator[Vector]:
    """Dynamic thresholds, for several numbers of congested ports and values of alpha."""
    for alpha in (0.5, 1.0, 8.0):
        for ports in (1, 3, 8):
            yield _congested(alpha, ports)


def _congested(alpha: float, ports: int) -> Vector:
    share = alpha * MEMORY_BYTES / (1 + alpha * ports)
    why = (
        "each queue is at its threshold alpha (B - sum of the queues): alpha B / (1 + "
        f"{ports} alpha) = {share:.0f} B; each packet moves the threshold by alpha packets"
    )
    slack = (3 + 2 * alpha) * PACKET_BYTES
    return Vector(
        id=f"shared_memory.alpha-{alpha:g}-ports-{ports}",
        title=f"{ports} congested ports share the memory with alpha = {alpha:g}",
        source="Choudhury and Hahne 1998",
        url="https://doi.org/10.1109/90.664262",
        script=MemoryScript(
            policy="dynamic_threshold",
            parameters={"alpha": alpha},
            memory_bytes=MEMORY_BYTES,
            ports=ports,
            port_rate_bps=RATE_BPS,
            arrivals=Arrivals(1.5 * RATE_BPS, PACKET_BYTES),
            duration_s=0.05,
            measured_from_s=0.03,
        ),
        expect=tuple(
            Expectation(
                quantity=f"{which}_queue_bytes_mean", value=(share - slack, share + slack), why=why
            )
            for which in ("least", "largest")
        ),
        chance="The order of arrivals at different ports; the band holds for each order.",
    )
