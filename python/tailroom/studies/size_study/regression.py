"""The search for the smallest sufficient buffer by regression: runs of all buffers near it count.

A coarse scan shows where a target begins to be met. Near that limit, the mean of the target's
metric is fitted over the limit (`statistics/inverse_regression.py`), runs are added where they
tell most about the crossing, and the answer is the end of the crossing's interval. The search
refuses what the fit cannot answer, with the reason; `search.py` then takes over.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, log

import numpy as np

from tailroom.simulation.metric_catalogue import metric_of
from tailroom.statistics.inverse_regression import Crossing, Floats, fit_mean
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.search import (
    Stage,
    Tried,
    evenly_spread,
    far_from,
    largest_missing,
    smallest_sufficient,
)
from tailroom.studies.size_study.stopping import EARLY_CONFIDENCE, FIRST_RUNS, confirmed
from tailroom.studies.size_study.targets import Target

FIT_CONFIDENCE = 0.985
"""Confidence of the crossing's interval by a single fit. Runs are added until the interval is
narrow, which selects fits with a small scatter: over repeated searches, at least 95 % of the
intervals hold the truth (`tests/test_size_regression.py`)."""
WINDOW = 1.6
"""Buffers within this factor of the crossing enter the fit."""
SPAN = 4.0
"""Buffers whose mean is within this factor of the bound enter the fit."""
FLANKS = 1.4
"""Factor from the crossing to the buffers that show slope and bend."""
FLANK_SHARE = 0.2
"""Runs at each flank, relative to those at the crossing, where they tell most about it."""
SAME = 1.05
"""A buffer that has been simulated stands for the crossing if it is within this factor of it."""
SAME_FLANK = 1.15
"""The same for a flank, whose place matters less."""
FIRST_AT_EACH = 2
"""Runs at the crossing and at each flank before the first fit."""
FEWEST_FITTED = 12
"""Minimum number of runs in a fit that ends the search: fewer estimate the scatter badly."""
RUNS_FOR_A_PACKET = 80
"""Number of runs in a fit up to which an interval of less than a packet is narrowed further."""
RUNS_AT_ANSWER = 8
"""Runs of the answer, which must not contradict the fit, and show what the answer costs."""
BUFFERS_WORTH = 6
"""The fit may take the runs of this many buffers with the maximum number of seeds."""
WIDER = 4
"""Factor by which the scan goes beyond an end of the tested buffers."""
MOST_WIDENINGS = 4
"""Number of times that the scan does so at most."""


class Refused(Exception):  # noqa: N818 - not an error: the other search takes over
    """The regression cannot answer; the message says why."""


class Regression:
    """The search by regression."""

    def __init__(  # noqa: PLR0913 - keyword arguments
        self,
        targets: Sequence[Target],
        simulate: Callable[[Mapping[int, int]], Iterable[Tried]],
        *,
        precision: float,
        limits: tuple[int, int],
        max_seeds: int,
        rounded_up: Callable[[float], int] = ceil,
    ) -> None:
        """Starts without buffers.

        Args:
            targets: The targets that the buffer must meet.
            simulate: Simulates buffers, given by their limits with the number of runs of each.
            precision: Half-width of the answer's interval, relative to the answer.
            limits: Smallest and largest limit that may be tested, in packets, at least 1.
            max_seeds: Maximum number of runs of a buffer.
            rounded_up: Returns the next value above another that may be an answer.
        """
        self.targets = targets
        self.precision = precision
        self.limits = self.smallest, self.largest = limits
        self.max_seeds = max_seeds
        self.rounded_up = rounded_up
        self.tried: dict[int, Tried] = {}
        self.stage: Stage = "search"
        self.interval: Crossing | None = None
        """The smallest sufficient value with its interval, in steps: of a limit, in packets."""
        self.runs_left = 0
        """Estimate of the number of runs that will still be performed, for a progress bar."""
        self._simulate = simulate

    def run(self, low: int, high: int, grid_points: int) -> None:
        """Searches the answer from a bracket, in packets; then tests half and twice the answer.

        Args:
            low: Lower end of the bracket.
            high: Upper end of the bracket.
            grid_points: Number of buffers with which the search begins.

        Raises:
            Refused: The regression cannot answer.
        """
        self._scan(evenly_spread(low, high, grid_points))
        binding = self._binding()
        self._finish({target: self._cross(target, place) for target, place in binding.items()})

    @property
    def answer(self) -> int | None:
        """The smallest tested limit that meets every target, in packets; `None` if none does."""
        return smallest_sufficient(self.tried.values(), self.targets)

    @property
    def too_small(self) -> int:
        """The largest limit below the answer that is known to miss a target; 0 if none is known."""
        return largest_missing(self.tried.values(), self.targets)

    def _scan(self, limits: Sequence[int]) -> None:
        """Simulates few runs of each buffer, and of further ones until all targets are met.

        Raises:
            Refused: The buffers do not enclose the answer, or a target has no crossing that a fit
                can find.
        """
        self.runs_left = FIRST_RUNS * (len(limits) + 2)
        self._add(dict.fromkeys(limits, FIRST_RUNS))
        for _ in range(MOST_WIDENINGS):
            for target in self.targets:
                self._check_shape(target)
            beyond = self._beyond()
            if beyond is None:
                return
            self._add({beyond: FIRST_RUNS})
        raise Refused("the answer is not within the tested values")

    def _beyond(self) -> int | None:
        """A limit beyond the tested ones, if these do not enclose the answer by their means."""
        small, large = self._sorted()[0], self._sorted()[-1]
        for target in self.targets:
            if all(one.margin(target) < 0 for one in self.tried.values()):
                is_rising = large.margin(target) > small.margin(target)
                return WIDER * large.limit if is_rising else small.limit // WIDER
        is_met = all(small.margin(target) >= 0 for target in self.targets)
        return small.limit // WIDER if is_met else None

    def _check_shape(self, target: Target) -> None:
        """Checks that a target has a crossing that a fit can find.

        Raises:
            Refused: The bound is an end of the metric's range, or the target is met, missed and met
                again.
        """
        if _bound(target) <= 0:
            raise Refused(f"{target} allows no deviation")
        outcomes = [one.verdicts[target] for one in self._sorted()]
        decided = [outcome for outcome in outcomes if outcome is not Outcome.OPEN]
        if sum(one is not other for one, other in pairwise(decided)) > 1:
            raise Refused(f"{target} is not monotone")

    def _binding(self) -> dict[Target, float]:
        """The targets that may decide on the answer, with about the limit that each needs.

        Raises:
            Refused: There are none, the runs of one are equal, or another target is met by smaller
                buffers only.
        """
        places = {
            target: place for target in self.targets if (place := self._rough_crossing(target))
        }
        if not places:
            raise Refused("no target begins to be met within the tested values")
        largest = max(places.values())
        for target in self.targets:
            if (most := self._rough_end(target)) and WINDOW * most < largest:
                raise Refused(f"{target} is met by smaller values only")
        binding = {target: at for target, at in places.items() if at * WINDOW >= largest}
        for target in binding:
            if all(np.ptp(one.point.values(target.metric)) == 0 for one in self._sorted()):
                raise Refused(f"{target.metric} is the same in runs with different seeds")
        return binding

    def _rough_crossing(self, target: Target) -> float | None:
        """About the smallest limit that meets a target; `None` if no smaller mean misses it."""
        for small, large in reversed(list(pairwise(self._sorted()))):
            if small.margin(target) < 0 <= large.margin(target):
                return _between(small, large, target)
        return None

    def _rough_end(self, target: Target) -> float | None:
        """About the largest limit that meets a target; `None` if no larger mean misses it."""
        for small, large in pairwise(self._sorted()):
            if small.margin(target) >= 0 > large.margin(target):
                return _between(small, large, target)
        return None

    def _cross(self, target: Target, place: float) -> Crossing:
        """Adds runs around a target's crossing until its interval is narrow.

        Raises:
            Refused: The means depart from the fit, or scatter too much.
        """
        # A parabola needs four buffers.
        step = FLANKS ** (1 / 3)
        wanted = [(place * step**at, SAME, FIRST_AT_EACH) for at in (-3, -1, 1, 3)]
        while True:
            is_added = self._add_near(wanted)
            fitted = self._near(target, place)
            crossing = self._crossing(target, fitted)
            runs = sum(map(_runs, fitted))
            if crossing and runs >= FEWEST_FITTED and self._is_narrow(crossing, runs):
                return crossing
            if not is_added or runs >= self.max_seeds * (BUFFERS_WORTH if crossing else 2):
                if crossing:
                    return crossing
                raise Refused(f"{target.metric} departs from the fitted curve")
            place = crossing.estimate if crossing else self._rough_crossing(target) or place
            more = self._runs_wanted(crossing, runs)
            self.runs_left = more + RUNS_AT_ANSWER
            flank = max(1, round(more * FLANK_SHARE / (1 + 2 * FLANK_SHARE)))
            wanted = [
                (place / FLANKS, SAME_FLANK, flank),
                (place, SAME, more - 2 * flank),
                (place * FLANKS, SAME_FLANK, flank),
            ]

    def _runs_wanted(self, crossing: Crossing | None, runs: int) -> int:
        """Number of further runs that should make the interval narrow, at most as many again."""
        if crossing is None:
            return 3 * FIRST_AT_EACH
        ratio = crossing.half_width / self.precision
        wanted = max(ceil(runs * (ratio**2 - 1)), FEWEST_FITTED - runs)
        if crossing.high - crossing.low < 1:
            wanted = max(wanted, runs // 2)
        return min(max(wanted, 2 * FIRST_AT_EACH), runs)

    def _is_narrow(self, crossing: Crossing, runs: int) -> bool:
        """Whether an interval is as narrow as wanted, or leaves only one number of packets.

        An interval of less than a packet that leaves two gets some more runs.
        """
        if ceil(crossing.low) == ceil(crossing.high):
            return True
        is_within_a_packet = crossing.high - crossing.low < 1
        enough = FEWEST_FITTED if not is_within_a_packet else RUNS_FOR_A_PACKET
        return crossing.half_width <= self.precision and runs >= enough

    def _near(self, target: Target, place: float) -> list[Tried]:
        """The buffers near a crossing."""
        bound = _bound(target)
        return [
            one
            for one in self._sorted()
            if place / WINDOW <= one.limit <= place * WINDOW
            and bound / SPAN <= _values(target, one).mean() <= SPAN * bound
        ]

    def _crossing(self, target: Target, buffers: Sequence[Tried]) -> Crossing | None:
        """The crossing by the runs of some buffers; `None` if the fit does not say."""
        if len(buffers) < 2 or buffers[0].margin(target) >= buffers[-1].margin(target):
            return None
        settings = [one.limit for one in buffers for _ in range(_runs(one))]
        values = np.concatenate([_values(target, one) for one in buffers])
        fit = fit_mean(settings, values)
        ends = buffers[0].limit, buffers[-1].limit
        return fit.crossing(_bound(target), *ends, FIT_CONFIDENCE) if fit else None

    def _finish(self, crossings: dict[Target, Crossing]) -> None:
        """Simulates the answer, and half and twice of it, and judges all buffers.

        Raises:
            Refused: The answer is beyond the largest limit, or its runs contradict the fit, or do
                not show that a target without a fit is met.
        """
        ends = list(crossings.values())
        self.interval = Crossing(
            max(end.estimate for end in ends),
            max(end.low for end in ends),
            max(end.high for end in ends),
        )
        answer = self.rounded_up(self.interval.high)
        if answer > self.largest:
            raise Refused("the answer is beyond the largest value in question")
        self.stage, self.runs_left = "confirm", RUNS_AT_ANSWER
        for target in self.targets:
            self._check_answer(answer, target, has_fit=target in crossings)
        self.stage = "beside"
        self._add(dict.fromkeys(far_from(self.tried, answer, self.limits), FIRST_RUNS))
        self.runs_left = 0
        for tried in self.tried.values():
            for target in self.targets:
                tried.verdicts[target] = (
                    _verdict(tried.limit, crossings[target])
                    if target in crossings
                    else confirmed(target, tried.point.values(target.metric))
                )

    def _check_answer(self, answer: int, target: Target, *, has_fit: bool) -> None:
        """Checks that the runs of the answer do not contradict a fit, or show what has none.

        Raises:
            Refused: They contradict it, or do not show that the target is met.
        """
        for runs in (RUNS_AT_ANSWER, self.max_seeds):
            self._add({answer: min(runs, self.max_seeds)})
            outcome = confirmed(target, self.tried[answer].point.values(target.metric))
            if outcome is Outcome.YES or (has_fit and outcome is Outcome.OPEN):
                return
        raise Refused(f"its own runs do not show that the answer meets {target}")

    def _add_near(self, wanted: Sequence[tuple[float, float, int]]) -> bool:
        """Adds runs at or near limits; returns whether any buffer had room.

        Args:
            wanted: Limits, the factor within which a tested one stands for each, and its runs.
        """
        totals: dict[int, int] = {}
        for where, same, more in wanted:
            limit = self._with_room(where, same)
            if limit is not None:
                before = _runs(self.tried[limit]) if limit in self.tried else 0
                totals[limit] = min(max(totals.get(limit, 0), before) + more, self.max_seeds)
        self._add(totals)
        return bool(totals)

    def _with_room(self, place: float, same: float) -> int | None:
        """A limit near a place that may still get runs, if possible a tested one."""
        near = [limit for limit in self.tried if place / same <= limit <= place * same]
        new = range(floor(place / SAME), ceil(place * SAME) + 1)
        allowed = [
            limit
            for limit in dict.fromkeys([*near, *new])
            if self.smallest <= limit <= self.largest
            and (limit not in self.tried or _runs(self.tried[limit]) < self.max_seeds)
        ]
        return min(
            allowed, key=lambda limit: (limit not in near, abs(log(limit / place))), default=None
        )

    def _add(self, totals: Mapping[int, int]) -> None:
        """Simulates buffers until each has a number of runs, and judges what is clear from them."""
        allowed = {
            min(max(limit, self.smallest), self.largest): runs for limit, runs in totals.items()
        }
        for one in self._simulate(allowed):
            for target in self.targets:
                if one.verdicts.get(target, Outcome.OPEN) is Outcome.OPEN:
                    interval = one.interval(target.metric, EARLY_CONFIDENCE)
                    one.verdicts[target] = target.outcome(interval)
            self.tried[one.limit] = one

    def _sorted(self) -> list[Tried]:
        return [self.tried[limit] for limit in sorted(self.tried)]


def _runs(tried: Tried) -> int:
    return len(tried.point.finished)


def _between(small: Tried, large: Tried, target: Target) -> float:
    """The limit at which the line between two means, over the logarithm, meets the bound."""
    part = small.margin(target) / (small.margin(target) - large.margin(target))
    return float(small.limit * (large.limit / small.limit) ** part)


def _verdict(limit: int, crossing: Crossing) -> Outcome:
    if limit >= crossing.high:
        return Outcome.YES
    return Outcome.NO if limit <= crossing.low else Outcome.OPEN


def _reference(target: Target) -> float | None:
    """The highest value of a share that shall be large: the fit is of what is missing to it.

    The logarithm of what is missing is nearly straight over that of the limit.
    """
    return metric_of(target.metric).highest if target.at_least else None


def _bound(target: Target) -> float:
    """The bound of a target on the scale of the fit."""
    highest = _reference(target)
    return target.bound if highest is None else highest - target.bound


def _values(target: Target, tried: Tried) -> Floats:
    """The metric of a target in the runs of a buffer, on the scale of the fit."""
    values = np.asarray(tried.point.values(target.metric), dtype=float)
    highest = _reference(target)
    return values if highest is None else highest - values
