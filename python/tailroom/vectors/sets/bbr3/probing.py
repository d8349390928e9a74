"""ProbeBW: when it goes up and down."""

from collections.abc import Iterator

from tailroom.vectors.scripts import LatePacket, Occurrence, Pause, Writes
from tailroom.vectors.sets.bbr3.case import (
    ACCURACY,
    CWND_GAIN,
    DOWN_GAIN,
    PROBE_WAIT_S,
    UP_GAIN,
    bps,
    paced,
    script,
    sent,
    vector,
)
from tailroom.vectors.vector import Expectation, Vector

RTT_S = 0.04
PER_S = 2500
"""Packets per second that the path carries: 30 Mbit/s."""
BDP = PER_S * RTT_S
LEAST_RTT_S = RTT_S + 1 / PER_S
UP, DOWN = Occurrence("probe_up"), Occurrence("probe_down")
REFILL = Occurrence("probe_refill")


def vectors() -> Iterator[Vector]:
    """The first probe, before ProbeRTT; pauses, losses and late packets in it; a slower path."""
    yield _plateau()
    yield _pause_in_refill()
    yield _spurious_recovery()
    yield _down()
    yield _down_by_time()
    yield _loss_when_limited()
    yield _inflight_longterm()


def _plateau() -> Vector:
    return vector(
        "up",
        "PROBE_UP sends at 1.25 times the bandwidth for three round trips without growth",
        "Exiting PROBE_UP on Bandwidth Plateau",
        script(RTT_S, PER_S, 5.0),
        Expectation(
            event="probe_up",
            at=(2.0, 4.2),
            value=(1, 1),
            why="STARTUP and DRAIN take at most 1 s; then BBR waits for 2 to 3 s and refills for a "
            "round trip",
        ),
        sent(
            (0.01, 0.09),
            paced(UP_GAIN, PER_S),
            "ProbeUpPacingGain = 1.25, less the margin of 1 %, for the first two round trips",
            after=UP,
        ),
        Expectation(
            event="probe_down",
            at=(2.5 * RTT_S, 4 * 2.25 * RTT_S),
            after=UP,
            value=(1, 1),
            why="full_bw_count reaches 3 after 3 round trips, or a fourth if the first sets the "
            "baseline, of 1 to 2.25 RTTs each: cwnd_gain = 2.25 bounds the queue",
        ),
    )


def _pause_in_refill() -> Vector:
    """The RTT falls by 1 % at 1.5 s, so that ProbeRTT is not due before 6.5 s."""
    return vector(
        "refill-pause",
        "A pause in PROBE_REFILL lowers no estimate, and PROBE_UP follows",
        "Handling Application-Limited Sending During PROBE_REFILL",
        script(
            RTT_S,
            PER_S,
            5.9,
            rtt_changes=((1.5, 0.99 * RTT_S),),
            pause=Pause(REFILL, LEAST_RTT_S),
        ),
        Expectation(
            event="probe_up",
            at=(0.5 * RTT_S, 3 * RTT_S),
            after=REFILL,
            value=(1, 1),
            why="the round trip of REFILL ends with the ACK of a packet that is sent in it: of one "
            "before the pause, after an RTT, or of the first behind it, after two",
        ),
        sent(
            (0.095, 0.155),
            paced(UP_GAIN, PER_S),
            "max_bw is what it was before the application-limited samples: PROBE_UP paces at 1.25 "
            "times of it, less 1 %. It begins within 2.2 RTTs, and ends 3 round trips without "
            "growth after the first samples that the application does not limit, at 5 RTTs",
            after=REFILL,
        ),
        sent(
            (1.0, 1.4),
            paced(1.0, PER_S),
            "PROBE_UP and PROBE_DOWN take 0.9 s at most, and CRUISE paces at max_bw, less 1 %",
            after=REFILL,
        ),
    )


