"""Fast recovery: what each ACK lets leave, by proportional rate reduction; marks; undo."""

from collections.abc import Iterator

from tailroom.vectors.sets.linux.case import (
    DISORDER,
    OPEN,
    RECOVERY,
    REDUCED,
    RTT_S,
    ack,
    holds,
    leave,
    vector,
    window,
    write,
)
from tailroom.vectors.vector import Vector

GAP_S = 0.005


def vectors() -> Iterator[Vector]:
    """A loss, lost ACKs, SafeACK, a late ACK, a mark, undo, limited transmit."""
    yield _one_loss()
    yield _lost_acks()
    yield _safe_ack()
    yield _late_ack()
    yield _mark()
    yield _undo_by_timestamp()
    yield _late_packets()


def _one_loss() -> Vector:
    """The first of ten packets is lost; CUBIC reduces to 7."""
    acks = [ack(RTT_S + GAP_S * at, 0, (2, 2 + at)) for at in range(3)]
    third_s = RTT_S + 2 * GAP_S
    return vector(
        "fast-retransmit",
        "The third packet behind a gap: recovery, one packet again, a window of seven",
        "tcp_cwnd_reduction()",
        [write(0, 10), *acks, ack(third_s + RTT_S, 10)],
        holds("state", RTT_S, DISORDER, "a packet has arrived behind a gap"),
        holds("state", third_s, RECOVERY, "three packets behind the gap"),
        leave(
            third_s,
            third_s + 0.001,
            1,
            "the first packet; 10 - 3 - 1 = 6 are in flight, and ssthresh is 7",
            event="sent_again",
        ),
        holds("lost_packets", third_s, 1, "RACK: sent before one that arrived"),
        holds("ssthresh_packets", third_s, (7, 7.01), "717 / 1024 of 10"),
        window(third_s, 7, "pipe + sndcnt = 6 + 1"),
        holds("state", third_s + RTT_S, OPEN, "everything is acknowledged"),
        window(
            third_s + RTT_S,
            8,
            "ssthresh, from which the ACK that ends the recovery grows it (tcp_cong_control()): "
            "CUBIC's target is 10 - 2 (2.57 in whole packets), so seven packets make it one more",
        ),
    )


def _lost_acks() -> Vector:
    """Three ACKs tell of three, four and two packets."""
    times = [RTT_S, RTT_S + 4 * GAP_S, RTT_S + 6 * GAP_S]
    blocks = ((2, 4), (2, 8), (2, 10))
    return vector(
        "prr-lost-acks",
        "Proportional rate reduction, where most ACKs are lost",
        "tcp_cwnd_reduction()",
        [
            write(0, 30),
            *(ack(time_s, 0, block) for time_s, block in zip(times, blocks, strict=True)),
        ],
        leave(times[0], times[0] + 0.001, 1, "min(7 - 6, max(3, 3)) = 1", event="sent_again"),
        leave(times[0], times[1] - 0.001, 0, "nothing else: ssthresh is 7, and 7 are in flight"),
        leave(times[1], times[1] + 0.001, 4, "3 in flight: min(7 - 3, max(7 - 1, 4)) = 4"),
        leave(times[2], times[2] + 0.001, 2, "5 in flight: min(7 - 5, max(9 - 5, 2)) = 2"),
        holds("sent_packets", times[2], 16, "the data follow in their order"),
    )


def _safe_ack() -> Vector:
    """The first five of twelve are lost; then an ACK for each of their retransmissions."""
    times = [RTT_S + 0.002 * at for at in range(7)]
    acks = [ack(time_s, 0, (6, 6 + at)) for at, time_s in enumerate(times)]
    again_s = times[2] + RTT_S
    repaired = [ack(again_s + 0.002 * at, 1 + at, (6, 12)) for at in range(4)]
    return vector(
        "prr-safe-ack",
        "An ACK that repairs and shows no further loss lets one packet more leave",
        "tcp_cwnd_reduction()",
        [write(0, 40), *acks, *repaired],
        leave(
            times[2],
            times[6] + 0.001,
            5,
            "4 in flight of 7: one packet again for each that arrives",
            event="sent_again",
        ),
        leave(again_s, again_s + 0.001, 2, "4 in flight: min(7 - 4, max(6 - 5, 1) + 1) = 2"),
        leave(
            again_s + 0.002, again_s + 0.003, 2, "5 in flight: min(7 - 5, max(7 - 7, 1) + 1) = 2"
        ),
        leave(again_s + 0.004, again_s + 0.005, 1, "6 in flight: min(7 - 6, ...) = 1"),
        leave(again_s + 0.006, again_s + 0.007, 1, "the same"),
    )


