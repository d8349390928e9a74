"""BBR, version 3: those of the draft's test cases that show in windows and packets."""

from collections.abc import Iterator

from tailroom.vectors.scripts import SenderScript
from tailroom.vectors.vector import Expectation, Occurrence, Vector

URL = "https://datatracker.ietf.org/doc/draft-ietf-ccwg-bbr/"
RTT_S = 0.1
PER_S = 1000
"""Packets per second that the path carries: 12 Mbit/s."""
BDP = PER_S * RTT_S
LEAST_RTT_S = RTT_S + 1 / PER_S
"""With the transmission of a packet."""


def vectors() -> Iterator[Vector]:
    """Startup, the queue afterwards, `ProbeRTT`, and less than a packet per RTT."""
    yield _startup()
    yield _probe_rtt()
    yield _sub_packet()


def _vector(name: str, title: str, case: str, script: SenderScript, *expect: Expectation) -> Vector:
    return Vector(
        id=f"bbr3.{name}",
        title=title,
        source=f"draft-ietf-ccwg-bbr, as of August 2026, test case {case!r}",
        url=URL,
        script=script,
        expect=expect,
        chance="BBR draws when it probes; the bands hold for each draw.",
    )


def _script(rtt_s: float, per_s: float, duration_s: float) -> SenderScript:
    return SenderScript(
        control="bbr3",
        rtt_s=rtt_s,
        rate_bps=8 * 1500 * per_s,
        initial_cwnd_packets=10,
        duration_s=duration_s,
    )


def _startup() -> Vector:
    return _vector(
        "startup",
        "STARTUP doubles in a round trip, and leaves no queue behind",
        "Exiting STARTUP on Bandwidth Plateau",
        _script(RTT_S, PER_S, 13.5),
        Expectation(
            event="sent",
            at=(0.0, 0.299),
            value=(55, 75),
            why="10 + 20 + 40 packets in three round trips, and pacing within them",
        ),
        Expectation(
            quantity="srtt_s",
            at=(2.0, 2.8),
            value=(LEAST_RTT_S, LEAST_RTT_S + 10 / PER_S),
            why="the path is full after 4 round trips; 3 without 25 % more end STARTUP, and at "
            "most 3 of DRAIN follow; no probe begins before 2.8 s, as BBR waits for 2 s at least; "
            "until then it sends at a bandwidth that is right within 2 %, less 1 %",
        ),
        Expectation(
            event="sent",
            at=(3.0, 13.0),
            value=(0.93 * 10 * PER_S, 10 * PER_S + BDP),
            why="the path is full but for two visits to ProbeRTT, with half the BDP in flight for "
            "200 ms and the round trips around them",
        ),
    )


def _probe_rtt() -> Vector:
    entered = Occurrence("probe_rtt")
    return _vector(
        "probe-rtt",
        "Every 5 s half a BDP is in flight for 200 ms",
        "Entering and Exiting PROBE_RTT",
        _script(RTT_S, PER_S, 17.0),
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


def _sub_packet() -> Vector:
    per_s = 10
    return _vector(
        "sub-packet",
        "Four packets are the smallest window",
        "Correctly Managing Sub-Packet BDPs",
        _script(0.02, per_s, 30.0),
        Expectation(
            quantity="cwnd_packets",
            at=(10.0, 30.0),
            value=(4, 1000),
            why="MinPipeCwnd = 4; the draft has no upper bound, since cwnd includes extra_acked",
        ),
        Expectation(
            event="sent",
            at=(10.0, 29.99),
            value=(0.9 * 20 * per_s, 20 * per_s + 6),
            why="10 packets per second for 20 s",
        ),
    )
