"""Pacing behind fq: not for the first ten packets, then twice the window per RTT, or 1.2 times."""

from collections.abc import Iterator

from tailroom.vectors.sets.linux.case import RTT_S, ack, leave, vector, write
from tailroom.vectors.vector import Vector

FILE = "net/ipv4/tcp_output.c"


def vectors() -> Iterator[Vector]:
    """The first ten packets, slow start, and the window after a loss."""
    yield _first()
    yield _slow_start()
    yield _avoidance()


def _first() -> Vector:
    return vector(
        "pacing-first-packets",
        "A paced connection sends its first ten packets at once",
        "tcp_update_skb_after_send()",
        [write(0, 10)],
        leave(0, 0.001, 10, "data_segs_out is below TCP_INIT_CWND"),
        file=FILE,
        is_paced=True,
    )


def _slow_start() -> Vector:
    return vector(
        "pacing-slow-start",
        "Slow start paces twice the window per round trip",
        "tcp_update_pacing_rate()",
        [write(0, 100), ack(RTT_S, 10)],
        leave(
            RTT_S,
            RTT_S + 0.0249,
            (8, 13),
            "2 * 20 / RTT = 400 packets/s: half of the 20 in 25 ms, and up to two more, as TCP "
            "hands over at least two at a time",
        ),
        leave(RTT_S, RTT_S + 0.06, 20, "all of them in 50 ms, half an RTT"),
        is_paced=True,
        control="reno",
    )


def _avoidance() -> Vector:
    """A loss reduces the window to 5, which is not below ssthresh / 2."""
    acks = [ack(RTT_S + 0.001 * at, 0, (2, 2 + at)) for at in range(9)]
    later_s = 0.6
    return vector(
        "pacing-avoidance",
        "From half of ssthresh on pacing has a gain of 1.2",
        "tcp_update_pacing_rate()",
        [write(0, 10), *acks, ack(2 * RTT_S + 0.01, 10), write(later_s, 5)],
        leave(
            later_s,
            later_s + 0.04,
            (2, 4),
            "1.2 * 5 / RTT = 60 packets/s: one every 17 ms; at twice the window they would be 5",
        ),
        leave(later_s, later_s + 0.085, 5, "four gaps of 17 ms"),
        is_paced=True,
        control="reno",
    )
