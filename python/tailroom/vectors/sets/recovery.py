"""What is sent after a loss: proportional rate reduction, and tail loss probes."""

from collections.abc import Iterator

from tailroom.vectors.scripts import SenderScript
from tailroom.vectors.vector import Expectation, Occurrence, Vector

RTT_S = 0.1
WINDOW = 100
PACKET_BYTES = 1500


def vectors() -> Iterator[Vector]:
    """PRR with the reductions of Reno and of CUBIC, and a lost tail."""
    for control, beta in (("reno", 0.5), ("cubic", 0.7)):
        yield _reduction(control, beta)
    yield _tail()


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


def _tail() -> Vector:
    return Vector(
        id="recovery.tail-loss-probe",
        title="A lost tail is repaired by a probe after two round trips, not by the timeout",
        source="RFC 8985 sec. 7.2 and 7.3",
        url="https://www.rfc-editor.org/rfc/rfc8985",
        script=SenderScript(
            control="reno",
            recovery="rack",
            rtt_s=RTT_S,
            initial_cwnd_packets=10,
            transfer_packets=10,
            lost_packets=(9, 10),
            duration_s=1.0,
        ),
        expect=(
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
        ),
    )