def _late_ack() -> Vector:
    """An ACK that another has overtaken reports packets that nobody knew of."""
    begin_s = RTT_S
    return vector(
        "late-ack",
        "An ACK below snd_una still tells which packets have arrived",
        "tcp_ack()",
        [
            write(0, 30),
            ack(begin_s, 0, (2, 2)),
            ack(begin_s, 0, (2, 3)),
            ack(begin_s, 0, (2, 3), (9, 9)),
            ack(begin_s + RTT_S + 0.005, 3, (9, 9)),
            ack(begin_s + RTT_S + 0.01, 2, (5, 6)),
        ],
        holds("sacked_packets", begin_s + RTT_S + 0.005, 1, "packet 9"),
        holds("sacked_packets", begin_s + RTT_S + 0.01, 3, "and now packets 5 and 6"),
    )


def _mark() -> Vector:
    """One mark in a full window of ten; Reno's ssthresh is 5."""
    acks = [ack(RTT_S + GAP_S * at, 1 + at, ece=at == 0) for at in range(9)]
    return vector(
        "prr-after-mark",
        "After a mark a packet leaves for every other that arrives",
        "tcp_enter_cwr()",
        [write(0, 60), *acks],
        holds("state", RTT_S, REDUCED, "a mark has been echoed"),
        holds("ssthresh_packets", RTT_S, 5, "half of ten"),
        leave(
            RTT_S,
            RTT_S + GAP_S - 0.001,
            1,
            "(5 * delivered + 9) / 10 - out with the 1st of nine ACKs",
        ),
        *(
            leave(
                RTT_S + at * GAP_S - 0.001,
                RTT_S + at * GAP_S + 0.001,
                1 - at % 2,
                f"(5 * {at + 1} + 9) / 10 - {(at + 1) // 2} packets that have left before",
            )
            for at in range(1, 8)
        ),
        leave(
            RTT_S + 8 * GAP_S - 0.001,
            RTT_S + 8 * GAP_S + 0.001,
            0,
            "5 in flight after the 9th: ssthresh is reached, min(5 - 5, ...) = 0",
        ),
        control="reno",
        has_ecn=True,
    )


def _undo_by_timestamp() -> Vector:
    """The first packet was late; the ACK echoes its first transmission."""
    acks = [ack(RTT_S + GAP_S * at, 0, (2, 2 + at)) for at in range(3)]
    late_s = RTT_S + 6 * GAP_S
    return vector(
        "undo-by-timestamp",
        "A late packet: the window returns to what it was",
        "tcp_try_undo_recovery()",
        [write(0, 10), *acks, ack(late_s, 10, echo_after_s=0.0)],
        holds("state", RTT_S + 2 * GAP_S, RECOVERY, "three packets behind the gap"),
        holds("ssthresh_packets", RTT_S + 2 * GAP_S, 5, "half of ten"),
        holds("state", late_s, OPEN, "all have arrived"),
        holds(
            "cwnd_packets",
            late_s,
            (10, 20),
            "the echoed timestamp is older than the retransmission: max(cwnd, prior_cwnd), and "
            "slow start goes on",
        ),
        control="reno",
        has_timestamps=True,
    )


def _late_packets() -> Vector:
    """The first packet arrives behind two others."""
    return vector(
        "limited-transmit",
        "Packets that arrive behind a gap let new ones leave; nothing is held back",
        "tcp_tso_should_defer()",
        [
            write(0, 14),
            ack(RTT_S + 0.01, 0, (2, 2)),
            ack(RTT_S + 0.02, 0, (2, 3)),
            ack(RTT_S + 0.03, 3),
        ],
        leave(
            RTT_S + 0.01, RTT_S + 0.011, 1, "9 in flight of 10, and the last packet left long ago"
        ),
        leave(RTT_S + 0.02, RTT_S + 0.021, 1, "the same"),
        leave(
            RTT_S + 0.03,
            RTT_S + 0.031,
            2,
            "one packet is newly delivered, so that the window is 11; 12 - 3 = 9 are in flight",
        ),
        window(RTT_S + 0.03, 11, "the two packets that had been sacked count no more"),
        holds("state", RTT_S + 0.03, OPEN, "nothing was lost"),
        file="net/ipv4/tcp_output.c",
    )
