"""Pacing behind fq: not for the first ten packets, then twice the window per RTT, or 1.2 times.

What is paced are aggregates: those that segmentation offload hands over at once.
"""

from collections.abc import Iterator
from typing import Any

from tailroom.vectors.sets.linux.case import RTT_S, ack, leave, vector, write
from tailroom.vectors.vector import Vector

FILE = "net/ipv4/tcp_output.c"


LEAST_PACKETS = 2
"""`tcp_min_tso_segs`."""
JUMBO_BYTES = 8_960
"""Data in a packet of 9,000 B."""


def vectors() -> Iterator[Vector]:
    """The first ten packets, slow start, the window after a loss, and the sizes of aggregates."""
    yield _first()
    yield _slow_start()
    yield _avoidance()
    yield _pairs()
    yield _of_a_millisecond()
    yield _largest()
    yield _half_a_window()


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


def _aggregates(  # noqa: PLR0913 - what decides the size
    name: str, title: str, packets: int, why: str, *, rtt_s: float, function: str, **settings: Any
) -> Vector:
    """One ACK doubles the window to 20: three aggregates of so many packets, or what is left.

    The first follows an idle time, so half of it is paid for (`tcp_update_skb_after_send()`).
    """
    gap_s = packets * rtt_s / 40
    spread_s = 0.2 * gap_s
    starts_s = [rtt_s, rtt_s + gap_s / 2, rtt_s + 1.5 * gap_s]
    left = [min(packets, 20 - before * packets) for before in range(3)]
    pace = f"40 packets per RTT: an aggregate lasts {1000 * gap_s:.3g} ms, the first half as long"
    return vector(
        name,
        title,
        function,
        [write(0, 100, start_s=rtt_s), ack(rtt_s, 10, start_s=rtt_s)],
        *(
            leave(
                start_s - (spread_s if at else 0),
                start_s + spread_s,
                left[at],
                why if at == 0 else pace,
                start_s=rtt_s,
            )
            for at, start_s in enumerate(starts_s)
            if left[at] > 0
        ),
        file=FILE,
        is_paced=True,
        control="reno",
        rtt_s=rtt_s,
        **settings,
    )


def _pairs() -> Vector:
    return _aggregates(
        "pacing-pairs",
        "At a low rate packets leave in pairs",
        LEAST_PACKETS,
        "400 kB/s * 1 s / 1024 = 390 B, less than a packet: tcp_min_tso_segs = 2",
        rtt_s=RTT_S,
        function="tcp_tso_segs()",
    )


def _of_a_millisecond() -> Vector:
    return _aggregates(
        "pacing-aggregates",
        "Packets leave in aggregates of a millisecond",
        7,
        "8 MB/s * 1 s / 1024 = 7,812 B, and 64 kB / 2^(5000 us >> 9) = 127 B: 7 packets",
        rtt_s=0.005,
        function="tcp_tso_autosize()",
    )


def _largest() -> Vector:
    return _aggregates(
        "pacing-largest-aggregate",
        "An aggregate has 64 kB at most",
        7,
        "89.6 MB/s * 1 s / 1024 = 87,500 B would be 9 packets; 65,215 B (sk_gso_max_size) are 7",
        rtt_s=0.004,
        function="tcp_tso_autosize()",
        packet_bytes=JUMBO_BYTES,
    )


def _half_a_window() -> Vector:
    return _aggregates(
        "pacing-half-a-window",
        "An aggregate has half of the window at most",
        10,
        "20 MB/s * 1 s / 1024 + 64 kB / 2^(2000 us >> 9) = 27,682 B; half of the window of 20 are "
        "10 packets",
        rtt_s=0.002,
        function="tcp_cwnd_test()",
    )
