"""What the vectors of BBR have in common: the draft, its constants, and windows of packets sent."""

from tailroom.vectors.scripts import Occurrence, SenderScript
from tailroom.vectors.vector import Band, Expectation, Vector

URL = "https://datatracker.ietf.org/doc/draft-ietf-ccwg-bbr/"
CHANCE = "BBR draws when it probes; the bands hold for each draw."
PACKET_BYTES = 1500

STARTUP_GAIN, DRAIN_GAIN, DOWN_GAIN, UP_GAIN = 2.77, 0.5, 0.9, 1.25
"""Pacing gains."""
CWND_GAIN, UP_CWND_GAIN = 2.0, 2.25
MARGIN = 0.99
"""Pacing is 1 % below the bandwidth (PacingMarginPercent)."""
ACCURACY = 0.02
"""The draft's tolerance of the estimated bandwidth."""
BETA = 0.7
PROBE_WAIT_S = (2.0, 3.0)
"""From the beginning of PROBE_DOWN until the next PROBE_REFILL."""


def vector(
    name: str,
    title: str,
    case: str,
    script: SenderScript,
    *expect: Expectation,
    chance: str = CHANCE,
) -> Vector:
    """A vector of a test case of the draft's appendix."""
    return Vector(
        id=f"bbr3.{name}",
        title=title,
        source=f"draft-ietf-ccwg-bbr, as of August 2026, test case {case!r}",
        url=URL,
        script=script,
        expect=expect,
        chance=chance,
    )


def script(rtt_s: float, per_s: float, duration_s: float, **more: object) -> SenderScript:
    """A sender on a path of `per_s` packets per second."""
    given = {
        "control": "bbr3",
        "rtt_s": rtt_s,
        "rate_bps": bps(per_s),
        "packet_bytes": PACKET_BYTES,
        "initial_cwnd_packets": 10,
        "duration_s": duration_s,
        **more,
    }
    return SenderScript(**given)  # type: ignore[arg-type]


def bps(per_s: float) -> float:
    """The rate of that many packets per second."""
    return 8 * PACKET_BYTES * per_s


def sent(
    at: Band, rate: Band, why: str, *, after: Occurrence | None = None, burst: float = 6
) -> Expectation:
    """Packets sent in an interval.

    Args:
        at: The interval in seconds.
        rate: Least and largest rate in packets per second.
        why: The formula of the rate.
        after: The event from which the interval counts.
        burst: Packets that may fall on the other side of its ends: three send quanta of 2.
    """
    length = at[1] - at[0]
    value = (max(rate[0] * length - burst, 0.0), rate[1] * length + burst)
    return Expectation(event="sent", after=after, at=at, value=value, why=why)


def paced(gain: float, per_s: float) -> Band:
    """The rate that a gain means if the bandwidth is measured within the draft's tolerance."""
    rate = gain * MARGIN * per_s
    return rate * (1 - ACCURACY), rate * (1 + ACCURACY)
