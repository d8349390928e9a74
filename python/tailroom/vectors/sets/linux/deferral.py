"""A host that is not paced waits for a larger aggregate, if the next ACK is due at once."""

from collections.abc import Iterator

from tailroom.vectors.scripts import AckArrival
from tailroom.vectors.sets.linux.case import ack, leave, vector, write
from tailroom.vectors.vector import Expectation, Vector

FILE = "net/ipv4/tcp_output.c"
RTT_S = 0.01
GAP_S = 0.0002
"""Between two ACKs of a packet each."""
RATE = "a window of {} has an aggregate of four packets: 2 * {} per RTT are {} kB/s, / 1024"


def vectors() -> Iterator[Vector]:
    """A segment that waits, and one that does not since its ACK is due later."""
    yield _waits()
    yield _does_not_wait()


def _step(at: int, begins_s: float, packets: int, why: str) -> Expectation:
    """What leaves with the ACK of this place."""
    time_s = begins_s + GAP_S * at
    return leave(time_s, time_s + GAP_S / 2, packets, why, start_s=RTT_S)


def _acks(count: int) -> list[AckArrival]:
    """ACKs of packets 11, 12 and so on, which were sent a round trip before the first of them."""
    return [ack(2 * RTT_S + GAP_S * at, 11 + at, start_s=RTT_S) for at in range(count)]


def _why(window: int, room: int) -> str:
    return f"room for {room}; {RATE.format(window, window, 200 * window)}"


def _waits() -> Vector:
    """20 packets leave at once; their ACKs come one by one. Each makes room for two more."""
    begins_s = 2 * RTT_S
    return vector(
        "deferral",
        "Room for two packets waits for an aggregate of four",
        "tcp_tso_should_defer()",
        [write(0, 300, start_s=RTT_S), ack(RTT_S, 10, start_s=RTT_S), *_acks(5)],
        leave(
            RTT_S,
            RTT_S + GAP_S,
            20,
            "the last two of 20 make no aggregate of three, but the next ACK is due in 10 ms",
            start_s=RTT_S,
        ),
        _step(0, begins_s, 2, "the last packet left more than a millisecond ago"),
        _step(1, begins_s, 0, _why(22, 2)),
        _step(2, begins_s, 4, _why(23, 4)),
        _step(3, begins_s, 0, _why(24, 2)),
        _step(4, begins_s, 4, _why(25, 4)),
        file=FILE,
        control="reno",
        rtt_s=RTT_S,
    )


def _does_not_wait() -> Vector:
    """Of 20 packets four leave at once, and the others 5 ms later."""
    begins_s = 2 * RTT_S
    later_s = RTT_S + 0.005
    return vector(
        "deferral-ack-not-due",
        "Packets do not wait for an ACK that is not due within a millisecond",
        "tcp_tso_should_defer()",
        [
            write(0, 10, start_s=RTT_S),
            ack(RTT_S, 10, start_s=RTT_S),
            write(RTT_S, 4, start_s=RTT_S),
            write(later_s, 200, start_s=RTT_S),
            *_acks(4),
        ],
        leave(later_s, later_s + GAP_S, 16, "the next ACK is due in 5 ms", start_s=RTT_S),
        _step(0, begins_s, 2, "the last packet left more than a millisecond ago"),
        _step(1, begins_s, 0, _why(22, 2)),
        _step(2, begins_s, 4, _why(23, 4)),
        _step(3, begins_s, 2, f"{_why(24, 2)}; but the next ACK is due 5 ms after this one"),
        file=FILE,
        control="reno",
        rtt_s=RTT_S,
    )
