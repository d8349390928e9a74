"""Auge and Roberts 2006, Figures 3 to 7: what holds in the smoke form, and how it is measured."""

import numpy as np
import pytest

from tailroom import reproduction
from tailroom.reproduction import Form, Judgement, Verdict
from tailroom.statistics.intervals import Interval
from tailroom_papers.auge_2006 import ascendancy, bursts, comparison, reductions

PARTS = ("3", "4", "5", "6", "7", "arrivals", "paced-acks", "longest-queue-drop")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judgement]:
    paper = reproduction.load("auge-2006")
    parts = reproduction.parts_of(paper, PARTS)
    out = tmp_path_factory.mktemp("papers") / "auge"
    done = reproduction.reproduce(paper, out, parts=parts, form=Form.SMOKE)
    return {claim.name: found for part in done.parts for claim, found in part.judged}


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        "compromise",
        "large-buffer",
        "empty-link",
        "bursts",
        "loss-at-the-end",
        "reno-cannot-compete",
        "no-chaos",
        "background-lossless",
        "paced-acks",
    ],
)
def test_what_the_paper_says_holds(judged: dict[str, Judgement], claim: str) -> None:
    assert judged[claim].verdict is Verdict.HOLDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "sides"),
    [
        ("more-flows", ("utilization with 4 flows",)),
        ("highspeed-small-buffers", ("utilization by HighSpeed with 100 packets",)),
        ("reno-competes", ("NewReno's goodput over HighSpeed's",)),
        ("chaotic-windows", ("largest over smallest of the four windows, means of 10 s",)),
        (
            "slow-start-arrivals",
            ("packets of the background lost for an arrival, 625 packets of buffer",),
        ),
        (
            "outperforms-red",
            (
                "share of the residual, %, 625 packets",
                "p99 delay of the background, ms, 625 packets",
            ),
        ),
    ],
)
def test_these_sides_hold(judged: dict[str, Judgement], claim: str, sides: tuple[str, ...]) -> None:
    holds = {check.what: check.holds for check in judged[claim].checks}
    assert [holds[side] for side in sides] == [True] * len(sides)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "side"),
    [
        (
            "slow-start-arrivals",
            "packets of the existing flow lost for an arrival, 625 packets of buffer",
        ),
        ("better-sharing", "share of the residual with 20 packets"),
    ],
)
def test_these_sides_do_not_hold(judged: dict[str, Judgement], claim: str, side: str) -> None:
    assert next(one.holds for one in judged[claim].checks if one.what == side) is False


def test_a_burst_ends_with_silence_and_a_loss_has_its_place_in_it() -> None:
    # Three packets, 20 ms of silence, two packets; the second and the last are lost.
    time_s = np.array([0.0, 0.00016, 0.00048, 0.02048, 0.02064])
    found = bursts.of_arrivals(time_s, np.array([False, True, False, False, True]))
    assert found.lengths.tolist() == [3, 2]
    assert found.silences_s.tolist() == [pytest.approx(0.02)]
    assert found.gaps.tolist() == [pytest.approx(1), pytest.approx(2), pytest.approx(1)]
    assert found.places_lost.tolist() == [0.5, 1.0]
    assert found.back_to_back == 0.5


def test_events_of_two_flows_are_shared_within_a_round_trip() -> None:
    one, other = np.zeros(10, bool), np.zeros(10, bool)
    one[[2, 7]] = True
    other[3] = True
    found = reductions.of_events([one, other], round_trip=1)
    assert found is not None
    # The event at 2 has one beside it at 3, and 3 has 2: two of three.
    assert found.shared == pytest.approx(2 / 3)
    # One flow's events lie where 3 of 10 intervals are near; the other's where 6 of 10 are.
    assert found.by_chance == pytest.approx((2 * 0.3 + 1 * 0.6) / 3)
    assert found.excess == pytest.approx((2 / 3 - 0.4) / 0.6)


def test_flows_without_reductions_are_not_synchronized_at_all() -> None:
    assert reductions.of_events([np.zeros(5, bool)] * 2, round_trip=1) is None


def test_equal_flows_have_no_leader_and_unequal_ones_take_turns() -> None:
    found = ascendancy.of_means(np.array([[3.0, 3.0, 1.0], [1.0, 1.0, 3.0]]))
    assert found.jain == pytest.approx(16 / 20)
    assert found.largest_over_smallest == pytest.approx(3)
    assert found.leader_keeps == 0.5
    assert found.leaders == 2


def test_overlapping_intervals_decide_nothing() -> None:
    low, middle, high = (Interval(mean, 0.6, 5) for mean in (1.0, 2.0, 3.0))
    assert comparison.more("", high, low, "").holds is True
    assert comparison.more("", low, high, "").holds is False
    assert comparison.more("", middle, low, "").holds is None
    assert comparison.less("", low, high, "").holds is True
    assert comparison.less("", low, None, "").holds is None
