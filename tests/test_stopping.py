"""The sequential test: how often it is wrong, how often it decides, and what it saves."""

from functools import cache

import numpy as np
import pytest

from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.stopping import FIRST_RUNS, State, judge, next_look
from tailroom.studies.size_study.targets import Target

AT_MOST = 32
TRIALS = 2000
BOUND = 100.0
"""Far from 0, below which no metric is."""
TARGETS = {
    at_least: Target("queue_delay_s_mean", at_least=at_least, bound=BOUND)
    for at_least in (True, False)
}


def run_test(values: np.ndarray, target: Target) -> tuple[Outcome, int]:
    """The verdict on runs that come one after the other, and how many of them it took."""
    count = next_look(0, AT_MOST)
    while (state := judge(target, values[:count].tolist(), AT_MOST)).wants_more:
        count = next_look(count, AT_MOST)
    return state.outcome, count


@cache
def trials(offset: float, at_least: bool = True) -> list[tuple[Outcome, int]]:
    """Tests whose mean is this many standard deviations above the bound."""
    draws = np.random.default_rng(17).standard_normal((TRIALS, AT_MOST)) + BOUND + offset
    return [run_test(row, TARGETS[at_least]) for row in draws]


def share(offset: float, verdict: bool | None, at_least: bool = True) -> float:
    return sum(one is Outcome(verdict) for one, _ in trials(offset, at_least)) / TRIALS


def mean_runs(offset: float) -> float:
    return sum(count for _, count in trials(offset)) / TRIALS


def test_looks_come_early_and_end_at_the_largest_number() -> None:
    looks = [next_look(0, AT_MOST)]
    while looks[-1] < AT_MOST:
        looks.append(next_look(looks[-1], AT_MOST))
    assert looks == [4, 6, 8, 12, 16, 20, 24, 30, 32]
    assert next_look(4, 5) == 5
    assert next_look(0, 4) == FIRST_RUNS


@pytest.mark.parametrize(
    ("offset", "at_least"), [(0.0, True), (0.1, True), (0.25, True), (0.5, True), (0.25, False)]
)
def test_a_wrong_verdict_comes_in_at_most_one_of_forty(offset: float, at_least: bool) -> None:
    """2.5 % on either side, and three standard errors of the estimate."""
    error = 3 * (0.025 * 0.975 / TRIALS) ** 0.5
    wrong = not at_least
    assert share(offset, wrong, at_least) <= 0.025 + error
    assert share(-offset, not wrong, at_least) <= 0.025 + error


def test_a_mean_on_the_bound_is_met_as_often_as_it_is_missed() -> None:
    error = 3 * (2 * 0.025 / TRIALS) ** 0.5
    assert abs(share(0.0, True) - share(0.0, False)) <= error


def test_a_mean_a_deviation_away_is_decided() -> None:
    assert share(1.0, True) >= 0.95
    assert share(-1.0, False) >= 0.95


def test_clear_means_take_few_runs_and_hopeless_ones_are_given_up() -> None:
    """All 32 runs would decide 1.0 and not 0.0; the test takes less than half of them for both."""
    assert mean_runs(4.0) < 6
    assert mean_runs(1.0) < 16
    assert mean_runs(0.0) < 20


def test_what_all_runs_would_decide_is_mostly_decided() -> None:
    """Giving up costs at most a sixth of the verdicts that 32 runs at 95 % would give."""
    draws = np.random.default_rng(17).standard_normal((TRIALS, AT_MOST)) + 0.5
    by_all = [judge(TARGETS[True], row.tolist(), AT_MOST).outcome is Outcome.YES for row in draws]
    assert share(0.5, True) >= sum(by_all) / TRIALS * 5 / 6


@pytest.mark.parametrize(("above", "verdict"), [(0.5, True), (-0.5, False), (0.0, True)])
def test_equal_values_decide_at_once(above: float, *, verdict: bool) -> None:
    found = judge(TARGETS[True], [BOUND + above] * 4, AT_MOST)
    assert found == State(Outcome(verdict), wants_more=False)
