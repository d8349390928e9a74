"""Which buffers to try: the search for the smallest one that meets every goal."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, inf, log, sqrt

import numpy as np

from tailroom.execution.point import Point
from tailroom.statistics.intervals import CONFIDENCE, Interval, mean_interval
from tailroom.studies.size_study.targets import Target

GRID_POINTS = 7
"""Buffers of the first look, evenly spread on a logarithmic scale."""
DECIDABLE = 0.5
"""Standard deviations by which a mean has to clear a bound so that some 32 runs mostly show it."""
BESIDE = (0.5, 2.0)
"""Multiples of the answer that are simulated too, to show what other choices cost."""
NEAR = 1.25
"""A multiple is skipped if a buffer within this factor of it was simulated already."""
LOOKS_PER_EDGE = 3
"""Typical number of buffers that are simulated to find one edge."""


@dataclass
class Tried:
    """A buffer that was simulated."""

    limit: int
    """In packets that wait."""
    point: Point
    verdicts: dict[Target, bool | None] = field(default_factory=dict)
    """Whether each goal is met, with 95 % confidence; `None` if that stays open."""

    def interval(self, metric: str, confidence: float = CONFIDENCE) -> Interval:
        """A metric's mean over the runs, with its interval."""
        return mean_interval(self.point.values(metric), confidence)

    def margin(self, goal: Target) -> float:
        """How far the mean is on the good side of a goal's bound; negative on the other."""
        return goal.margin(self.interval(goal.metric).mean)

    def spread(self, goal: Target) -> float:
        """Standard deviation of a goal's metric over the runs."""
        return float(np.std(self.point.values(goal.metric), ddof=1))

    @property
    def verdict(self) -> bool | None:
        """Whether all goals are met together."""
        if all(self.verdicts.values()):
            return True
        return False if False in self.verdicts.values() else None


@dataclass(frozen=True)
class Feasible:
    """Where a goal is met: between two limits, as far as buffers were tried."""

    goal: Target
    low: float
    """Smallest limit that meets it, in packets; 0 if the smallest that was tried does, infinite if
    none does."""
    high: float
    """Largest limit that meets it; infinite if it is met by the largest that was tried."""
    is_one_interval: bool
    """Whether all buffers tried between the two meet it, or may: where not, it is not monotone."""


def feasible_limits(goal: Target, tried: Sequence[Tried]) -> Feasible:
    """Where a goal is met, as far as buffers were tried."""
    met = [one.limit for one in tried if one.verdicts[goal]]
    if not met:
        return Feasible(goal, inf, inf, is_one_interval=True)
    low, high = min(met), max(met)
    within = [one for one in tried if low <= one.limit <= high]
    return Feasible(
        goal,
        0 if low == tried[0].limit else low,
        inf if high == tried[-1].limit else high,
        is_one_interval=all(one.verdicts[goal] is not False for one in within),
    )


def smallest_sufficient(tried: Iterable[Tried]) -> int | None:
    """The smallest limit that meets every goal; `None` if none of those tried does."""
    return min((one.limit for one in tried if one.verdict), default=None)


def largest_missing(tried: Iterable[Tried]) -> int:
    """The largest limit below all sufficient ones that is known to miss a goal; 0 if none is."""
    tried = list(tried)
    good = smallest_sufficient(tried)
    missing = (one.limit for one in tried if one.verdict is False)
    return max((one for one in missing if good is None or one < good), default=0)


