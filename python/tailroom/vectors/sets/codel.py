"""When CoDel drops."""

import math
from collections.abc import Iterator

from tailroom.vectors.scripts import Arrivals, Occurrence, QueueScript
from tailroom.vectors.vector import Expectation, Vector

RATE_BPS = 10e6
PACKET_BYTES = 1500
TARGET_S = 0.005
INTERVAL_S = 0.1
PACKET_S = 8 * PACKET_BYTES / RATE_BPS


def vectors() -> Iterator[Vector]:
    """Arrivals at 1.2 times the rate of the link, from an empty queue."""
    yield drop_times(
        "codel",
        source="RFC 8289 sec. 4.2, 4.3 and 5.6 (target 5 ms, interval 100 ms)",
        url="https://www.rfc-editor.org/rfc/rfc8289",
    )


def drop_times(discipline: str, source: str, url: str) -> Vector:
    """When one queue under CoDel drops."""
    drops = 30
    # The delay grows by 0.2 s per second of arrivals; the packet that arrives at 25 ms waits 5 ms.
    first_s = TARGET_S / 0.2 + TARGET_S + INTERVAL_S
    times = [sum(INTERVAL_S / math.sqrt(k) for k in range(1, n + 1)) for n in range(drops)]
    return Vector(
        id=f"{discipline}.drop-times",
        title="Drops come closer with the square root of their number",
        source=source,
        url=url,
        script=QueueScript(
            discipline=discipline,
            parameters={"target": TARGET_S, "interval": INTERVAL_S},
            limit_packets=10_000,
            rate_bps=RATE_BPS,
            arrivals=Arrivals(1.2 * RATE_BPS, PACKET_BYTES),
            duration_s=1.2,
        ),
        expect=(
            Expectation(
                event="drop",
                at=(0.0, first_s - 3 * PACKET_S),
                value=(0, 0),
                why="the delay reaches the target at 30 ms and must stay above it for an interval",
            ),
            Expectation(
                event="drop",
                at=(first_s - 3 * PACKET_S, first_s + 3 * PACKET_S),
                value=(1, 1),
                why="first drop an interval after the delay reaches the target at 30 ms, within "
                "the packets of the measurement and of the drop",
            ),
            *(
                Expectation(
                    event="drop",
                    at=(time - 1e-9, time + PACKET_S + 1e-9),
                    after=Occurrence("drop"),
                    value=(1, 1),
                    why=f"drop {number}: the sum of interval / sqrt(k) for k = 1 to {number - 1}, "
                    "and up to the end of the packet in transmission",
                )
                for number, time in enumerate(times, 1)
            ),
        ),
    )
