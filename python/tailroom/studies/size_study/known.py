"""What is known of each tested value: whether it meets each target, and by which evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import nan, sqrt
from typing import Any

import numpy as np

from tailroom.execution.point import Point
from tailroom.field_docs import with_field_docs
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.statistics.intervals import CONFIDENCE, Interval
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.targets import Target


class Evidence(Enum):
    """What a verdict on a value rests on."""

    FIRST_RUNS = "first runs"
    """The first runs of the value, with 99.5 % confidence. A value that meets a target by them may
    have been lucky among several: the verdict may be revised until the search has ended."""
    RUNS = "runs"
    """All runs of the value."""
    FIT = "fit"
    """The fit to the runs of all values near the answer."""


@with_field_docs
@dataclass(frozen=True)
class FittedMean(Interval):
    """A mean by the fit to the runs of several values, with its interval.

    The end of the interval that meets the target has a confidence of 98.5 %, the other one of 95 %,
    as those of the interval of the answer: near the answer, the interval of a mean contains the
    bound exactly where that of the answer contains the value.
    """

    fitted_low: float = nan
    """Lower end of the interval."""
    fitted_high: float = nan
    """Upper end of the interval."""

    @classmethod
    def of(cls, mean: float, low: float, high: float, count: int) -> "FittedMean":
        """A fitted mean.

        Args:
            mean: The mean.
            low: Lower end of its interval.
            high: Upper end of its interval.
            count: Number of runs of the fit at this value.
        """
        return cls(mean, (high - low) / 2, count, fitted_low=low, fitted_high=high)

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.fitted_low

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.fitted_high

    @property
    def arms(self) -> tuple[float, float]:
        """Distances from the mean to the lower and the upper end."""
        return self.mean - self.fitted_low, self.fitted_high - self.mean


@with_field_docs
@dataclass
class Tried:
    """A tested value, its runs, and what is known of it.

    `learn` alone changes the verdicts, and never takes a decided one back.
    """

    limit: int
    """Queue limit, in packets; of another key, its value in steps."""
    point: Point
    """The scenario with this value, and its runs."""
    verdicts: dict[Target, Outcome] = field(default_factory=dict)
    """Whether each target is met."""
    evidence: dict[Target, Evidence] = field(default_factory=dict)
    """What each verdict rests on; the runs of the value, if a target is left out."""
    fitted: dict[Target, FittedMean] = field(default_factory=dict)
    """The mean of a target's metric by the fit, where the fit decides and includes this value."""

    def learn(
        self,
        target: Target,
        outcome: Outcome,
        evidence: Evidence,
        fitted: FittedMean | None = None,
    ) -> None:
        """Notes a verdict, unless there is one that is not to be revised.

        Args:
            target: The target.
            outcome: Whether it is met.
            evidence: What the verdict rests on.
            fitted: The mean by the fit, if the verdict rests on one.
        """
        if self.is_decided(target):
            return
        self.verdicts[target], self.evidence[target] = outcome, evidence
        if fitted:
            self.fitted[target] = fitted

    def is_decided(self, target: Target) -> bool:
        """Whether the verdict on a target is not to be revised.

        A value that misses a target by its first runs stays what it is; one that meets it may be
        selected for that, and is then repeated.

        Args:
            target: The target.
        """
        outcome = self.verdicts.get(target, Outcome.OPEN)
        is_early = self.evidence.get(target) is Evidence.FIRST_RUNS
        return outcome is Outcome.NO or (outcome is Outcome.YES and not is_early)

    def settle(self) -> None:
        """Notes that a verdict by the first runs will not be revised."""
        for target, evidence in self.evidence.items():
            if evidence is Evidence.FIRST_RUNS:
                self.evidence[target] = Evidence.RUNS

    def interval(self, metric: str, confidence: float = CONFIDENCE) -> Interval:
        """Mean of a metric over the runs of this value with its interval, in its unit."""
        return metric_interval(metric, self.point.values(metric), confidence)

    def margin(self, target: Target) -> float:
        """Distance of the mean from a target's bound, in its unit; negative if it misses."""
        return target.margin(self.interval(target.metric).mean)

    def shown_mean(self, target: Target) -> float:
        """The mean of a target's metric by what decides on it: the fit, or the runs of the value.

        Args:
            target: The target.
        """
        return (self.fitted.get(target) or self.interval(target.metric)).mean

    def spread(self, target: Target) -> float:
        """Standard deviation of a target's metric over the runs."""
        return float(np.std(self.point.values(target.metric), ddof=1))

    def standard_error(self, target: Target) -> float:
        """Standard error of the mean of a target's metric."""
        return self.spread(target) / sqrt(len(self.point.values(target.metric)))

    @property
    def verdict(self) -> Outcome:
        """Whether all targets are met."""
        return self.verdict_on(self.verdicts)

    def verdict_on(self, targets: Iterable[Target]) -> Outcome:
        """Whether these targets are met.

        Args:
            targets: Targets on which there are verdicts.
        """
        return Outcome.of_all(self.verdicts.get(target, Outcome.OPEN) for target in targets)

    def meets(self, target: Target) -> bool:
        """Whether a target is known to be met.

        Args:
            target: A target on which there is a verdict.
        """
        return self.verdicts[target] is Outcome.YES


