"""How the window grows: by what ACKs newly deliver, as far as data fill it."""

from collections.abc import Iterator

from tailroom.vectors.scripts import AckArrival, Write
from tailroom.vectors.sets.linux.case import RTT_S, ack, holds, leave, vector, window, write
from tailroom.vectors.vector import Expectation, Vector

STEP_S = 0.004


def vectors() -> Iterator[Vector]:
    """Full and partly used windows, stretched ACKs, idle times, the first loss of little data."""
    yield _used("full-write", 10, (12, 14, 16, 18, 20))
    yield _used("partial-write", 8, (12, 14, 16, 16))
    yield _used("small-write", 4, (10, 10))
    yield _responses()
    yield _stretched()
    yield _idle()
    yield _halved()
    yield _kept()
    yield _little_data()


def _used(name: str, packets: int, windows: tuple[int, ...]) -> Vector:
    times = [RTT_S + STEP_S * at for at in range(len(windows))]
    acks = [ack(time_s, 2 * at + 2) for at, time_s in enumerate(times)]
    filled = "filled the window of ten in this round" if packets == 10 else "did not fill it"
    return vector(
        name,
        f"A write of {packets} packets into a window of ten",
        "tcp_is_cwnd_limited()",
        [write(0, packets), *acks],
        *(
            window(
                time_s,
                cwnd,
                f"slow start: the data {filled}; a window grows if it was full at any time in the "
                "round, or else up to twice the packets in flight",
            )
            for time_s, cwnd in zip(times, windows, strict=True)
        ),
        file="include/net/tcp.h",
    )


def _responses() -> Vector:
    """Twenty packets every half second; the first takes two round trips."""
    events: list[Write | AckArrival] = [write(0, 20)]
    events += [*(ack(RTT_S + STEP_S * at, 2 * at + 2) for at in range(5))]
    events += [ack(2 * RTT_S + STEP_S * at, 12 + 2 * at) for at in range(5)]
    for response in (1, 2):
        begins_s = 0.25 * response
        events.append(write(begins_s, 20))
        events += [
            ack(begins_s + RTT_S + STEP_S * at, 20 * response + 2 * at + 2) for at in range(10)
        ]
    why = "each ACK of two adds two while the window was full in the round: from 10 to 30"
    more = "up to twice the 20 packets that were in flight"
    return vector(
        "responses",
        "Responses of 20 packets: the second leaves at once, the window ends at 40",
        "tcp_is_cwnd_limited()",
        events,
        window(0.24, 30, why),
        leave(0.249, 0.251, 20, "they fit into the window of 30"),
        window(0.45, 40, more),
        window(0.7, 40, more),
        file="include/net/tcp.h",
        control="reno",
    )


def _stretched() -> Vector:
    return vector(
        "stretched-ack",
        "One ACK for ten packets doubles the window",
        "tcp_slow_start()",
        [write(0, 60), ack(RTT_S, 10), ack(2 * RTT_S, 30)],
        window(RTT_S, 20, "slow start adds the packets that an ACK acknowledges, however many"),
        window(2 * RTT_S, 40, "the same for twenty"),
        leave(RTT_S, RTT_S + 0.001, 20, "a window of 20, and nothing else in flight"),
        file="net/ipv4/tcp_cong.c",
        hystart=False,
    )


def _idle() -> Vector:
    return vector(
        "idle-restart",
        "After an idle time a window of 28 begins at ten again",
        "tcp_cwnd_restart()",
        [write(0, 28), ack(RTT_S, 10), ack(2 * RTT_S, 28), write(1.5, 20)],
        window(2 * RTT_S, 38, "20 after the first ACK, and 18 more"),
        leave(1.499, 1.501, 10, "halved for each timeout, but not below the initial window"),
        window(1.5, 10, "the restart window"),
        file="net/ipv4/tcp_output.c",
        hystart=False,
    )


def _halved() -> Vector:
    """Idle for 500 ms, where the timeout is 300 ms."""
    return vector(
        "idle-halving",
        "An idle time halves the window for each timeout beyond the first",
        "tcp_cwnd_restart()",
        [write(0, 28), ack(RTT_S, 10), ack(2 * RTT_S, 28), write(0.6, 30)],
        leave(0.599, 0.601, 19, "38 / 2: 500 ms since the last packet, and a timeout of 300 ms"),
        window(0.6, 19, "the same"),
        file="net/ipv4/tcp_output.c",
        hystart=False,
    )


def _kept() -> Vector:
    return vector(
        "idle-without-restart",
        "Without tcp_slow_start_after_idle the window outlasts an idle time",
        "tcp_event_data_sent()",
        [write(0, 28), ack(RTT_S, 10), ack(2 * RTT_S, 28), write(1.5, 20)],
        leave(1.499, 1.501, 20, "the sysctl is 0: the window of 38 stays"),
        file="net/ipv4/tcp_output.c",
        hystart=False,
        slow_start_after_idle=False,
    )


def _little_data() -> Vector:
    """Two packets in a window of ten; both are lost, with their probe."""
    expect: list[Expectation] = [
        holds(
            "ssthresh_packets",
            0.55,
            5,
            "half of the window of ten, not of the two packets in flight",
            until_s=0.6,
        ),
        window(
            0.6, 3, "one after the timeout, and two more: the ACK that ends the recovery grows it"
        ),
    ]
    return vector(
        "loss-of-little-data",
        "A timeout of two packets halves the window of ten",
        "tcp_reno_ssthresh()",
        [write(0, 2), ack(0.6, 2)],
        *expect,
        file="net/ipv4/tcp_cong.c",
        control="reno",
    )