def _spurious_recovery() -> Vector:
    """Six packets of the first 20 ms of PROBE_UP are late by 1.5 RTTs.

    Packets behind them show a loss after an RTT. The packets sent again arrive after 1.5 RTTs, and
    the late ones, now duplicates, after 2, within 0.13 s.
    """
    late = tuple(LatePacket(number, 1.5 * RTT_S) for number in range(4, 64, 10))
    return vector(
        "up-spurious-recovery",
        "A recovery that was spurious leads back to PROBE_UP",
        "Handling Spurious Fast Recovery",
        script(
            RTT_S,
            PER_S,
            5.0,
            recovery="rack",
            late_packets=late,
            late_packets_after=UP,
            detects_spurious_loss=True,
        ),
        Expectation(
            event="probe_down",
            at=(0.03, 0.1),
            after=UP,
            value=(1, 1),
            why="three of 125 packets of a round trip are more than LossThresh = 2 %; the third is "
            "missed after 0.05 s. A plateau ends PROBE_UP after 2.5 RTTs = 0.1 s at the earliest",
        ),
        sent(
            (0.2, 0.27),
            paced(UP_GAIN, PER_S),
            "HandleSpuriousLossDetection() begins PROBE_REFILL again when the last duplicate is "
            "reported, at 0.13 s; PROBE_UP follows after a round trip of 1.25 RTTs at most, and "
            "lasts 3 round trips: 1.25 times the bandwidth, less 1 %",
            after=UP,
        ),
        Expectation(
            quantity="cwnd_packets",
            at=(0.2, 0.27),
            after=UP,
            value=(CWND_GAIN * (1 - ACCURACY) * BDP, 1e9),
            why="inflight_longterm and inflight_shortterm have no limit, as before: cwnd is 2 to "
            "2.25 times the BDP again, and not the 125 packets in flight at the loss",
        ),
    )


def _down() -> Vector:
    # At most 1.25 BDP wait at its beginning, and drain at 1 - 0.9 * 0.99 of the bandwidth.
    return vector(
        "down",
        "PROBE_DOWN sends at 0.9 times the bandwidth until the queue is empty",
        "Exiting PROBE_DOWN on Inflight",
        script(RTT_S, PER_S, 5.0),
        sent(
            (0.01, 0.13),
            paced(DOWN_GAIN, PER_S),
            "ProbeDownPacingGain = 0.9, less the margin of 1 %. Three rounds of 1.25 leave half a "
            "BDP of queue or more, which takes 5 RTTs",
            after=DOWN,
        ),
        Expectation(
            event="probe_up",
            at=(0.0, 2.0 + RTT_S),
            after=DOWN,
            value=(0, 0),
            why="BBR waits for 2 to 3 s and refills for a round trip",
        ),
        sent(
            (0.70, 0.95),
            paced(1.0, PER_S),
            "the queue, 1.25 BDP at most, is empty after 1.25 RTT / (1 - 0.9 * 0.99) = 0.46 s, and "
            "CRUISE paces at the bandwidth. DOWN begins before 4 s, ProbeRTT after 5 s",
            after=DOWN,
        ),
        Expectation(
            quantity="srtt_s",
            at=(0.70, 0.95),
            after=DOWN,
            value=(LEAST_RTT_S, LEAST_RTT_S + 10 / PER_S),
            why="the queue is empty",
        ),
    )


