"""The timers: RACK's reordering window, the probe, the timeout and its repetition."""

from collections.abc import Iterator

from tailroom.vectors.sets.linux.case import (
    LOSS,
    OPEN,
    RECOVERY,
    RTT_S,
    ack,
    holds,
    leave,
    vector,
    window,
    write,
)
from tailroom.vectors.vector import Vector

CLOCK_S = 0.004
"""Timers have a tick of 1 to 4 ms."""


def vectors() -> Iterator[Vector]:
    """The reordering timer, a probe and the reduction after it, timeouts, F-RTO."""
    yield _reordering()
    yield _probe()
    yield _probe_in_vain()
    yield _timeouts()
    yield _frto()


def _reordering() -> Vector:
    due_s = RTT_S + RTT_S / 4
    return vector(
        "reordering-timer",
        "One packet behind a gap: its loss shows a quarter of an RTT later",
        "tcp_rack_reo_timeout()",
        [write(0, 4), ack(RTT_S, 0, (4, 4))],
        leave(RTT_S, due_s - 0.001, 0, "the window has not passed", event="sent_again"),
        leave(
            due_s,
            due_s + 0.002 + CLOCK_S,
            1,
            "RTT + min_rtt / 4, and TCP_TIMEOUT_MIN of 2 ms",
            event="sent_again",
        ),
        holds("state", due_s + 0.002 + CLOCK_S, RECOVERY, "three packets are lost"),
        holds("lost_packets", due_s + 0.002 + CLOCK_S, 3, "those sent before the one that arrived"),
        window(due_s + 0.002 + CLOCK_S, 1, "pipe 0, and one packet may leave"),
        file="net/ipv4/tcp_recovery.c",
    )


def _probe() -> Vector:
    """The last of five is lost. The probe leaves; the next data show that it was needed."""
    probed_s = RTT_S + 0.3
    return vector(
        "probe-then-reduction",
        "A probe that repaired a loss reduces the window once data beyond it are acknowledged",
        "tcp_process_tlp_ack()",
        [
            write(0, 5),
            ack(RTT_S, 4),
            ack(probed_s + RTT_S, 5),
            write(probed_s + 2 * RTT_S, 3),
            ack(probed_s + 3 * RTT_S, 8),
        ],
        leave(
            RTT_S,
            probed_s + CLOCK_S,
            1,
            "one packet in flight: the timeout of RTT + 200 ms comes before 2 RTTs + 200 ms, and "
            "the probe leaves in its place",
            event="sent_again",
        ),
        holds("last_sent_again", probed_s + CLOCK_S, 5, "the last packet"),
        holds("state", probed_s + CLOCK_S, OPEN, "a probe is no timeout"),
        window(probed_s + RTT_S, 10, "the ACK is not beyond the probe: nothing is known yet"),
        holds("ssthresh_packets", probed_s + 3 * RTT_S, 5, "the loss counts: half of ten"),
        window(probed_s + 3 * RTT_S, 5, "ssthresh; the state is Open again at once"),
        holds("state", probed_s + 3 * RTT_S, OPEN, "tcp_end_cwnd_reduction()"),
        control="reno",
    )


def _probe_in_vain() -> Vector:
    """All ACKs of five packets are late. The receiver reports the probe as a duplicate."""
    return vector(
        "probe-in-vain",
        "A probe that the receiver reports as a duplicate changes nothing",
        "tcp_process_tlp_ack()",
        [
            write(0, 5),
            ack(0.25, 5),
            ack(0.3, 5, duplicate=5),
            write(0.5, 3),
            ack(0.6, 8),
        ],
        leave(
            0.01,
            0.2 + 0.002 + CLOCK_S,
            1,
            "2 smoothed RTTs, and TCP_TIMEOUT_MIN of 2 ms",
            event="sent_again",
        ),
        holds("cwnd_packets", 0.6, (10, 20), "no loss: no reduction"),
        holds("state", 0.6, OPEN, "and no recovery"),
        control="reno",
    )


def _timeouts() -> Vector:
    """Ten packets and their retransmissions are lost."""
    first_s = 0.202 + 0.3
    second_s = first_s + 0.6
    third_s = second_s + RTT_S + 0.3
    return vector(
        "repeated-timeouts",
        "A timeout that repeats leaves ssthresh as it is; one after progress does not",
        "tcp_enter_loss()",
        [write(0, 10), ack(second_s + RTT_S, 1)],
        leave(0.19, 0.202 + CLOCK_S, 1, "the probe", event="sent_again"),
        leave(
            first_s - CLOCK_S,
            first_s + CLOCK_S,
            1,
            "RTT + 200 ms after the probe",
            event="sent_again",
        ),
        holds("ssthresh_packets", first_s + CLOCK_S, 5, "half of ten"),
        window(first_s + CLOCK_S, 1, "the loss window"),
        holds("state", first_s + CLOCK_S, LOSS, "a timeout"),
        leave(
            second_s - 2 * CLOCK_S,
            second_s + 2 * CLOCK_S,
            1,
            "twice as long after the first",
            event="sent_again",
        ),
        holds("ssthresh_packets", second_s + 2 * CLOCK_S, 5, "icsk_retransmits > 0: it stays"),
        window(second_s + RTT_S, 2, "slow start"),
        leave(second_s + RTT_S, second_s + RTT_S + 0.001, 2, "packets 2 and 3", event="sent_again"),
        leave(
            third_s - 3 * CLOCK_S,
            third_s + 3 * CLOCK_S,
            1,
            "the RTT sample by its timestamp ends the backoff: RTT + 200 ms",
            event="sent_again",
        ),
        holds("ssthresh_packets", third_s + 3 * CLOCK_S, 2, "an ACK came in between: half of two"),
        control="reno",
        has_timestamps=True,
    )


def _frto() -> Vector:
    """Ten packets, with timestamps: all ACKs come late, after the timeout."""
    timeout_s = 0.202 + 0.3
    return vector(
        "frto",
        "ACKs of first transmissions after a timeout: the window returns",
        "tcp_process_loss()",
        [
            write(0, 10),
            ack(timeout_s + 0.05, 2, echo_after_s=0.0),
            ack(timeout_s + 0.06, 4, echo_after_s=0.0),
        ],
        holds("state", timeout_s + CLOCK_S, LOSS, "the timer has expired"),
        holds("ssthresh_packets", timeout_s + CLOCK_S, 5, "half of ten"),
        holds("state", timeout_s + 0.06, OPEN, "the packets were late: the loss is undone"),
        holds("lost_packets", timeout_s + 0.06, 0, "none is lost"),
        holds("cwnd_packets", timeout_s + 0.06, (10, 14), "max(cwnd, prior_cwnd)"),
        leave(
            timeout_s + 0.01,
            timeout_s + 0.061,
            0,
            "no further packet is sent again",
            event="sent_again",
        ),
        control="reno",
        has_timestamps=True,
    )
