"""When to stop repeating a run: a sequential test of a mean against a bound.

The mean is compared with the bound after 4, 6, 8, 12, 16, 20, ... runs. A comparison before the
last run requires an interval of 99.5 % confidence and the comparison after the last run one of
95 %, because repeated tests increase the probability of errors. From the eighth run on, the verdict
is left open if the remaining runs would give one with a probability below 10 %: near the bound,
half of the runs would otherwise be spent on means that no affordable number of runs can tell apart.
For normal values, the probability of a wrong verdict is at most 2.5 % on either side for any mean;
`tests/test_stopping.py` measures it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from tailroom.arguments import MAX_SEEDS
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.statistics.distributions import student_quantile
from tailroom.statistics.intervals import CONFIDENCE
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.targets import Target

FIRST_RUNS = int(MAX_SEEDS.least)
"""Number of runs at the first comparison."""
EARLY_CONFIDENCE = 0.995
"""Confidence of every verdict before the last comparison, as there are several comparisons."""
CONFIRMING_RUNS = 16
"""Minimum number of runs of the buffer of the answer, if the maximum is not smaller."""
GIVE_UP_FROM = 8
"""Minimum number of runs before a verdict is left open: fewer runs estimate the spread badly."""
GIVE_UP_BELOW = 0.1
"""A verdict is left open if further runs give one with a smaller probability."""


@dataclass(frozen=True)
class State:
    """The result of comparing the runs so far with a target."""

    outcome: Outcome
    """Whether the target is met."""
    wants_more: bool
    """Whether further runs are likely to give a verdict."""


def next_look(count: int, at_most: int) -> int:
    """Number of runs at the next comparison: two more up to 8 runs, then about a quarter more.

    Args:
        count: Number of runs so far.
        at_most: Number of runs at the last comparison.
    """
    if count < FIRST_RUNS:
        return FIRST_RUNS
    step = 2 if count < GIVE_UP_FROM else max(4, count // 8 * 2)
    return min(count + step, at_most)


def judge(target: Target, values: Sequence[float], at_most: int) -> State:
    """Compares the mean of all runs so far with the bound of a target.

    Args:
        target: The target.
        values: The metric in independent runs, in its own unit, at least two. Their number is one
            that `next_look` returns.
        at_most: Number of runs at the last comparison.
    """
    is_last = len(values) >= at_most
    confidence = CONFIDENCE if is_last else EARLY_CONFIDENCE
    interval = metric_interval(target.metric, values, confidence)
    outcome = target.outcome(interval)
    if outcome is not Outcome.OPEN or is_last or target.needs_an_end(interval):
        return State(outcome, wants_more=False)
    hopeless = len(values) >= GIVE_UP_FROM and _chance(target, values, at_most) < GIVE_UP_BELOW
    return State(Outcome.OPEN, wants_more=not hopeless)


def confirmed(target: Target, values: Sequence[float]) -> Outcome:
    """The outcome of all runs of the buffer of the answer, with 95 % confidence.

    A buffer that was selected for good results owes part of them to chance. Further runs, up to
    `CONFIRMING_RUNS`, reduce this selection bias.
    """
    return target.outcome(metric_interval(target.metric, values, CONFIDENCE))


class Verdicts:
    """The verdicts on each target from the runs of one buffer; a verdict is not revised."""

    def __init__(
        self, targets: Iterable[Target], at_most: int, known: Mapping[Target, Outcome] | None = None
    ) -> None:
        """Starts without runs.

        Args:
            targets: The targets.
            at_most: Number of runs at the last comparison.
            known: Verdicts that there are already, and stay.
        """
        self._targets = tuple(targets)
        self._at_most = at_most
        self._states = {
            target: State(outcome, wants_more=False) for target, outcome in (known or {}).items()
        }

    def look(self, values: Callable[[str], Sequence[float]]) -> bool:
        """Judges the open targets; returns whether further runs are likely to give a verdict.

        Args:
            values: Returns the values of a metric in all runs so far, given its name.
        """
        for target in self._targets:
            if target not in self._states or self._states[target].wants_more:
                self._states[target] = judge(target, values(target.metric), self._at_most)
        return any(state.wants_more for state in self._states.values())

    @property
    def given(self) -> dict[Target, Outcome]:
        """Whether each target is met."""
        return {target: state.outcome for target, state in self._states.items()}


def _chance(target: Target, values: Sequence[float], at_most: int) -> float:
    """Probability of a verdict at the last comparison, if mean and spread do not change."""
    array = np.asarray(values, dtype=float)
    spread = float(array.std(ddof=1))
    if spread == 0:
        # All values equal the bound.
        return 0.0
    left = at_most - array.size
    quantile = student_quantile(at_most - 1, 0.5 + CONFIDENCE / 2)
    needed = quantile * spread / sqrt(at_most)
    # Standard deviation of the mean of all runs due to the runs that are left.
    deviation = spread * sqrt(left) / at_most
    margin = abs(target.margin(float(array.mean())))
    return 0.5 * erfc((needed - margin) / (deviation * sqrt(2)))
