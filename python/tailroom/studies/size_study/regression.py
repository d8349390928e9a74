"""The search for the smallest sufficient buffer by regression: runs of all buffers near it count.

`crates/tailroom-rules/src/size_search` says which runs are wanted next, from all runs so far, and
refuses what the fit cannot answer, with the reason; `search.py` then takes over.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from tailroom.studies.size_study.stopping import EARLY_CONFIDENCE, FIRST_RUNS, confirmed
from tailroom.studies.size_study.targets import Target

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
        """
        self.targets = targets
        self.limits = limits
        self.tried: dict[int, Tried] = {}
        self.stage: Stage = "search"
        self.interval: Crossing | None = None
        """Where the means cross their bounds, with its interval, in steps (of a limit, packets)."""
        self.runs_left = 0
        """Estimate of the number of runs that will still be performed, for a progress bar."""
        self._known = known or {}
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
        while (step := self._step(start))["wanted"]:
            self.stage, self.runs_left = step["stage"], step["runs_left"]
            self._add({int(limit): runs for limit, runs in step["wanted"].items()})
        if step["refused"]:
            raise Refused(self._in_words(step["refused"]))
        crossings = [found and Crossing(**found) for found in step["crossings"]]
        self._check_fits(crossings)
        self._judge(crossings, step["fitted"])
        self.interval = Crossing(**step["interval"])
        self.stage, self.runs_left = "neighbours", 0
        self._add(dict.fromkeys(far_from(self.tried, step["answer"], self.limits), FIRST_RUNS))
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
        question = json.dumps({**self._question, **start, "runs": runs})
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

    def _check_fits(self, crossings: Sequence[Crossing | None]) -> None:
        """Checks that no value is known to miss a target that it meets by a fit.

        Raises:
            Refused: There is such a value.
        """
        for target, crossing in zip(self.targets, crossings, strict=True):
            for one in self._every:
                is_met = crossing and _verdict(one.limit, crossing) is Outcome.YES
                if is_met and one.verdicts.get(target) is Outcome.NO:
                    raise Refused(f"runs at {one.limit:,} contradict the fit of {target.metric}")

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
