"""Slow start, congestion avoidance, halving and timeout of standard TCP."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Occurrence, SenderScript
from tailroom.vectors.vector import Band, Expectation, Vector

RFC_5681 = "https://www.rfc-editor.org/rfc/rfc5681"
RFC_6582 = "https://www.rfc-editor.org/rfc/rfc6582"
RTT_S = 0.1
WINDOW = 50


def vectors() -> Iterator[Vector]:
    """Reno and NewReno."""
    yield Vector(
        id="reno.slow-start",
        title="The window doubles in each round trip of slow start",
        source="RFC 5681 sec. 3.1, Eq. 2; RFC 6928 sec. 2",
        url=RFC_5681,
        script=SenderScript(control="reno", rtt_s=RTT_S, initial_cwnd_packets=10, duration_s=0.7),
        expect=tuple(
            Expectation(
                quantity="cwnd_packets",
                at=((rounds + 0.4) * RTT_S, (rounds + 0.6) * RTT_S),
                value=(10 * 2.0**rounds, 10 * 2.0**rounds),
                why=f"cwnd += 1 per acknowledged packet: 10 * 2^{rounds} after {rounds} RTTs",
            )
            for rounds in range(6)
        ),
    )
    yield Vector(
        id="reno.congestion-avoidance",
        title="The window grows by one packet in each round trip",
        source="RFC 5681 sec. 3.1, Eq. 3",
        url=RFC_5681,
        script=_at_window(duration_s=2.1),
        expect=tuple(
            Expectation(
                quantity="cwnd_packets",
                at=((rounds + 0.4) * RTT_S, (rounds + 0.6) * RTT_S),
                value=(WINDOW + rounds - 1.0, float(WINDOW + rounds)),
                why="cwnd += 1 / cwnd per ACK, at most 1 packet per RTT; a sender that counts ACKs "
                "adds the packet up to a round trip later",
            )
            for rounds in (5, 10, 15, 20)
        ),
    )
    yield _halving()
    yield _newreno()
    yield _timeout()


def _at_window(**changes: object) -> SenderScript:
    given = {
        "control": "reno",
        "rtt_s": RTT_S,
        "initial_cwnd_packets": WINDOW,
        "initial_ssthresh_packets": WINDOW,
        **changes,
    }
    return SenderScript(**given)  # type: ignore[arg-type]


def _once(until_s: float, why: str) -> Expectation:
    return Expectation(event="reduction", at=(0.0, until_s), value=(1, 1), why=why)


def threshold(window: float) -> Band:
    """The band of ssthresh after a loss; half a packet more if the window grows until it shows."""
    return window / 2 - 1, (window + 1) / 2


def _halving() -> Vector:
    return Vector(
        id="reno.halving",
        title="A loss halves the window once",
        source="RFC 5681 sec. 3.1, Eq. 4, and sec. 3.2",
        url=RFC_5681,
        script=_at_window(lost_packets=(25,), duration_s=1.5),
        expect=(
            _once(1.5, "one lost packet is one congestion event"),
            Expectation(
                quantity="ssthresh_packets",
                at=(0.02, 0.2),
                after=Occurrence("reduction"),
                value=threshold(WINDOW),
                why="ssthresh = FlightSize / 2: 50 or 51 packets, without those that have left",
            ),
            Expectation(
                quantity="cwnd_packets",
                at=(9.4 * RTT_S, 9.6 * RTT_S),
                after=Occurrence("reduction"),
                value=(WINDOW / 2 + 8 - 2.5, (WINDOW + 1) / 2 + 9.5),
                why="recovery ends at ssthresh after one RTT; then one packet per RTT",
            ),
        ),
    )


def _newreno() -> Vector:
    lost = (25, 30, 35)
    return Vector(
        id="reno.newreno",
        title="Three losses in a window are one congestion event",
        source="RFC 6582 sec. 3.2, steps 2 to 4",
        url=RFC_6582,
        script=_at_window(recovery="newreno", lost_packets=lost, duration_s=1.5),
        expect=(
            _once(1.5, "an ACK below `recover` is partial: it repairs a loss, and reduces nothing"),
            Expectation(
                quantity="cwnd_packets",
                at=(8.4 * RTT_S, 8.6 * RTT_S),
                after=Occurrence("reduction"),
                value=(WINDOW / 2 + 5 - 4.5, (WINDOW + 1) / 2 + 8.5),
                why="three losses take three RTTs; then one packet per RTT from FlightSize / 2",
            ),
        ),
    )


def _timeout() -> Vector:
    return Vector(
        id="reno.timeout",
        title="After a timeout the window is one packet",
        source="RFC 5681 sec. 3.1; RFC 6298 sec. 2.4",
        url=RFC_5681,
        script=SenderScript(
            control="reno",
            rtt_s=RTT_S,
            initial_cwnd_packets=4,
            initial_ssthresh_packets=4,
            lost_packets=(5, 6, 7, 8),
            duration_s=1.7,
        ),
        expect=(
            Expectation(
                event="reduction",
                at=(1.0 + RTT_S - 0.01, 1.0 + RTT_S + 0.05),
                value=(1, 1),
                why="the second window is lost; RTO = max(SRTT + 4 RTTVAR, 1 s) after the ACKs "
                "of the first",
            ),
            Expectation(
                quantity="cwnd_packets",
                at=(0.01, 0.8 * RTT_S),
                after=Occurrence("reduction"),
                value=(1, 1),
                why="cwnd = LW, the loss window of one segment",
            ),
            Expectation(
                quantity="ssthresh_packets",
                at=(0.01, 0.8 * RTT_S),
                after=Occurrence("reduction"),
                value=(2, 2.5),
                why="ssthresh = max(FlightSize / 2, 2) with 4 or 5 packets in flight",
            ),
        ),
    )