class Search:
    """The buffers tried so far, and the next one to try.

    It looks at a bracket as a whole, widens it where needed, and closes in on the answer: between a
    buffer that misses a goal and one that meets all, the next one is where a straight line between
    their means (over the logarithm of the limit) clears the bound by what the runs can show.
    """

    def __init__(
        self,
        goals: Sequence[Target],
        look: Callable[[Sequence[int]], Iterable[Tried]],
        confirm: Callable[[Tried], Tried],
        *,
        precision: float,
        largest: int,
    ) -> None:
        """Before the first look.

        Args:
            goals: What the buffer is to achieve.
            look: Simulates buffers until their verdicts are clear.
            confirm: Simulates a buffer further, and judges it again.
            precision: Relative tolerance of the answer.
            largest: No limit beyond it is tried.
        """
        self.goals = goals
        self.precision = precision
        self.largest = largest
        self.tried: dict[int, Tried] = {}
        self._simulate = look
        self._confirm = confirm
        self._gaps: list[tuple[int, int]] = []

    def run(self, low: int, high: int) -> None:
        """Finds the answer, or where each goal is met if none meets all; then looks beside it."""
        self._look(_spread(low, high))
        self._widen()
        if self.answer is None:
            self._seek(self.goals)
        if self.answer is None:
            # They conflict: say where each of them is met.
            for goal in self.goals:
                self._seek([goal])
        confirmed = None
        while self.answer is not None:
            self._close_in()
            if self.answer == confirmed:
                return
            confirmed = self.answer
            self.tried[confirmed] = self._confirm(self.tried[confirmed])
            if self.answer == confirmed:
                self._look_beside()

    @property
    def answer(self) -> int | None:
        """The smallest limit tried that meets every goal."""
        return smallest_sufficient(self.tried.values())

    @property
    def too_small(self) -> int:
        """The largest limit below the answer that is known to miss a goal; 0 if none is."""
        return largest_missing(self.tried.values())

    @property
    def looks_left(self) -> int:
        """About how many more buffers will be tried; a guess, for a progress bar."""
        good = self.answer
        if good is None:
            return LOOKS_PER_EDGE * (len(self.goals) + 1)
        bad = max((one for one in self.tried if one < good), default=0)
        is_narrow = good == 1 or (bad and self._is_narrow(self.tried[bad], self.tried[good]))
        return 0 if is_narrow else LOOKS_PER_EDGE + len(BESIDE)

    def _look(self, limits: Iterable[int]) -> None:
        new = [limit for limit in dict.fromkeys(limits) if limit not in self.tried]
        self.tried.update({one.limit: one for one in self._simulate(new)})

    def _widen(self) -> None:
        """Tries larger and smaller buffers while goals that are missed come nearer that way."""
        while self.answer is None and max(self.tried) < self.largest and self._gains(-1, -2):
            self._look([min(4 * max(self.tried), self.largest)])
        while self.answer is None and min(self.tried) > 1 and self._gains(0, 1):
            self._look([min(self.tried) // 4 or 1])

    def _gains(self, at: int, beside: int) -> bool:
        """Whether a goal that an end of the range misses is nearer there than beside it."""
        limits = sorted(self.tried)
        end, inner = self.tried[limits[at]], self.tried[limits[beside]]
        return any(
            end.margin(goal) > inner.margin(goal)
            for goal, verdict in end.verdicts.items()
            if not verdict
        )

    def _close_in(self) -> None:
        """Narrows the gap below the answer to the precision, or to a packet."""
        while (good := self.answer or 0) > 1:
            bad = max((one for one in self.tried if one < good), default=None)
            if bad is None:
                self._look([good // 4 or 1])
            elif self._is_narrow(self.tried[bad], self.tried[good]):
                return
            else:
                self._look([self._inside(self.tried[bad], self.tried[good], self.goals)])

    def _is_narrow(self, bad: Tried, good: Tried) -> bool:
        """Whether a gap is below the precision, or below what the runs can tell apart."""
        if good.limit - bad.limit <= max(1.0, self.precision * good.limit):
            return True
        return bad.verdict is None and log(good.limit / bad.limit) <= self._resolution(bad, good)

    def _resolution(self, open_: Tried, good: Tried) -> float:
        """The difference of logarithmic limits at which runs tell the means of goals apart.

        The slope is that from the largest buffer which certainly misses a goal.
        """
        if not self.too_small:
            return 0.0
        short = self.tried[self.too_small]
        span = log(good.limit / short.limit)
        goals = [goal for goal, verdict in open_.verdicts.items() if verdict is None]
        rises = {goal: good.margin(goal) - short.margin(goal) for goal in goals}
        return min(
            span * DECIDABLE * open_.spread(goal) / rise if rise > 0 else 0.0
            for goal, rise in rises.items()
        )

    def _seek(self, goals: Sequence[Target]) -> None:
        """Looks between neighbours of which each meets what the other misses of these goals.

        For all goals together this is where a buffer may meet them all, for one it is its edge.
        """
        while True:
            gap = self._widest_gap(goals)
            found = self.answer if len(goals) > 1 else None
            if found is not None or gap is None:
                return
            self._look([self._inside(*gap, goals)])

    def _widest_gap(self, goals: Sequence[Target]) -> tuple[Tried, Tried] | None:
        """The neighbours farthest apart that meet all the goals between them, and not alike."""
        gaps = []
        for small, large in pairwise(self.tried[limit] for limit in sorted(self.tried)):
            met = [(bool(small.verdicts[goal]), bool(large.verdicts[goal])) for goal in goals]
            is_edge = all(a or b for a, b in met) and any(a != b for a, b in met)
            if is_edge and large.limit - small.limit > max(1.0, self.precision * large.limit):
                gaps.append((large.limit / small.limit, small, large))
        return max(gaps, key=lambda gap: gap[0])[1:] if gaps else None

    def _look_beside(self) -> None:
        """Tries about half and twice the answer."""
        wanted = [max(1, round(factor * (self.answer or 0))) for factor in BESIDE]
        far = [
            limit
            for limit in wanted
            if not any(limit / NEAR <= one <= limit * NEAR for one in self.tried)
        ]
        self._look(far)

    def _inside(self, small: Tried, large: Tried, goals: Sequence[Target]) -> int:
        """A limit between two others: where the goals that they do not both meet are met."""
        self._gaps.append((small.limit, large.limit))
        part = 0.5 if self._is_slow() else _meeting_place(small, large, goals)
        place = exp(log(small.limit) + part * log(large.limit / small.limit))
        apart = 1 + self.precision
        low = max(small.limit + 1, round(small.limit * apart))
        high = min(large.limit - 1, round(large.limit / apart))
        if low > high:
            return round(sqrt(small.limit * large.limit))
        return min(max(round(place), low), high)

    def _is_slow(self) -> bool:
        """Whether the last two looks have moved the same end: straight lines may creep."""
        last = self._gaps[-3:]
        return len(last) == 3 and (
            len({small for small, _ in last}) == 1 or len({large for _, large in last}) == 1
        )


def _meeting_place(small: Tried, large: Tried, goals: Sequence[Target]) -> float:
    """The part of the way, on a logarithmic scale, from which on the goals are met.

    Where some goals are met from there on and others up to there, it is the first place that meets
    all of them, or half way between the two if there is none.
    """
    rising = [_clears(small, large, goal) for goal in goals if not small.verdicts[goal]]
    falling = [1 - _clears(large, small, goal) for goal in goals if not large.verdicts[goal]]
    first, last = max(rising, default=0.0), min(falling, default=1.0)
    if not rising:
        return last
    return first if first <= last else (first + last) / 2


def _clears(missing: Tried, meeting: Tried, goal: Target) -> float:
    """The part of the way between two buffers at which the mean clears the bound decidedly."""
    short, beyond = missing.margin(goal), meeting.margin(goal)
    if beyond <= short:
        return 0.5
    needed = DECIDABLE * meeting.spread(goal)
    return min(max((needed - short) / (beyond - short), 0.0), 1.0)


def _spread(low: int, high: int) -> list[int]:
    steps = GRID_POINTS - 1
    ratio = log(high / low) / steps
    return [round(low * exp(ratio * step)) for step in range(GRID_POINTS)]
