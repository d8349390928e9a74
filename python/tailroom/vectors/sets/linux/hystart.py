"""When CUBIC's HyStart ends slow start: by the length of a train of ACKs, and by the delay."""

from collections.abc import Iterator

from tailroom.vectors.sets.linux.case import ack, holds, vector, window, write
from tailroom.vectors.vector import Expectation, Vector

FILE = "net/ipv4/tcp_cubic.c"


def vectors() -> Iterator[Vector]:
    """A train longer than half of the least RTT, a delay of more than an eighth, and neither."""
    yield _train()
    yield _gaps()
    yield _delay(0.092, 28)
    yield _small_delay()


TRAIN_RTT_S = 0.04


def _round(name: str, title: str, gap_s: float, expected: Expectation) -> Vector:
    """20 ACKs in the round after the first, `gap_s` apart."""
    rtt_s = TRAIN_RTT_S
    acks = [ack(2 * rtt_s + gap_s * at, 11 + at, start_s=rtt_s) for at in range(20)]
    return vector(
        name,
        title,
        "hystart_update()",
        [write(0, 400, start_s=rtt_s), ack(rtt_s, 10, start_s=rtt_s), *acks],
        expected,
        file=FILE,
        rtt_s=rtt_s,
    )


def _train() -> Vector:
    gap_s = 0.0012
    expected = holds(
        "ssthresh_packets",
        2 * TRAIN_RTT_S + 19 * gap_s,
        (37, 38.999),
        "ACKs at most 2 ms apart; the first one later than (40 ms + up to 1 ms) / 2 = 20.0 to "
        "20.5 ms after the first is the 18th or the 19th, with a window of 37 or 38",
        start_s=TRAIN_RTT_S,
    )
    title = "A train of ACKs longer than half of the RTT ends slow start"
    return _round("hystart-train", title, gap_s, expected)


def _gaps() -> Vector:
    gap_s = 0.0024
    expected = window(
        2 * TRAIN_RTT_S + 19 * gap_s,
        40,
        "hystart_ack_delta_us = 2000; the least of the delays is that of the first ACK, 40 ms, "
        "so that the delay ends nothing either",
        start_s=TRAIN_RTT_S,
    )
    return _round("hystart-no-train", "ACKs more than 2 ms apart are no train", gap_s, expected)


def _delay(rtt_then_s: float, ssthresh: int) -> Vector:
    rtt_s, gap_s = 0.08, 0.003
    acks = [ack(rtt_s + rtt_then_s + gap_s * at, 11 + at, start_s=rtt_s) for at in range(20)]
    ninth_s = rtt_s + rtt_then_s + 8 * gap_s
    return vector(
        "hystart-delay",
        "The ninth ACK of a round that is delayed by more than an eighth ends slow start",
        "hystart_update()",
        [write(0, 400, start_s=rtt_s), ack(rtt_s, 10, start_s=rtt_s), *acks],
        window(ninth_s - gap_s, ssthresh, "eight samples do not suffice", start_s=rtt_s),
        holds(
            "ssthresh_packets",
            ninth_s,
            ssthresh,
            "the least delay of the round, 92 ms, exceeds 80 ms + 80 / 8 ms: ssthresh is the "
            "window before this ACK",
            until_s=ninth_s + 10 * gap_s,
            start_s=rtt_s,
        ),
        file=FILE,
        rtt_s=rtt_s,
    )


def _small_delay() -> Vector:
    rtt_s, gap_s = 0.08, 0.003
    acks = [ack(rtt_s + 0.089 + gap_s * at, 11 + at, start_s=rtt_s) for at in range(20)]
    return vector(
        "hystart-small-delay",
        "A delay of less than an eighth does not end slow start",
        "hystart_update()",
        [write(0, 400, start_s=rtt_s), ack(rtt_s, 10, start_s=rtt_s), *acks],
        window(
            rtt_s + 0.089 + 19 * gap_s,
            40,
            "89 ms are less than 80 ms + 80 / 8 ms",
            start_s=rtt_s,
        ),
        file=FILE,
        rtt_s=rtt_s,
    )
