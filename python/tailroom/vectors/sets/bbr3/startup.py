"""STARTUP and DRAIN: when they end, and when they do not."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Occurrence, Writes
from tailroom.vectors.sets.bbr3.case import (
    CWND_GAIN,
    DRAIN_GAIN,
    MARGIN,
    STARTUP_GAIN,
    bps,
    paced,
    script,
    sent,
    vector,
)
from tailroom.vectors.vector import Expectation, Vector

RTT_S = 0.1
PER_S = 1000
"""Packets per second that the path carries: 12 Mbit/s."""
BDP = PER_S * RTT_S
LEAST_RTT_S = RTT_S + 1 / PER_S
"""With the transmission of a packet."""
APPLICATION_WINDOW = 600
"""Initial window with which nothing that the application writes waits, so that no sample shows
more than its rate."""
DRAINS = Occurrence("drain")


def vectors() -> Iterator[Vector]:
    """Exits by plateau and by loss, the two exits of DRAIN, and limits of the application."""
    yield _startup()
    yield _loss()
    yield _drain()
    yield _drain_by_time()
    yield _application_limited()
    yield _probe_rtt()


def _startup() -> Vector:
    return vector(
        "startup",
        "STARTUP doubles in a round trip, and leaves no queue behind",
        "Exiting STARTUP on Bandwidth Plateau",
        script(RTT_S, PER_S, 13.5),
        Expectation(
            event="sent",
            at=(0.0, 0.299),
            value=(55, 75),
            why="10 + 20 + 40 packets in three round trips, and pacing within them",
        ),
        Expectation(
            event="drain",
            at=(0.0, 3.0),
            value=(1, 1),
            why="the path is full after 4 round trips, with a queue of up to a BDP then; 3 round "
            "trips without 25 % more end STARTUP",
        ),
        Expectation(
            quantity="srtt_s",
            at=(2.0, 2.8),
            value=(LEAST_RTT_S, LEAST_RTT_S + 10 / PER_S),
            why="the path is full after 4 round trips; 3 without 25 % more end STARTUP, and at "
            "most 3 of DRAIN follow; no probe begins before 2.8 s, as BBR waits for 2 s at least; "
            "until then it sends at a bandwidth that is right within 2 %, less 1 %",
        ),
        sent(
            (2.0, 2.8),
            paced(1.0, PER_S),
            "ProbeBW_CRUISE paces at max_bw, which is within 2 % of the path's 1000 packets/s, "
            "less 1 %",
        ),
        Expectation(
            event="sent",
            at=(3.0, 13.0),
            value=(0.93 * 10 * PER_S, 10 * PER_S + BDP),
            why="the path is full but for two visits to ProbeRTT, with half the BDP in flight for "
            "200 ms and the round trips around them",
        ),
    )


def _loss() -> Vector:
    """A fifth of the losses of a round trip would do; each is a range of its own."""
    per_s, first, apart, losses = 5000, 10_000, 20, 24
    in_flight = per_s * RTT_S
    return vector(
        "startup-loss",
        "Losses end STARTUP even if the application limits the rate",
        "Exiting STARTUP on Loss When Application-Limited",
        script(
            RTT_S,
            1e12 / bps(1),
            4.5,
            initial_cwnd_packets=APPLICATION_WINDOW,
            writes=Writes(packets=1, per_s=per_s),
            lost_packets=tuple(range(first, first + apart * losses, apart)),
        ),
        Expectation(
            quantity="cwnd_packets",
            at=(1.5, 1.8),
            value=(CWND_GAIN * 0.9 * in_flight, 1e9),
            why="before the loss, at about 2 s: at least cwnd_gain = 2 times the 500 packets that "
            "the application has in flight; no round trip of application-limited samples ends "
            "STARTUP",
        ),
        Expectation(
            quantity="cwnd_packets",
            at=(2.8, 4.4),
            value=(0.85 * 0.7 * in_flight, 1.3 * in_flight),
            why="5 % of a round trip in 24 ranges are more than LossThresh = 2 % and "
            "StartupFullLossCnt = 6: STARTUP ends, and inflight_longterm = max(bdp, "
            "inflight_latest), about the 500 packets in flight, limits cwnd, less 15 % in CRUISE "
            "and 0.7 after losses",
        ),
        chance="The application writes at random times. Of the 500 packets of a round trip, with a "
        "standard deviation of 22, the largest of the sample exceeds 30 % more with a probability "
        "below 1e-6.",
    )


def _drain() -> Vector:
    # 203 to 210 packets in flight become 100, at half a packet less per packet delivered.
    longest_s = (CWND_GAIN * 1.02 * BDP + 10 - BDP) / ((1 - DRAIN_GAIN * 0.97) * PER_S)
    return vector(
        "drain",
        "DRAIN sends at half the bandwidth until a BDP is in flight",
        "Exiting DRAIN Based on Inflight",
        script(RTT_S, PER_S, 2.8),
        sent(
            (0.02, 0.17),
            paced(DRAIN_GAIN, PER_S),
            "DrainPacingGain = 0.5, less the margin of 1 %, while the second BDP of cwnd_gain = 2 "
            "leaves the queue",
            after=DRAINS,
        ),
        sent(
            (longest_s + 0.02, longest_s + 0.32),
            paced(1.0, PER_S),
            f"DRAIN ends when a BDP is in flight, after 2 BDP / bw = 0.2 to {longest_s:.2f} s; "
            "ProbeBW_DOWN has nothing to drain, and CRUISE paces at the bandwidth",
            after=DRAINS,
        ),
        Expectation(
            quantity="srtt_s",
            at=(longest_s + 0.3, longest_s + 0.5),
            after=DRAINS,
            value=(LEAST_RTT_S, LEAST_RTT_S + 10 / PER_S),
            why="the queue is empty",
        ),
    )


def _drain_by_time() -> Vector:
    """The draft lowers the rate by 10 %, but then 0.5 times the rate drains in two round trips."""
    slower = 540
    # A round trip lasts as long as what is in flight: 2 BDP at the beginning.
    shortest_s, until_s = 3 * CWND_GAIN * BDP / PER_S, 2.2
    # ACKs of packets that have left the path before it gets slower still come at the old rate.
    fills = slower * (until_s - RTT_S) + PER_S * RTT_S
    return vector(
        "drain-by-time",
        "DRAIN ends after three round trips even if the queue remains",
        "Exiting DRAIN Based on Time",
        script(
            RTT_S,
            PER_S,
            4.0,
            rate_changes=((0.0, bps(slower)),),
            rate_changes_after=DRAINS,
        ),
        sent(
            (0.02, shortest_s),
            paced(DRAIN_GAIN, PER_S),
            "DRAIN sends 495 packets/s, of which the path, now at 540 packets/s, takes little more",
            after=DRAINS,
        ),
        Expectation(
            event="sent",
            after=DRAINS,
            at=(0.0, until_s),
            value=(fills - 0.25 * BDP, fills + 0.25 * BDP),
            why="round_count > drain_start_round + 3 after 4 * 0.4 s at most; then 0.9 of the old "
            f"bandwidth fills the window again: the {fills:g} packets delivered in 2.2 s, within a "
            "quarter of a BDP. A sender still in DRAIN has sent 1089. The draft lowers the rate by "
            "10 %, with which a BDP is in flight after 2.5 RTTs",
        ),
    )


def _application_limited() -> Vector:
    """Writes of 20 packets, most of them a restart from idle, before the first ProbeRTT."""
    rtt_s, write, per_s = 0.02, 20, 6.0
    number = 6 * write + 1
    pace = STARTUP_GAIN * MARGIN * write / (rtt_s * 1.5)
    return vector(
        "application-limited",
        "Application-limited round trips do not end STARTUP",
        "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
        script(rtt_s, 1e12 / bps(1), 5.0, writes=Writes(packets=write, per_s=per_s)),
        *(
            Expectation(
                event="sent",
                after=Occurrence("sent", number + later * write),
                at=(0.0, write / pace),
                value=(write - 1, 1e6),
                why="a write of 20 packets gives samples of at least 20 packets in 1.5 RTTs; "
                "StartupPacingGain = 2.77 still holds after 6, 9 and 12 writes of a round trip, so "
                f"that the next leaves within {1000 * write / pace:.1f} ms, and not in an RTT",
            )
            for later in (0, 3, 6)
        ),
        chance="The application writes at random times, 30 times on average, and less than 13 "
        "times with a probability below 0.001.",
    )


def _probe_rtt() -> Vector:
    """Doubling from 10 packets, a BDP of 12,000 takes 11 round trips of 0.6 s."""
    rtt_s, per_s = 0.6, 20_000
    return vector(
        "startup-probe-rtt",
        "ProbeRTT in STARTUP returns to STARTUP",
        "Entering and Exiting PROBE_RTT During STARTUP",
        script(rtt_s, per_s, 11.4),
        Expectation(
            event="probe_rtt",
            at=(5.0, 7.5),
            value=(1, 1),
            why="ProbeRTTInterval = 5 s after the last lower RTT, that of the first round trips",
        ),
        Expectation(
            event="drain",
            at=(0.0, 9.0),
            value=(0, 0),
            why="the rate still doubles: STARTUP has not ended",
        ),
        Expectation(
            event="sent",
            at=(9.8, 11.4),
            value=(0.5 * 1.6 * per_s, 1.25 * 1.6 * per_s),
            why="ProbeRTT ends at 8 s at the latest, with a window of 10 * 2^8 or more, which "
            "doubles to 12,000 in 3 round trips; half of the rate is that of DRAIN. A sender in "
            "PROBE_BW waits 2 to 3 s for a probe, and has 2560 * 1.25^2 / 0.6 packets/s at most",
        ),
    )
