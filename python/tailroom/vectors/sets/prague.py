"""Prague: the first mark, and growth that does not depend on a short RTT."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Occurrence, SenderScript
from tailroom.vectors.sets.dctcp import WINDOW, halvings
from tailroom.vectors.vector import Expectation, Vector

DRAFT = "draft-briscoe-iccrg-prague-congestion-control-04"
URL = "https://datatracker.ietf.org/doc/draft-briscoe-iccrg-prague-congestion-control/04/"
PARAMETERS = {
    "gain": 1 / 16,
    "initial_alpha": 1.0,
    "min_virtual_rtt": 0.025,
    "transition_rounds": 500,
}


def vectors() -> Iterator[Vector]:
    """A first mark after ten round trips, marks without end, and a flow with an RTT of 10 ms."""
    yield _first_mark()
    yield _always_marked()
    yield _short_rtt()


def _script(rtt_s: float, duration_s: float, marked_s: tuple[float, float] | None) -> SenderScript:
    return SenderScript(
        control="prague",
        parameters=PARAMETERS,
        rtt_s=rtt_s,
        rate_bps=1e9,
        initial_cwnd_packets=WINDOW,
        initial_ssthresh_packets=WINDOW,
        marked_s=marked_s,
        duration_s=duration_s,
    )


def _first_mark() -> Vector:
    rtt_s, rounds = 0.1, 10
    sent_s, window = rounds * rtt_s, WINDOW + rounds
    return Vector(
        id="prague.first-mark",
        title="The first mark halves the window, however late it comes",
        source=f"{DRAFT} sec. 2.3.2",
        url=URL,
        script=_script(rtt_s, sent_s + 2.5 * rtt_s, (sent_s - 0.02, sent_s + 0.02)),
        expect=(
            Expectation(
                quantity="ssthresh_packets",
                at=(0.01, 0.05),
                after=Occurrence("reduction"),
                value=((window - 2) / 2 - 0.5, (window + 1) / 2 + 0.5),
                why="alpha stays 1 until there is a mark, so that cwnd (1 - alpha / 2) is half",
            ),
        ),
    )


def _always_marked() -> Vector:
    rtt_s = 0.1
    return Vector(
        id="prague.all-marked",
        title="While all packets are marked, each round trip halves the window",
        source=f"{DRAFT} sec. 2.3.2 and 2.4.2",
        url=URL,
        script=_script(rtt_s, 0.4, (0.0, 0.35)),
        expect=(
            Expectation(
                event="reduction",
                at=(0.05, 0.35),
                value=(3, 3),
                why="one reduction per round trip, of which three end in that time",
            ),
            *halvings(),
        ),
    )


def _short_rtt() -> Vector:
    rtt_s, rounds = 0.01, 1500
    slow = (rtt_s / PARAMETERS["min_virtual_rtt"]) ** 2
    before = WINDOW + PARAMETERS["transition_rounds"]
    after = before + slow * (rounds - PARAMETERS["transition_rounds"])
    return Vector(
        id="prague.short-rtt",
        title="After 500 round trips of 10 ms the window grows by 0.16 packets per round trip",
        source=f"{DRAFT} sec. 2.4.4",
        url=URL,
        script=_script(rtt_s, rounds * rtt_s + 0.1, None),
        expect=(
            Expectation(
                quantity="cwnd_packets",
                at=(490 * rtt_s, 490 * rtt_s),
                value=(WINDOW + 490 * 0.98 - 2, WINDOW + 490),
                why="one packet per RTT for the first 500 RTTs, as 1 / cwnd per ACK",
            ),
            Expectation(
                quantity="cwnd_packets",
                at=(rounds * rtt_s, rounds * rtt_s),
                value=(WINDOW + 490 * 0.98 - 2 + slow * 990, after + 10),
                why="then (RTT / 25 ms)^2 = 0.16 packets per RTT; the transition may take a few "
                "RTTs more",
            ),
        ),
    )
