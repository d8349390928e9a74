"""DCTCP's estimate of the fraction of marked packets, as its answer to a mark shows it."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Occurrence, SenderScript
from tailroom.vectors.vector import Expectation, Vector

GAIN = 1 / 16
RTT_S = 0.1
WINDOW = 50


def vectors() -> Iterator[Vector]:
    """A first mark after few and after many round trips, and marks without end."""
    for rounds in (10, 30):
        yield _first_mark(rounds)
    yield _always_marked()


def _script(marked_s: tuple[float, float], duration_s: float) -> SenderScript:
    return SenderScript(
        control="dctcp",
        parameters={"gain": GAIN, "initial_alpha": 1.0},
        rtt_s=RTT_S,
        rate_bps=1e9,
        initial_cwnd_packets=WINDOW,
        initial_ssthresh_packets=WINDOW,
        marked_s=marked_s,
        duration_s=duration_s,
    )


def _first_mark(rounds: int) -> Vector:
    """All packets of one flight are marked.

    A sender updates alpha when a window has been acknowledged, before or after it answers to the
    first mark of the next, so that it has seen one window more or less, and perhaps the marks.
    """
    seen = (rounds + 1, rounds - 1)
    low, high = ((1 - GAIN) ** count for count in seen)
    high += GAIN * (1 - high)
    window = WINDOW + rounds
    sent_s = rounds * RTT_S
    return Vector(
        id=f"dctcp.first-mark-{rounds}",
        title=f"The first mark after {rounds} round trips reduces by alpha / 2",
        source="RFC 8257 sec. 3.3, steps 5 to 9; sec. 4.2 for the gain",
        url="https://www.rfc-editor.org/rfc/rfc8257",
        script=_script((sent_s - 0.02, sent_s + 0.02), sent_s + 2.5 * RTT_S),
        expect=(
            Expectation(
                event="reduction",
                at=(0.0, sent_s + 2.5 * RTT_S),
                value=(1, 1),
                why="the marks of one window are one reduction",
            ),
            Expectation(
                quantity="ssthresh_packets",
                at=(0.01, 0.05),
                after=Occurrence("reduction"),
                value=((window - 2) * (1 - high / 2) - 0.5, (window + 1) * (1 - low / 2) + 0.5),
                why=f"cwnd (1 - alpha / 2), alpha = (1 - 1/16)^{rounds} from alpha = 1, one "
                "window more or less, and with or without the marks",
            ),
        ),
    )


def _always_marked() -> Vector:
    return Vector(
        id="dctcp.all-marked",
        title="While all packets are marked, each round trip halves the window",
        source="RFC 8257 sec. 3.3, step 9",
        url="https://www.rfc-editor.org/rfc/rfc8257",
        script=_script((0.0, 0.35), 0.4),
        expect=(
            Expectation(
                event="reduction",
                at=(0.05, 0.35),
                value=(3, 3),
                why="one reduction per window of data, of which three end in that time",
            ),
            *halvings(),
        ),
    )


def halvings() -> Iterator[Expectation]:
    """What ssthresh is after each of three reductions while all packets are marked."""
    for number in (1, 2, 3):
        yield Expectation(
            quantity="ssthresh_packets",
            at=(0.01, 0.05),
            after=Occurrence("reduction", number),
            value=(WINDOW / 2**number - 1, (WINDOW + 1) / 2**number + 1),
            why=f"alpha stays 1: 50 / 2^{number}, and at most a packet of growth before",
        )
