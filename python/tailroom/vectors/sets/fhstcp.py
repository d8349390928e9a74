"""FHSTCP: growth in proportion to the RTT, and the reductions of HighSpeed TCP."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Occurrence, SenderScript
from tailroom.vectors.sets.highspeed import increase_by_formula
from tailroom.vectors.vector import Expectation, Vector

C = 10.0
WINDOW = 1529
INCREASE, DECREASE = 10.0, 0.31
"""a(w) and b(w) of RFC 3649, appendix B."""


def vectors() -> Iterator[Vector]:
    """RTTs below, at and above 1 / c, where FHSTCP grows as HighSpeed TCP does."""
    for rtt_ms in (50, 100, 200):
        yield _growth(rtt_ms)


def _growth(rtt_ms: int) -> Vector:
    rtt_s = rtt_ms / 1000
    share = C * rtt_s
    least, most = share * INCREASE, share * increase_by_formula(WINDOW)
    return Vector(
        id=f"fhstcp.rtt-{rtt_ms}ms",
        title=f"At {rtt_ms} ms a round trip adds {share:g} a(w)",
        source="Su, Pan, Lv and Ping 2005, Figure 1",
        url="https://doi.org/10.1007/11428862_142",
        script=SenderScript(
            control="fhstcp",
            parameters={"c": C, "block_pacing": False},
            rtt_s=rtt_s,
            initial_cwnd_packets=WINDOW,
            initial_ssthresh_packets=WINDOW,
            lost_packets=(WINDOW + WINDOW // 2,),
            duration_s=2.3 * rtt_s,
        ),
        expect=(
            Expectation(
                quantity="cwnd_packets",
                at=(1.5 * rtt_s, 1.5 * rtt_s),
                value=(WINDOW + least - 0.3, WINDOW + most + 0.3),
                why=f"cwnd += min(1, c RTT a(w) / w) per ACK, c = 10 / s: {share:g} a(w) in a "
                f"round trip, a({WINDOW}) = {INCREASE:g} in the table of RFC 3649",
            ),
            Expectation(
                quantity="ssthresh_packets",
                at=(0.1 * rtt_s, 0.5 * rtt_s),
                after=Occurrence("reduction"),
                value=(
                    (1 - DECREASE - 0.005) * WINDOW - 1,
                    (1 - DECREASE + 0.005) * (WINDOW + 2 * most + 1),
                ),
                why="(1 - b(w)) w with b(w) of RFC 3649",
            ),
        ),
    )