def _down_by_time() -> Vector:
    """0.9 * 0.99 of the bandwidth is below the draft's 0.9, so the path gets slower than that."""
    slower = 0.88 * PER_S
    least_s, most_s = PROBE_WAIT_S
    return vector(
        "down-by-time",
        "PROBE_DOWN lasts until the next probe if the queue cannot drain",
        "Exiting PROBE_DOWN After Max Time",
        script(
            RTT_S,
            PER_S,
            8.5,
            rtt_changes=((1.5, 0.99 * RTT_S),),
            rate_changes=((0.0, bps(slower)),),
            rate_changes_after=DOWN,
        ),
        Expectation(
            quantity="srtt_s",
            at=(0.3, least_s),
            after=DOWN,
            value=(1.3 * RTT_S, 3 * RTT_S),
            why="0.9 * 0.99 of the old bandwidth is more than the 0.88 that the path carries now: "
            "inflight stays above a BDP. The draft's 10 % less would let it drain slowly",
        ),
        Expectation(
            event="probe_up",
            at=(0.0, least_s),
            after=DOWN,
            value=(0, 0),
            why="bw_probe_wait is 2 s at least",
        ),
        Expectation(
            event="probe_up",
            at=(least_s, most_s + 5 * RTT_S),
            after=DOWN,
            value=(1, 1),
            why="bw_probe_wait is 3 s at most, and REFILL takes a round trip of up to 2.25 / 0.88 "
            "RTTs. The RTT falls by 1 % at 1.5 s, so that ProbeRTT is not due before 6.5 s",
        ),
    )


def _loss_when_limited() -> Vector:
    """What waits after slow start fills the path until STARTUP ends, and the application does not.

    ProbeRTT lasts from 5 to 6 s, and the next probe begins before 9 s. By RFC 6675 a sender without
    new data repeats holes before they are lost (NextSeg, rule 3); with RACK it does not, and needs
    no record of both transmissions.
    """
    rtt_s, per_s, written_per_s = 0.1, 6000, 5000
    first = 47_000
    return vector(
        "up-loss",
        "Losses end PROBE_UP even if the application limits the rate",
        "Exiting PROBE_UP on Loss When Application-Limited",
        script(
            rtt_s,
            per_s,
            10.2,
            recovery="rack",
            writes=Writes(packets=1, per_s=written_per_s),
            lost_packets=tuple(range(first, first + 320, 20)),
        ),
        Expectation(
            event="probe_up",
            at=(7.2, 9.1),
            value=(1, 1),
            why="ProbeRTT ends at 5.3 to 6 s; then BBR waits for 2 to 3 s. Without loss it stays "
            "in PROBE_UP, since all samples are application-limited",
        ),
        Expectation(
            event="probe_down",
            at=(7.2, 9.2),
            value=(0, 0),
            why="application-limited samples do not show a plateau",
        ),
        Expectation(
            event="probe_down",
            at=(9.2, 9.8),
            value=(1, 1),
            why="16 packets of the 500 of a round trip are more than LossThresh = 2 %; they are "
            "sent at 9.4 s",
        ),
        chance="The application writes at random times. Packet 47,000 is written at 9.4 s with a "
        "standard deviation of 0.043 s.",
    )


def _inflight_longterm() -> Vector:
    buffer = 30
    # From 0.7 BDP, growth by 1, 2, ... 32 packets in a round trip each passes 1.3 BDP, and goes on
    # for the round trip until the losses show.
    most = BDP + buffer + 64
    return vector(
        "up-loss-again",
        "Behind a buffer of 0.3 BDP, losses in PROBE_UP limit the packets in flight",
        "Handling Loss During PROBE_UP After inflight_longterm is Set",
        script(RTT_S, PER_S, 20.0, limit_packets=buffer),
        Expectation(
            quantity="cwnd_packets",
            at=(3.0, 20.0),
            value=(0.5 * 0.7 * BDP, most + 2),
            why="inflight_longterm is the number in flight at which more than 2 % are lost, about "
            "130 packets, and at least 0.7 BDP; PROBE_UP raises it by 1, 2, 4, ... packets per "
            "round trip, and losses show a round trip later, after 64 more at most",
        ),
        sent(
            (6.0, 20.0),
            (0.85 * PER_S, 1.02 * PER_S),
            "what is sent beyond the rate of the path is lost: at most LossThresh = 2 %. Headroom "
            "takes 15 % of what is in flight, not of the rate, as long as a BDP remains",
        ),
    )
