"""Outcomes of tests of a mean against a bound."""

from math import inf

import pytest

from tailroom.statistics.bound import Bound
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome

YES, NO, OPEN = Outcome


@pytest.mark.parametrize(
    ("bound", "outcomes"),
    [
        # Of the intervals 0 to 2, 1 to 3, 3 to 5, and of a single run.
        (Bound(low=1), (OPEN, YES, YES, OPEN)),
        (Bound(high=2), (YES, OPEN, NO, OPEN)),
        (Bound(1, 3), (OPEN, YES, OPEN, OPEN)),
        (Bound(2.5, 2.8), (NO, OPEN, NO, OPEN)),
    ],
)
def test_a_mean_is_within_a_bound_if_its_whole_interval_is(
    bound: Bound, outcomes: tuple[Outcome, ...]
) -> None:
    intervals = (*(Interval(mean, 1.0, 5) for mean in (1.0, 2.0, 4.0)), Interval(2.0, inf, 1))
    assert tuple(map(bound.outcome, intervals)) == outcomes


def test_the_margin_is_the_distance_to_the_nearest_end() -> None:
    assert [Bound(1, 4).margin(number) for number in (0.5, 1.5, 3.5, 5.0)] == [-0.5, 0.5, 0.5, -1]
    assert Bound(low=1).margin(9.0) == 8


@pytest.mark.parametrize(
    ("outcomes", "all_of_them", "any_of_them"),
    [
        ((YES, YES), YES, YES),
        ((YES, OPEN), OPEN, YES),
        ((YES, OPEN, NO), NO, YES),
        ((OPEN, NO), NO, OPEN),
        ((NO, NO), NO, NO),
        ((), YES, NO),
    ],
)
def test_outcomes_are_combined_as_in_kleenes_logic(
    outcomes: tuple[Outcome, ...], all_of_them: Outcome, any_of_them: Outcome
) -> None:
    assert Outcome.of_all(outcomes) is all_of_them
    assert Outcome.of_any(outcomes) is any_of_them


def test_an_outcome_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"compare it with Outcome\.YES"):
        bool(NO)
