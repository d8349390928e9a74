"""Paths that aggregate ACKs, are slow, change their rate, police, or delay all packets at once."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Policer
from tailroom.vectors.sets.bbr3.case import (
    ACCURACY,
    BETA,
    CWND_GAIN,
    DOWN_GAIN,
    MARGIN,
    bps,
    paced,
    script,
    sent,
    vector,
)
from tailroom.vectors.sets.bbr3.startup import BDP, PER_S, RTT_S
from tailroom.vectors.vector import Expectation, Vector


def vectors() -> Iterator[Vector]:
    """A path each."""
    yield _aggregation_in_startup()
    yield _aggregation()
    yield _sub_packet()
    yield _faster()
    yield _slower()
    yield _policer()
    yield _spurious_timeout()


def _aggregation_in_startup() -> Vector:
    interval_s = 0.05
    return vector(
        "startup-aggregation",
        "STARTUP finds the bandwidth if ACKs come together every 50 ms",
        "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
        script(RTT_S, PER_S, 3.0, ack_interval_s=interval_s),
        Expectation(
            event="sent",
            at=(0.0, 0.599),
            value=(10 * (2**3 - 1), 10 * 2.0**6),
            why="rounds of 0.1 to 0.15 s, in each of which the rate doubles: the packets of 3 are "
            "sent before 0.6 s, and those of a fourth paced; at most 6 have begun",
        ),
        Expectation(
            quantity="cwnd_packets",
            at=(1.5, 2.9),
            value=(CWND_GAIN * (1 - ACCURACY) * BDP, 2.25 * 1.5 * BDP * 1.02 + 2 * 60),
            why="cwnd_gain = 2 times the BDP, of an RTT of 0.1 to 0.15 s, and extra_acked, at most "
            "the 50 packets of an interval and as many again while rates are measured",
        ),
        sent(
            (1.9, 2.9),
            ((1 - ACCURACY) * 0.95 * PER_S, 1.25 * PER_S),
            "the full rate: samples are capped by the rate at which was sent, so that bursts of "
            "ACKs do not show more than the path carries",
            burst=50,
        ),
    )


def _aggregation() -> Vector:
    rtt_s, interval_s = 0.02, 0.04
    return vector(
        "aggregation",
        "Extra_acked keeps the path full if ACKs come together every two RTTs",
        "Achieving Expected Cruise Bandwidth on a Link With Aggregation",
        script(rtt_s, PER_S, 5.0, ack_interval_s=interval_s),
        sent(
            (2.0, 4.9),
            (0.93 * PER_S, 1.05 * PER_S),
            "2 BDP are 40 packets, but the 40 ms between ACKs and the RTT take 60; cwnd = 2 BDP + "
            "extra_acked keeps the path full, but for 0.9 * 0.99 in PROBE_DOWN",
            burst=60,
        ),
    )


def _sub_packet() -> Vector:
    per_s = 10
    return vector(
        "sub-packet",
        "Four packets are the smallest window",
        "Correctly Managing Sub-Packet BDPs",
        script(0.02, per_s, 30.0),
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


def _faster() -> Vector:
    """1.25 * 0.99 per round trip: ten times as much in 11 round trips, in at most two probes."""
    return vector(
        "faster",
        "Ten times the bandwidth is found within two probes",
        "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached",
        script(RTT_S, PER_S, 13.1, rate_changes=((2.0, bps(10 * PER_S)),)),
        sent(
            (11.5, 13.0),
            (DOWN_GAIN * MARGIN * (1 - ACCURACY) * 10 * PER_S, 1.25 * 10 * PER_S),
            "1.25 * 0.99 times as much per round trip of PROBE_UP is ten times as much after 11. A "
            "probe begins 2 to 3 s after the last, and ProbeRTT, at 5 and 10 s, may end the first: "
            "the second ends at 5.5 + 3.1 + 1.4 = 10 s at the latest. From 11.5 s on BBR sends at "
            "least 0.9 * 0.99 of the new bandwidth",
            burst=100,
        ),
    )


def _slower() -> Vector:
    per_s = 10 * PER_S
    return vector(
        "slower",
        "A tenth of the bandwidth is the estimate after two probes",
        "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down",
        script(
            RTT_S,
            per_s,
            24.0,
            limit_packets=200,
            rate_changes=((3.0, bps(PER_S)),),
        ),
        sent(
            (4.0, 6.0),
            (0.5 * PER_S, 1.5 * PER_S),
            "ACKs come at the new rate, and each loss round lowers bw_shortterm and "
            "inflight_shortterm by 0.7 at most until nothing is lost",
            burst=300,
        ),
        sent(
            (16.0, 23.5),
            (0.85 * PER_S, 1.05 * PER_S),
            "max_bw is the largest of two cycles of at most 3 s and a probe each, so that it is "
            "the new rate from 15 s on; ProbeRTT takes half a second in five",
        ),
    )


def _policer() -> Vector:
    burst = 100
    return vector(
        "policer",
        "A policer's rate is used without losing much",
        "Handling Token Bucket Policers",
        script(
            RTT_S,
            10 * PER_S,
            40.0,
            policer=Policer(rate_bps=bps(PER_S), burst_bytes=1500 * burst),
        ),
        sent(
            (10.0, 39.9),
            (BETA * MARGIN * PER_S, 1.1 * PER_S),
            "bw_shortterm falls to what is delivered, and not below 0.7 of itself at once; a "
            "probe of 1.25 times the rate, every 2 to 3 s, is over a round trip after more than "
            "2 % of it are lost. The draft has no number: at most a tenth is lost",
            burst=burst,
        ),
    )


def _spurious_timeout() -> Vector:
    """In CRUISE: STARTUP and DRAIN end before 2 s, and the first probe begins after 3.4 s."""
    late_s = 0.45
    return vector(
        "spurious-timeout",
        "A timeout that was spurious leaves the bandwidth as it was",
        "Handling Spurious RTO Recovery",
        script(
            RTT_S,
            PER_S,
            3.4,
            min_rto_s=0.2,
            rtt_changes=((2.0, RTT_S + late_s), (2.05, RTT_S)),
            detects_spurious_loss=True,
        ),
        sent(
            (2.15, 2.5),
            (0.0, 0.4 * PER_S),
            "for 0.45 s no ACK arrives; RTO = max(SRTT + 4 RTTVAR, 0.2 s) expires in between, and "
            "the window is a packet",
            burst=100,
        ),
        sent(
            (2.9, 3.35),
            paced(1.0, PER_S),
            "the late ACKs show that nothing was lost: bw_shortterm, inflight_shortterm and cwnd "
            "are what they were, not 0.7 of it, and CRUISE goes on",
        ),
    )
