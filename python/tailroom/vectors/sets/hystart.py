"""When HyStart++ ends slow start."""

from collections.abc import Iterator

from tailroom.vectors.scripts import SenderScript
from tailroom.vectors.vector import Expectation, Vector

RTT_S = 0.1
INITIAL = 10
STEP_AT_S = 0.25
"""In the third round trip, so that the packets sent at 0.3 s, with a window of 80, are delayed."""
THRESHOLD_S = 0.0125
"""RttThresh = clamp(4 ms, lastRoundMinRTT / 8, 16 ms)."""
GROWTH = 1.25
"""1 + 1 / CSS_GROWTH_DIVISOR per round trip of conservative slow start."""


def vectors() -> Iterator[Vector]:
    """A step of the RTT above the threshold, one below it, and one that goes back."""
    yield _above()
    yield _below()
    yield _back()


def _script(changes: tuple[tuple[float, float], ...], duration_s: float) -> SenderScript:
    return SenderScript(
        control="reno",
        slow_start="hystart_plus_plus",
        rtt_s=RTT_S,
        initial_cwnd_packets=INITIAL,
        rtt_changes=changes,
        duration_s=duration_s,
    )


def _vector(name: str, title: str, script: SenderScript, *expect: Expectation) -> Vector:
    return Vector(
        id=f"hystart.{name}",
        title=title,
        source="RFC 9406 sec. 4.2 and 4.3",
        url="https://www.rfc-editor.org/rfc/rfc9406",
        script=script,
        expect=expect,
    )


def _above() -> Vector:
    after_s = RTT_S + 0.02
    return _vector(
        "above-threshold",
        "A step of 20 ms ends slow start within six round trips",
        _script(((STEP_AT_S, after_s),), 2.5),
        Expectation(
            quantity="cwnd_packets",
            at=(0.31, 0.39),
            value=(80, 80),
            why="10 * 2^3 before the delayed packets are acknowledged",
        ),
        Expectation(
            quantity="cwnd_packets",
            at=(1.5, 1.6),
            value=(80 * GROWTH**4, 160 * GROWTH**6 + 10),
            why="CSS begins with the 8th sample of the round of 80 packets, at the latest with the "
            "160th, and lasts 5 rounds of a quarter of the growth; then one packet per RTT",
        ),
        Expectation(
            quantity="ssthresh_packets",
            at=(1.5, 2.4),
            value=(80 * GROWTH**4, 160 * GROWTH**6),
            why="ssthresh = cwnd after CSS_ROUNDS = 5",
        ),
    )


def _below() -> Vector:
    return _vector(
        "below-threshold",
        "A step of 11 ms does not end slow start",
        _script(((STEP_AT_S, RTT_S + 0.011),), 0.9),
        Expectation(
            quantity="cwnd_packets",
            at=(0.8, 0.82),
            value=(10 * 2.0**7, 10 * 2.0**7),
            why="11 ms are below RttThresh = 100 ms / 8 = 12.5 ms: 10 * 2^3 at 0.3 s, doubled "
            "at 0.411, 0.522, 0.633 and 0.744 s",
        ),
    )


def _back() -> Vector:
    return _vector(
        "spurious-exit",
        "Slow start goes on if the RTT falls again",
        _script(((STEP_AT_S, RTT_S + 0.02), (0.5, RTT_S)), 1.2),
        Expectation(
            quantity="cwnd_packets",
            at=(1.1, 1.15),
            value=(88 * 1.25 * 2.0**4, 160 * 1.5**2 * 2.0**6),
            why="after a round of CSS an RTT below the baseline of 120 ms resumes slow start: "
            "at least four doublings until 1.1 s",
        ),
    )