def smallest_sufficient(tried: Iterable[Tried], targets: Sequence[Target]) -> int | None:
    """The smallest value that meets these targets, in steps; `None` if no tested value does."""
    met = (one.limit for one in tried if one.verdict_on(targets) is Outcome.YES)
    return min(met, default=None)


def largest_missing(tried: Iterable[Tried], targets: Sequence[Target]) -> int:
    """The largest value below all sufficient values that is known to miss a target, in steps.

    0 if there is none.
    """
    tried = list(tried)
    good = smallest_sufficient(tried, targets)
    missing = (one.limit for one in tried if one.verdict_on(targets) is Outcome.NO)
    return max((limit for limit in missing if good is None or limit < good), default=0)


class Known:
    """What is known of every tested value; progress, table and answer read it.

    It only grows: a search that gives up leaves what it has learned to the next one. A value that
    *seems* to suffice is not known to: it may have been lucky, and more runs of it may say so.
    """

    def __init__(self, targets: Sequence[Target], point_of: Callable[[int], Point]) -> None:
        """Begins without values.

        Args:
            targets: All targets, the bound on the loss that `size` adds included.
            point_of: Returns the point of a value, without runs.
        """
        self.targets = tuple(targets)
        self.tried: dict[int, Tried] = {}
        """Every tested value with what is known of it."""
        self._point_of = point_of

    def __getitem__(self, limit: int) -> Tried:
        """A value, which is new if it was not tested before."""
        if limit not in self.tried:
            self.tried[limit] = Tried(limit, self._point_of(limit))
        return self.tried[limit]

    def judged(self, targets: Sequence[Target]) -> dict[int, Tried]:
        """The values that have a clear verdict on each of some targets.

        Args:
            targets: The targets.
        """
        clear = (Outcome.YES, Outcome.NO)
        return {
            limit: one
            for limit, one in self.tried.items()
            if all(one.verdicts.get(target) in clear for target in targets)
        }

    def settle(self) -> None:
        """Notes that the search has ended: what seemed to suffice is not repeated."""
        for one in self.tried.values():
            one.settle()

    @property
    def met(self) -> tuple[int, ...]:
        """The values that are known to meet every target, in ascending order."""
        return tuple(
            limit
            for limit, one in sorted(self.tried.items())
            if one.verdict_on(self.targets) is Outcome.YES
            and all(map(one.is_decided, self.targets))
        )

    @property
    def missed(self) -> tuple[int, ...]:
        """The values that are known to miss a target, in ascending order."""
        return tuple(
            limit
            for limit, one in sorted(self.tried.items())
            if one.verdict_on(self.targets) is Outcome.NO
        )

    @property
    def smallest_seeming(self) -> int | None:
        """The smallest value that meets every target by its runs so far, known or not."""
        return smallest_sufficient(self.tried.values(), self.targets)

    @property
    def too_small(self) -> int:
        """The largest value below all that seem to suffice which misses a target; 0 without one."""
        good = self.smallest_seeming
        return 0 if good is None else max((one for one in self.missed if one < good), default=0)


def shown_interval(tried: Tried, metric: str, targets: Mapping[str, Target]) -> Interval:
    """The mean of a metric by what decides on it: the fit, or the runs of the value.

    Args:
        tried: The value.
        metric: Full name of the metric.
        targets: The targets by the full names of their metrics.
    """
    target: Any = targets.get(metric)
    return tried.fitted.get(target) or tried.interval(metric)
