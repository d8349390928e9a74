"""What is sent after a loss: proportional rate reduction, and tail loss probes."""

from collections.abc import Iterator

from tailroom.vectors.scripts import LatePacket, Occurrence, SenderScript
from tailroom.vectors.vector import Expectation, Vector

RTT_S = 0.1
WINDOW = 100
PACKET_BYTES = 1500


def vectors() -> Iterator[Vector]:
    """PRR with the reductions of Reno and of CUBIC, heavy losses, lost tails, and RACK's window."""
    for control, beta in (("reno", 0.5), ("cubic", 0.7)):
        yield _reduction(control, beta)
    yield _bound()
    yield _tail()
    yield _reordering_window()
    yield _three_later()
    yield _growing_window()


def _reduction(control: str, beta: float) -> Vector:
    """The path sends a window in a round trip, so that ACKs are spread over it."""
    reduced = Occurrence("reduction")
    return Vector(
        id=f"recovery.prr-{control}",
        title=f"A recovery sends {beta:g} packets per packet delivered",
        source="RFC 9937 sec. 5",
        url="https://www.rfc-editor.org/rfc/rfc9937",
        script=SenderScript(
            control=control,
            proportional_rate_reduction=True,
            rtt_s=RTT_S,
            rate_bps=8 * PACKET_BYTES * WINDOW / RTT_S,
            packet_bytes=PACKET_BYTES,
            initial_cwnd_packets=WINDOW,
            initial_ssthresh_packets=WINDOW,
            lost_packets=(150,),
            duration_s=0.6,
        ),
        expect=tuple(
            Expectation(
                event="sent",
                at=(0.0, share * RTT_S),
                after=reduced,
                value=(beta * WINDOW * share - 5, beta * WINDOW * share + 5),
                why=f"sndcnt = CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out: {beta:g} of "
                f"the {WINDOW * share:g} packets delivered meanwhile, and up to 3 for the "
                "duplicate ACKs before",
            )
            for share in (0.25, 0.5, 0.75)
        ),
    )


def _bound() -> Vector:
    """Four of five packets of a window of 50 are lost: 10 are in flight, and ssthresh is 35.

    The recovery begins with the third of the 10 that arrive.
    """
    window, first = 50, 101
    lost = tuple(number for number in range(first, first + window) if (number - first) % 5 != 4)
    delivered = window - len(lost)
    return Vector(
        id="recovery.prr-bound",
        title="After heavy losses a recovery sends one or two packets per packet delivered",
        source="RFC 9937 sec. 5 and 6",
        url="https://www.rfc-editor.org/rfc/rfc9937",
        script=SenderScript(
            control="cubic",
            proportional_rate_reduction=True,
            rtt_s=RTT_S,
            rate_bps=8 * PACKET_BYTES * window / RTT_S,
            packet_bytes=PACKET_BYTES,
            initial_cwnd_packets=window,
            initial_ssthresh_packets=window,
            lost_packets=lost,
            duration_s=0.8,
        ),
        expect=(
            Expectation(
                event="sent",
                at=(0.0, RTT_S),
                after=Occurrence("reduction"),
                value=(0.7 * (delivered - 3) - 1, 2 * delivered + 2),
                why="while inflight is below ssthresh, sndcnt is at most DeliveredData + 1 per ACK "
                "(slow start reduction bound); the 10 packets that arrive in the round trip allow "
                "20, not the 25 to ssthresh at once and one for each that is lost",
            ),
        ),
    )


def _transfer(
    name: str, title: str, section: str, *expect: Expectation, packets: int, lost: tuple[int, ...]
) -> Vector:
    """A transfer of some packets, repaired by RACK and TLP."""
    return Vector(
        id=f"recovery.{name}",
        title=title,
        source=f"RFC 8985 sec. {section}",
        url="https://www.rfc-editor.org/rfc/rfc8985",
        script=SenderScript(
            control="reno",
            recovery="rack",
            rtt_s=RTT_S,
            initial_cwnd_packets=10,
            transfer_packets=packets,
            lost_packets=lost,
            duration_s=1.0,
        ),
        expect=expect,
    )


