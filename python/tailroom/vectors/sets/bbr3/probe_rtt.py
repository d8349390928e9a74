"""ProbeRTT: when it comes, and when idleness takes its place; what a restart from idle forgets."""

from collections.abc import Iterator
from dataclasses import replace

from tailroom.vectors.scripts import Occurrence, Writes
from tailroom.vectors.sets.bbr3.case import (
    ACCURACY,
    STARTUP_GAIN,
    UP_CWND_GAIN,
    script,
    sent,
    vector,
)
from tailroom.vectors.sets.bbr3.startup import BDP, PER_S, RTT_S
from tailroom.vectors.vector import Expectation, Vector

MIN_PIPE_CWND = 4


def vectors() -> Iterator[Vector]:
    """With data to send, and with pauses of the application."""
    yield _probe_rtt()
    yield _idle()
    yield _requests()


def _probe_rtt() -> Vector:
    entered = Occurrence("probe_rtt")
    return vector(
        "probe-rtt",
        "Every 5 s half a BDP is in flight for 200 ms",
        "Entering and Exiting PROBE_RTT",
        script(RTT_S, PER_S, 17.0),
        Expectation(
            event="probe_rtt",
            at=(0.0, 5.0),
            value=(0, 0),
            why="ProbeRTTInterval is 5 s",
        ),
        Expectation(
            event="probe_rtt",
            at=(5.0, 6.0),
            value=(1, 1),
            why="ProbeRTTInterval after the last lower RTT, which the first round trips have",
        ),
        Expectation(
            event="probe_rtt",
            at=(4.9, 6.5),
            after=entered,
            value=(1, 1),
            why="the interval begins again while the queue drains",
        ),
        Expectation(
            quantity="cwnd_packets",
            at=(0.02, 0.19),
            after=entered,
            value=(0.48 * BDP, 0.52 * BDP),
            why="ProbeRTTCwndGain = 0.5 of a BDP that is within 2 %, for ProbeRTTDuration = 200 ms",
        ),
        Expectation(
            quantity="cwnd_packets",
            at=(0.7, 4.0),
            after=entered,
            value=(BDP, 4 * BDP),
            why="the old window comes back after 200 ms and a round trip with half a BDP",
        ),
    )


def _idle() -> Vector:
    """A write takes 60 ms with its ACKs, a tenth of the time."""
    rtt_s, write, per_s, duration_s = 0.02, 40, 1.5, 40.0
    return vector(
        "idle",
        "Pauses of the application take the place of ProbeRTT",
        "Skipping PROBE_RTT Due to Application-Limited Sending",
        script(rtt_s, PER_S, duration_s, writes=Writes(packets=write, per_s=per_s)),
        Expectation(
            event="probe_rtt",
            at=(0.0, duration_s),
            value=(0, 4),
            why="the first ACK after a pause ends the interval of 5 s, and idle_restart keeps BBR "
            "out of PROBE_RTT. Without it there are 7: one every 5.7 s",
        ),
        Expectation(
            event="sent",
            at=(0.0, duration_s),
            value=(0.4 * write * per_s * duration_s, 1.6 * write * per_s * duration_s),
            why="60 packets per second on average: four standard deviations of 60 writes",
        ),
        chance="The application writes at random times. Of 7 intervals of 5 s, one in 11 ends "
        "within a write; 5 do with a probability of 0.0001.",
    )


def _requests() -> Vector:
    """A BDP of 20 packets, which a write fills once."""
    rtt_s, write, per_s, duration_s = 0.02, 20, 2.0, 60.0
    bdp = rtt_s * PER_S
    most = UP_CWND_GAIN * (1 + ACCURACY) * bdp + 2 + write
    paced_s = 0.001
    found = vector(
        "restart-from-idle",
        "Packets delivered before a pause are no aggregation after it",
        "",
        script(rtt_s, PER_S, duration_s, writes=Writes(packets=write, per_s=per_s)),
        *(
            Expectation(
                quantity="cwnd_packets",
                at=at,
                value=(MIN_PIPE_CWND, most),
                why="max_inflight is 2.25 BDP + 2 + extra_acked, at most, and extra_acked a write: "
                "extra_acked_delivered is the volume delivered since extra_acked_interval_start, "
                "which a restart sets. Packets counted from before would be excess, all of them, "
                "and the window would follow",
            )
            for at in ((20.0, 30.0), (50.0, 60.0))
        ),
        sent(
            (0.0, paced_s),
            (0.0, STARTUP_GAIN * (1 + ACCURACY) * PER_S),
            "a write is paced, and does not leave at once",
            after=Occurrence("sent", 20 * write + 1),
        ),
        chance="The application writes at random times.",
    )
    source = "draft-ietf-ccwg-bbr, as of August 2026, sec. 'Estimating BBR.extra_acked'"
    return replace(found, source=source)
