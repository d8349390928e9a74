"""The search for the smallest sufficient buffer by regression: runs of all buffers near it count.

`crates/tailroom-rules/src/size_search` says which runs are wanted next, from all runs so far, and
refuses what the fit cannot answer, with the reason; `search.py` then takes over.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tailroom import _engine
from tailroom.field_docs import with_field_docs
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.known import (
    Evidence,
    FittedMean,
    Tried,
    largest_missing,
    smallest_sufficient,
)
from tailroom.studies.size_study.search import Stage, evenly_spread, far_from
from tailroom.studies.size_study.stopping import (
    EARLY_CONFIDENCE,
    FIRST_RUNS,
    Verdicts,
    confirmed,
    next_look,
)
from tailroom.studies.size_study.targets import Target

REACH = 1.6
"""Factor from the crossing up to which values enter a fit, as in the rules."""
FEW = 10
"""Most whole values within this reach for which the fit does not decide alone: over so few packets,
a mean need not be smooth."""
NO_CROSSING = "the answer is not within the tested values"
"""What the rules say if the means of all values are on the same side of their bounds."""


@with_field_docs
@dataclass(frozen=True)
class Crossing:
    """The value at which the mean of a metric crosses a bound, with its confidence interval."""

    estimate: float
    """Value at which the fitted mean equals the bound."""
    low: float
    """Smallest value in the interval."""
    high: float
    """Largest value in the interval."""

    def in_whole_steps(self, answer: int) -> "Crossing":
        """Returns the interval of the smallest whole value that suffices.

        A mean that crosses its bound between two steps makes the upper one the smallest that
        suffices: rounded up, the interval holds that value exactly where this one holds the
        crossing. The answer is its upper end.

        Args:
            answer: The smallest value above this interval that may be an answer, in steps.
        """
        return Crossing(ceil(self.estimate), ceil(self.low), max(ceil(self.high), answer))


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
        is_counted: bool = True,
        known: Mapping[int, Tried] | None = None,
        groups: Sequence[str] = (),
    ) -> None:
        """Starts without buffers.

        Args:
            targets: The targets that the buffer must meet.
            simulate: Simulates buffers, given by their limits with the number of runs of each.
            precision: Half-width of the answer's interval, relative to the answer.
            limits: Smallest and largest limit that may be tested, in packets, at least 1.
            max_seeds: Maximum number of runs of a buffer.
            is_counted: Whether the answer may be any whole number; otherwise it has three digits.
            known: Values that were tested before; the fits judge them too.
            groups: Groups whose draws are control variates of the fits, at most two.
        """
        self.targets = targets
        self.limits = limits
        self.tried: dict[int, Tried] = {}
        self.stage: Stage = "search"
        self.interval: Crossing | None = None
        """Where the means cross their bounds, with its interval, in steps (of a limit, packets)."""
        self.runs_left = 0
        """Estimate of the number of runs that will still be performed, for a progress bar."""
        self.confirming: int | None = None
        """The answer, from when on it is repeated."""
        self._known = known or {}
        self._groups = groups
        self._max_seeds = max_seeds
        self._simulate = simulate
        self._question = {
            "targets": [_asked(target) for target in targets],
            "precision": precision,
            "smallest": limits[0],
            "largest": limits[1],
            "max_seeds": max_seeds,
            "is_whole": is_counted,
        }

    def run(self, low: int, high: int, grid_points: int) -> None:
        """Searches the answer from a bracket, in packets; then tests half and twice the answer.

        Args:
            low: Lower end of the bracket.
            high: Upper end of the bracket.
            grid_points: Number of buffers with which the search begins.

        Raises:
            Refused: The regression cannot answer.
        """
        start = {
            "limits": evenly_spread(low, high, grid_points),
            "known": {limit: len(tried.point.finished) for limit, tried in self.tried.items()},
        }
        aside: list[int] = []
        while (step := self._step(start))["wanted"]:
            self.stage, self.runs_left = step["stage"], step["runs_left"]
            wanted = {int(limit): runs for limit, runs in step["wanted"].items()}
            if self.stage == "confirm" and self.confirming is None:
                # What the answer shows apart from itself does not wait for its confirmation.
                (self.confirming,) = wanted
                aside = far_from({*self.tried, *wanted}, self.confirming, self.limits)
                wanted |= dict.fromkeys(aside, FIRST_RUNS)
            self._add(wanted)
        if step["refused"]:
            raise Refused(self._in_words(step["refused"]))
        crossings = [found and Crossing(**found) for found in step["crossings"]]
        self._check_fits(crossings, step["fitted"], aside)
        self._check_ends(Crossing(**step["interval"]), step["answer"])
        self._judge(crossings, step["fitted"])
        self.interval = Crossing(**step["interval"])
        self.runs_left = 0
        # The answer may have needed no repetition, or may be another one after it.
        if aside := far_from(self.tried, step["answer"], self.limits):
            self.stage = "neighbours"
            self._add(dict.fromkeys(aside, FIRST_RUNS))
            self._judge(crossings, step["fitted"])

    @property
    def answer(self) -> int | None:
        """The smallest tested limit that meets every target, in packets; `None` if none does."""
        return smallest_sufficient(self.tried.values(), self.targets)

    @property
    def too_small(self) -> int:
        """The largest limit below the answer that is known to miss a target; 0 if none is known."""
        return largest_missing(self.tried.values(), self.targets)

    def _step(self, start: Mapping[str, object]) -> dict[str, Any]:
        """The next runs, or the end of the search, by the runs so far."""
        runs = {
            limit: [tried.point.values(target.metric) for target in self.targets]
            for limit, tried in self.tried.items()
        }
        variates = {
            limit: tried.point.deviations(self._groups)
            for limit, tried in self.tried.items()
            if self._groups
        }
        question = json.dumps({**self._question, **start, "runs": runs, "variates": variates})
        return dict(json.loads(_engine.size_search_step(question)))

    def _in_words(self, reason: str) -> str:
        """The reason of a refusal; where no mean crosses its bound, on which side all of them are.

        The other search may still find an answer, which needs more confidence than a mean has.
        """
        if reason != NO_CROSSING:
            return reason
        for target in self.targets:
            if all(one.margin(target) < 0 for one in self.tried.values()):
                return f"every value tested for it misses {target} in the mean"
        return "every value tested for it meets all targets in the mean"

    def _add(self, totals: Mapping[int, int]) -> None:
        """Simulates buffers until each has a number of runs, and judges what is clear from them.

        Raises:
            Refused: Values are only lower bounds, which those of small buffers are more often.
        """
        for one in self._simulate(totals):
            for target in self.targets:
                interval = one.interval(target.metric, EARLY_CONFIDENCE)
                if interval.is_lower_bound:
                    raise Refused(f"some values of {target.metric} are only lower bounds")
                if one.verdicts.get(target, Outcome.OPEN) is Outcome.OPEN:
                    one.learn(target, target.outcome(interval), Evidence.FIRST_RUNS)
            self.tried[one.limit] = one

    def _check_fits(
        self,
        crossings: Sequence[Crossing | None],
        means: Sequence[Mapping[str, Mapping[str, float]]],
        aside: Collection[int] = (),
    ) -> None:
        """Checks that the runs of no value contradict a fit, by its verdict or by its mean.

        Args:
            crossings: Where each target crosses its bound.
            means: The fitted means of each target.
            aside: Values that only show what other choices cost.

        Raises:
            Refused: There is such a value.
        """
        for target, crossing, fitted in zip(self.targets, crossings, means, strict=True):
            for one in self._every if crossing else ():
                if one.limit in aside:
                    continue
                by_fit = crossing and _verdict(one.limit, crossing)
                is_other = by_fit is Outcome.YES and one.verdicts.get(target) is Outcome.NO
                if mean := fitted.get(str(one.limit)):
                    own = one.interval(target.metric, EARLY_CONFIDENCE)
                    is_other |= own.low > mean["high"] or own.high < mean["low"]
                if is_other:
                    raise Refused(f"runs at {one.limit:,} contradict the fit of {target.metric}")

    def _check_ends(self, interval: Crossing, answer: int) -> None:
        """Checks few values by their own runs: the answer suffices, what is below is too small.

        Raises:
            Refused: The runs show that one of the two does not hold, or do not decide.
        """
        if interval.estimate * (REACH - 1 / REACH) > FEW:
            return
        self.stage, self.runs_left = "confirm", 0
        below = ceil(interval.low) - 1
        for limit, wanted in ((answer, Outcome.YES), (below, Outcome.NO)):
            if limit < self.limits[0]:
                continue
            if self._by_own_runs(limit) is not wanted:
                is_so = "suffices" if wanted is Outcome.YES else "is too small"
                raise Refused(f"the runs of {limit:,} alone do not show that it {is_so}")

    def _by_own_runs(self, limit: int) -> Outcome:
        """Whether a value meets all targets, by its runs alone, of which it gets more if needed."""
        most = self._max_seeds
        verdicts = Verdicts(self.targets, most)
        count = len(self.tried[limit].point.finished) if limit in self.tried else 0
        self._add({limit: max(count, min(FIRST_RUNS, most))})
        one = self.tried[limit]
        while verdicts.look(one.point.values):
            self._add({limit: next_look(len(one.point.finished), most)})
        for target, outcome in verdicts.given.items():
            one.learn(target, outcome, Evidence.RUNS)
        return Outcome.of_all(verdicts.given.values())

    def _judge(
        self,
        crossings: Sequence[Crossing | None],
        means: Sequence[Mapping[str, Mapping[str, float]]],
    ) -> None:
        """Judges all values by the fits, and by their own runs for a target without a fit."""
        for target, crossing, fitted in zip(self.targets, crossings, means, strict=True):
            for one in self._every:
                runs = one.point.values(target.metric)
                if crossing is None:
                    one.learn(target, confirmed(target, runs), Evidence.RUNS)
                    continue
                outcome, mean = _verdict(one.limit, crossing), fitted.get(str(one.limit))
                by_fit = FittedMean.of(**mean, count=len(runs)) if mean else None
                # Far from the crossing an interval is wide, and the place next to it decides.
                is_shown = by_fit is not None and target.outcome(by_fit) is outcome
                one.learn(target, outcome, Evidence.FIT, by_fit if is_shown else None)

    @property
    def _every(self) -> list[Tried]:
        """All tested values, of this search or before it."""
        return list({**self._known, **self.tried}.values())


def _verdict(limit: int, crossing: Crossing) -> Outcome:
    if limit >= crossing.high:
        return Outcome.YES
    return Outcome.NO if limit <= crossing.low else Outcome.OPEN


def _asked(target: Target) -> dict[str, object]:
    return {
        "text": str(target),
        "metric": target.metric,
        "at_least": target.at_least,
        "bound": target.bound,
        "highest": metric_of(target.metric).highest,
    }
