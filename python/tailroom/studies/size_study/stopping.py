"""When to stop repeating a run: a sequential test of a mean against a bound.

The mean is compared with the bound after 4, 6, 8, 12, 16, 20, ... runs. A comparison before the
last run needs an interval of 99.5 % confidence, the comparison after the last run one of 95 %,
because looking repeatedly makes chance look like evidence. From the eighth run on, the test also
gives up (the verdict stays open) if the runs that are left would decide it with a probability below
10 %: near the bound, half of the runs would otherwise be spent on means that no affordable number
tells apart. For normal values, the probability of a wrong verdict is at most 2.5 % on either side,
whatever the mean; `tests/test_stopping.py` measures it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
import scipy.special

from tailroom.statistics.intervals import CONFIDENCE, mean_interval
from tailroom.studies.size_study.targets import Target

FIRST_RUNS = 4
"""Runs before anything is concluded."""
EARLY_CONFIDENCE = 0.995
"""Confidence of every verdict before the last run, as there are several looks."""
CONFIRMING_RUNS = 16
"""Runs that a buffer has at least before it is the answer, if so many are allowed."""
GIVE_UP_FROM = 8
"""Runs before a verdict is given up as open: fewer tell the spread badly."""
GIVE_UP_BELOW = 0.1
"""A verdict is given up if further runs decide it with a smaller probability."""


@dataclass(frozen=True)
class State:
    """What the runs so far say about a goal."""

    verdict: bool | None
    """Whether the goal is met; `None` if the runs do not decide it."""
    wants_more: bool
    """Whether further runs are worth their time."""


def next_look(count: int, at_most: int) -> int:
    """How many runs the next comparison needs: two more up to 8 runs, then a quarter more."""
    if count < FIRST_RUNS:
        return FIRST_RUNS
    step = 2 if count < GIVE_UP_FROM else max(4, count // 8 * 2)
    return min(count + step, at_most)


def judge(goal: Target, values: Sequence[float], at_most: int) -> State:
    """Compares the mean of all runs so far with the bound of a goal.

    Args:
        goal: The bound and its side.
        values: Of independent runs, at least two; their number is one of the `next_look`s.
        at_most: The number of runs after which the test ends.
    """
    is_last = len(values) >= at_most
    confidence = CONFIDENCE if is_last else EARLY_CONFIDENCE
    verdict = goal.verdict(mean_interval(values, confidence))
    if verdict is not None or is_last:
        return State(verdict, wants_more=False)
    hopeless = len(values) >= GIVE_UP_FROM and _chance(goal, values, at_most) < GIVE_UP_BELOW
    return State(None, wants_more=not hopeless)


def confirmed(goal: Target, values: Sequence[float]) -> bool | None:
    """The verdict on all runs of a buffer that was chosen, with 95 % confidence.

    A buffer chosen among several for its good runs owes part of them to chance; further runs, up to
    `CONFIRMING_RUNS`, take that part away.
    """
    return goal.verdict(mean_interval(values, CONFIDENCE))


class Verdicts:
    """What the runs of one buffer say about each goal; a verdict that was given stands."""

    def __init__(self, goals: Iterable[Target], at_most: int) -> None:
        """Before the first run; `at_most` is the number of runs after which every test ends."""
        self._goals = tuple(goals)
        self._at_most = at_most
        self._states: dict[Target, State] = {}

    def look(self, values: Callable[[str], Sequence[float]]) -> bool:
        """Judges the goals that are open, and says whether further runs are worth their time.

        Args:
            values: Gives the values of a metric in all runs so far.
        """
        for goal in self._goals:
            if goal not in self._states or self._states[goal].wants_more:
                self._states[goal] = judge(goal, values(goal.metric), self._at_most)
        return any(state.wants_more for state in self._states.values())

    @property
    def given(self) -> dict[Target, bool | None]:
        """Whether each goal is met; `None` where the runs do not decide it."""
        return {goal: state.verdict for goal, state in self._states.items()}


def _chance(goal: Target, values: Sequence[float], at_most: int) -> float:
    """Probability that the last comparison decides, if mean and spread stay as they are."""
    array = np.asarray(values, dtype=float)
    spread = float(array.std(ddof=1))
    if spread == 0:
        # The mean is on the bound, and stays there.
        return 0.0
    left = at_most - array.size
    quantile = float(scipy.special.stdtrit(at_most - 1, 0.5 + CONFIDENCE / 2))
    needed = quantile * spread / sqrt(at_most)
    # The mean of all is that of the first plus that of the rest, which is still to be drawn.
    wobble = spread * sqrt(left) / at_most
    margin = abs(goal.margin(float(array.mean())))
    return 0.5 * erfc((needed - margin) / (wobble * sqrt(2)))
