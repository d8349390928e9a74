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
    """A duplicate after packets have changed their order, and one without."""
    yield _widened()
    yield _not_widened()


def _late(begin_s: float, first: int) -> list[Write | AckArrival]:
    """The first packet of a pair is late, is sent again, and arrives twice.

    What arrives after 150 ms answers the late packet, and echoes its timestamp.
    """
    return [
        write(begin_s, 2),
        ack(begin_s + RTT_S, first - 1, (first + 1, first + 1)),
        ack(begin_s + 0.15, first + 1, echo_after_s=begin_s),
        ack(begin_s + 0.23, first + 1, duplicate=first),
    ]


def _not_widened() -> Vector:
    return vector(
        "reordering-not-seen",
        "A duplicate widens no window while no packets have changed their order",
        "tcp_dsack_seen()",
        [*_late(0, 1), write(CYCLE_S, 2), ack(CYCLE_S + RTT_S, 2, (4, 4))],
        _again(0, 1, "min_rtt / 4"),
        _again(CYCLE_S, 1, "reord_seen is 0: the packet that was late had been sent again"),
    )


def _widened() -> Vector:
    """Pairs of packets whose first is lost, time and again."""
    events: list[Write | AckArrival] = [
        # The first of a pair arrives a little after the other, and is not sent again.
        write(0, 2),
        ack(RTT_S, 0, (2, 2)),
        ack(RTT_S + 0.01, 2),
        *_late(CYCLE_S, 3),
    ]
    expect: list[Expectation] = [_again(CYCLE_S, 1, "min_rtt / 4")]
    for cycle in range(1, RECOVERIES + 2):
        begin_s, first = CYCLE_S * (cycle + 1), 2 * cycle + 3
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
    return vector(
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