def _reordering_window() -> Vector:
    """One packet arrives after the lost one, fewer than DupThresh."""
    due_s = RTT_S + RTT_S / 4
    return _transfer(
        "rack-window",
        "A packet is lost a quarter of an RTT after one sent later has arrived",
        "6.2, step 4 and 5",
        Expectation(
            event="sent",
            at=(0.01, due_s - 0.005),
            value=(0, 0),
            why="RACK.reo_wnd = min_RTT / 4 as long as no reordering was seen and fewer than "
            "DupThresh = 3 segments are sacked",
        ),
        Expectation(
            event="sent",
            at=(due_s - 0.005, due_s + 0.005),
            value=(1, 1),
            why="the reordering timer: RACK.rtt + RACK.reo_wnd = 1.25 RTT after it was sent",
        ),
        Expectation(
            event="sent",
            at=(due_s + 0.005, 0.9),
            value=(0, 0),
            why="one repair is enough, and no probe follows it",
        ),
        packets=10,
        lost=(9,),
    )


def _three_later() -> Vector:
    return _transfer(
        "rack-dupthresh",
        "With three packets sacked there is no reordering window",
        "6.2, step 4",
        Expectation(
            event="sent",
            at=(RTT_S - 0.005, RTT_S + 0.005),
            value=(1, 1),
            why="RACK.reo_wnd = 0 if DupThresh segments are sacked and no reordering was seen: "
            "the repair leaves with the third, not a quarter of an RTT later",
        ),
        Expectation(
            event="sent", at=(RTT_S + 0.005, 0.9), value=(0, 0), why="one repair is enough"
        ),
        packets=10,
        lost=(5,),
    )


def _growing_window() -> Vector:
    """The first late packet arrives behind one other, so that the sender sees the order change.

    The others leave in rounds of slow start with many packets behind them. They are late by 0.6
    RTTs: more than a quarter and a half, and less than three quarters.
    """
    packets, late_s = 2600, 0.6 * RTT_S
    return Vector(
        id="recovery.rack-growing-window",
        title="Each round trip with a duplicate adds a quarter of an RTT to the reordering window",
        source="RFC 8985 sec. 6.2, step 3 and 4",
        url="https://www.rfc-editor.org/rfc/rfc8985",
        script=SenderScript(
            control="reno",
            recovery="rack",
            rtt_s=RTT_S,
            initial_cwnd_packets=10,
            transfer_packets=packets,
            late_packets=(
                LatePacket(9, 0.1 * RTT_S),
                LatePacket(15, late_s),
                LatePacket(230, late_s),
                LatePacket(1800, late_s),
            ),
            detects_spurious_loss=True,
            duration_s=8.0,
        ),
        expect=(
            Expectation(
                event="sent",
                at=(0.0, 7.9),
                value=(packets + 2, packets + 2),
                why="RACK.reo_wnd = RACK.reo_wnd_mult * min_RTT / 4, and a DSACK adds 1 to "
                "RACK.reo_wnd_mult. A packet that is late by 0.6 RTTs is sent again at 1 and at 2 "
                "quarters, and not at 3; one that is late by 0.1 is not",
            ),
        ),
    )


def _tail() -> Vector:
    return _transfer(
        "tail-loss-probe",
        "A lost tail is repaired by a probe after two round trips, not by the timeout",
        "7.2 and 7.3",
        Expectation(
            event="sent",
            at=(0.01, 3 * RTT_S - 0.01),
            value=(0, 0),
            why="nothing but the probe timer acts after the first window",
        ),
        Expectation(
            event="sent",
            at=(3 * RTT_S - 0.01, 3 * RTT_S + 0.01),
            value=(1, 1),
            why="PTO = 2 SRTT after the last ACK, which arrives at one RTT",
        ),
        Expectation(
            event="sent",
            at=(3 * RTT_S + 0.01, 1.0),
            value=(1, 1),
            why="the ACK of the probe, a packet, shows that the other is lost (RACK)",
        ),
        packets=10,
        lost=(9, 10),
    )
