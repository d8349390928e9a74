"""The search on a made-up link whose right answer is known: is it biased, and is it confident?

The mean utilization rises with the logarithm of the limit, and runs scatter around it as runs of
ten CUBIC flows at 1 Gbit/s do (0.5 % of the rate, 1.5 % a factor of 1.44 in the limit).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any

import numpy as np
import pytest

from tailroom.models.bottleneck import Bottleneck
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.search import Search, feasible_limits
from tailroom.studies.size_study.stopping import CONFIRMING_RUNS, Verdicts, confirmed, next_look
from tailroom.studies.size_study.targets import Target, parse_target

EDGE = 430
"""The smallest limit whose mean meets the target."""
SLOPE = 0.0415
SPREAD = 0.005
SEEDS = 400
FULL = parse_target("utilization >= 98%")
LINK = Bottleneck("made up", 1e9, "fair", {}, {"limit": 80.0}, 1500)
QUICK = parse_target("queue_delay_s_p99 <= 6 ms")


def mean_utilization(limit: int) -> float:
    return 0.98 + SLOPE * log(limit / (EDGE - 0.5)) if limit < 700 else 1.0


@dataclass
class MadeUp:
    """Runs of one limit: the utilization scatters, the delay does so by a hundredth of it."""

    limit: int
    seed: int
    count: int = 0

    def values(self, metric: str) -> list[float]:
        draws = np.random.default_rng((self.seed, self.limit)).standard_normal(self.count)
        if metric == "utilization":
            return [mean_utilization(self.limit) + SPREAD * float(draw) for draw in draws]
        return [12e-6 * self.limit * (1 + 0.01 * float(draw)) for draw in draws]


@dataclass(frozen=True)
class Found:
    """How a search ended."""

    answer: int | None
    runs: int
    tried: tuple[Tried, ...]
    too_small: int


def search(
    targets: Sequence[Target],
    seed: int,
    *,
    all_runs: bool = False,
    at_most: int = 32,
    largest: int = 50_000,
) -> Found:
    """Searches between 80 and at most 6,600 packets; `all_runs` stops no buffer early."""
    runs = 0

    def look(limits: Sequence[int]) -> list[Tried]:
        nonlocal runs
        tried = []
        for limit in limits:
            made_up, verdicts = MadeUp(limit, seed), Verdicts(targets, at_most)
            made_up.count = at_most if all_runs else next_look(0, at_most)
            while verdicts.look(made_up.values):
                made_up.count = next_look(made_up.count, at_most)
            runs += made_up.count
            point: Any = made_up
            tried.append(Tried(limit, point, verdicts.given))
        return tried

    def confirm(chosen: Tried) -> Tried:
        nonlocal runs
        point: Any = chosen.point
        runs += max(point.count, CONFIRMING_RUNS) - point.count
        point.count = max(point.count, CONFIRMING_RUNS)
        verdicts = {target: confirmed(target, point.values(target.metric)) for target in targets}
        return Tried(chosen.limit, point, verdicts)

    one = Search(targets, look, confirm, precision=0.02, limits=(1, largest))
    one.run(80, min(6600, largest))
    tried = tuple(one.tried[limit] for limit in sorted(one.tried))
    return Found(one.answer, runs, tried, one.too_small)


@cache
def answers(*, all_runs: bool) -> list[Found]:
    return [search([FULL], seed, all_runs=all_runs) for seed in range(SEEDS)]


def limits(found: list[Found]) -> np.ndarray:
    assert all(one.answer for one in found)
    return np.array([one.answer for one in found])


def test_the_answer_suffices_in_at_least_95_of_100_searches() -> None:
    insufficient = (limits(answers(all_runs=False)) < EDGE).mean()
    assert insufficient <= 0.05


def test_what_is_called_too_small_is_so_in_at_least_95_of_100_searches() -> None:
    wrong = np.mean([one.too_small >= EDGE for one in answers(all_runs=False)])
    assert wrong <= 0.05


def test_the_interval_of_the_answer_holds_the_true_mean() -> None:
    """In 95 of 100 searches, but for three standard errors of 400 searches."""
    chosen = [
        one for found in answers(all_runs=False) for one in found.tried if one.limit == found.answer
    ]
    intervals = [one.interval("utilization") for one in chosen]
    held = [
        one.low <= mean_utilization(tried.limit) <= one.high
        for one, tried in zip(intervals, chosen, strict=True)
    ]
    assert np.mean(held) >= 0.95 - 3 * (0.95 * 0.05 / SEEDS) ** 0.5
    # The choice among several buffers makes the mean too good by less than half the half-width.
    off = [
        one.mean - mean_utilization(tried.limit)
        for one, tried in zip(intervals, chosen, strict=True)
    ]
    assert abs(np.mean(off)) <= 0.5 * np.mean([one.half_width for one in intervals])


def test_stopping_early_does_not_bias_the_answer() -> None:
    """Against searches that take all 32 runs of every buffer, by the mean logarithm."""
    early, full = (np.log(limits(answers(all_runs=choice))) for choice in (False, True))
    error = 3 * np.sqrt((early.var() + full.var()) / SEEDS)
    assert abs(early.mean() - full.mean()) <= error + 0.005
    # Half a standard deviation of a run is what 32 of them show: 6 % in the limit.
    assert EDGE <= exp(early.mean()) <= EDGE * exp(0.5 * SPREAD / SLOPE) * 1.05


def test_stopping_early_saves_more_than_half_of_the_runs() -> None:
    early, full = (
        np.mean([one.runs for one in answers(all_runs=choice)]) for choice in (False, True)
    )
    assert early < full / 2


@pytest.mark.parametrize("seed", range(10))
def test_two_targets_are_met_between_their_edges(seed: int) -> None:
    """The delay asks for at most 499 packets, the utilization for 430 and what noise adds."""
    found = search([FULL, QUICK], seed)
    assert found.answer is not None
    assert EDGE * 0.97 <= found.answer <= 500
    quick = feasible_limits(QUICK, found.tried, LINK)
    assert quick.low == 0
    assert found.answer <= quick.high < 505


def test_targets_apart_conflict_and_each_edge_is_found() -> None:
    quick = parse_target("queue_delay_s_p99 <= 3 ms")
    found = search([FULL, quick], 1)
    assert found.answer is None
    full, fast = (feasible_limits(target, found.tried, LINK) for target in (FULL, quick))
    assert EDGE * 0.97 <= full.low <= EDGE * 1.12
    assert 240 <= fast.high <= 252


def test_a_sharp_edge_is_found_to_the_precision_whatever_its_shape() -> None:
    """A straight line between far points misleads: most of the rise is at the edge."""

    def look(limits: Sequence[int]) -> list[Tried]:
        tried = []
        for limit in limits:
            value = 0.5 if limit < 1000 else 0.99 + 1e-6 * limit
            point: Any = type("Runs", (), {"values": lambda _, _name, value=value: [value] * 4})()
            tried.append(Tried(limit, point, {FULL: Outcome(value >= 0.98)}))
        return tried

    one = Search([FULL], look, lambda chosen: chosen, precision=0.001, limits=(1, 10**6))
    one.run(10, 100_000)
    assert one.answer is not None
    assert 1000 <= one.answer <= 1001
    assert len(one.tried) < 40


def test_half_and_twice_the_answer_are_tried_too() -> None:
    found = search([FULL], 3)
    assert found.answer is not None
    ratios = [one.limit / found.answer for one in found.tried]
    assert any(0.4 <= ratio <= 0.63 for ratio in ratios)
    assert any(1.6 <= ratio <= 2.5 for ratio in ratios)


def test_nothing_is_tested_beyond_the_largest_limit_that_is_allowed() -> None:
    """Twice the answer may be more than a queue takes."""
    found = search([FULL], 3, largest=round(1.5 * EDGE))
    assert found.answer is not None
    assert max(one.limit for one in found.tried) == round(1.5 * EDGE)
