"""RACK's reordering window: a duplicate widens it, and 16 recoveries later it is small again."""

from collections.abc import Iterator

from tailroom.vectors.scripts import AckArrival, Write
from tailroom.vectors.sets.linux.case import RTT_S, ack, leave, vector, write
from tailroom.vectors.vector import Expectation, Vector

CYCLE_S = 0.4
RECOVERIES = 16
"""`TCP_RACK_RECOVERY_THRESH`."""
MARGIN_S = 0.002
CLOCK_S = 0.004


def vectors() -> Iterator[Vector]:
    """One vector: pairs of packets whose first is lost, time and again."""
    events: list[Write | AckArrival] = [
        # The first of a pair is late, and is sent again.
        write(0, 2),
        ack(RTT_S, 0, (2, 2)),
        ack(0.15, 2),
        ack(0.23, 2, duplicate=1),
    ]
    expect: list[Expectation] = [_again(0, 1, "min_rtt / 4")]
    for cycle in range(1, RECOVERIES + 2):
        begin_s, first = CYCLE_S * cycle, 2 * cycle + 1
        quarters = 2 if cycle <= RECOVERIES else 1
        again_s = RTT_S + quarters * RTT_S / 4 + MARGIN_S
        events += [
            write(begin_s, 2),
            ack(begin_s + RTT_S, first - 1, (first + 1, first + 1)),
            ack(begin_s + again_s + RTT_S, first + 1),
        ]
        if cycle in (1, RECOVERIES, RECOVERIES + 1):
            why = "a duplicate adds a quarter" if quarters == 2 else "16 recoveries later"
            expect.append(_again(begin_s, quarters, why))
    yield vector(
        "reordering-window",
        "A duplicate widens the reordering window until 16 recoveries have passed",
        "tcp_rack_update_reo_wnd()",
        events,
        *expect,
        file="net/ipv4/tcp_recovery.c",
    )


def _again(begin_s: float, quarters: int, why: str) -> Expectation:
    due_s = begin_s + RTT_S + quarters * RTT_S / 4 + MARGIN_S
    return leave(
        due_s - CLOCK_S,
        due_s + CLOCK_S,
        1,
        f"{why}: RTT + {quarters} / 4 of the least RTT + 2 ms after it was sent",
        event="sent_again",
    )
