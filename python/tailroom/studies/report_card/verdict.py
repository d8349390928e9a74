"""Grades of a report card, from confidence intervals and thresholds."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import hypot, inf, isfinite

from tailroom.field_docs import with_field_docs
from tailroom.statistics.bound import Bound
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome
from tailroom.studies.report_card.card import Criterion


class Grade(StrEnum):
    """The verdict on a criterion."""

    PASS = "pass"
    """Not worse than the references by more than the threshold allows."""
    CAUTION = "caution"
    """Significantly worse than the references."""
    UNDECIDED = "undecided"
    """A confidence interval contains a threshold; more runs may be conclusive."""
    FAIL = "fail"
    """So much worse that the criterion counts as not met."""


SEVERITY = (Grade.PASS, Grade.CAUTION, Grade.FAIL)
"""The conclusive grades, from the best to the worst."""
WITHIN = Bound(high=0.0)
"""Distances beyond a threshold that are within it."""


@with_field_docs
@dataclass(frozen=True)
class Grading:
    """Whether both thresholds of a criterion are kept, and the grade that follows."""

    passes: Outcome
    """Whether it is not worse than the references by more than the threshold of a caution."""
    is_met: Outcome
    """Whether it is not worse by more than the threshold of a failure."""

    @property
    def best(self) -> Grade:
        """Best grade that the intervals allow."""
        return _grade(self.passes is not Outcome.NO, self.is_met is not Outcome.NO)

    @property
    def worst(self) -> Grade:
        """Worst grade that the intervals allow."""
        return _grade(self.passes is Outcome.YES, self.is_met is Outcome.YES)

    @property
    def is_decided(self) -> bool:
        """Whether only one grade is possible."""
        return self.best == self.worst

    @property
    def grade(self) -> Grade:
        """The only possible grade, else undecided."""
        return self.best if self.is_decided else Grade.UNDECIDED

    def __str__(self) -> str:
        """The grade; if it is undecided, with the possible grades."""
        if self.is_decided:
            return str(self.grade)
        between = SEVERITY[SEVERITY.index(self.best) : SEVERITY.index(self.worst) + 1]
        return f"{self.grade} ({' or '.join(between)})"


def judge(criterion: Criterion, value: Interval | None, reference: Interval | None) -> Grading:
    """Compares a value with the worse of the references.

    A threshold is conclusive if the 95 % confidence interval of the distance to it lies on one
    side, and stays there if what is only a lower bound is as large as it may be. For a threshold
    that depends on the reference, the distance is value - factor * reference; its half-width is the
    root of the sum of squares of both half-widths, as the runs are independent.

    Args:
        criterion: The criterion with its thresholds.
        value: The quantity of what is tested over its runs; `None` if no run defines it, which
            fails unless the references do not define it either.
        reference: The quantity of the worse reference; `None` if no run defines it.
    """
    if value is None or reference is None:
        is_fine = Outcome(reference is None)
        return Grading(is_fine, is_fine)
    gradings = [
        _judge(criterion, one, other) for one, other in product(_ends(value), _ends(reference))
    ]
    passes, is_met = ({getattr(one, name) for one in gradings} for name in ("passes", "is_met"))
    return Grading(*(one.pop() if len(one) == 1 else Outcome.OPEN for one in (passes, is_met)))


def _ends(interval: Interval) -> list[Interval]:
    """An interval, and that of what its values are at most, if they are only lower bounds."""
    if not interval.is_lower_bound:
        return [interval]
    return [interval, interval.most or Interval(inf, 0.0, interval.count)]


def _judge(criterion: Criterion, value: Interval, reference: Interval) -> Grading:
    """Compares two values that are no lower bounds."""
    sign = 1 if criterion.better == "higher" else -1
    harmless = Interval(sign * (criterion.harmless - value.mean), value.half_width, value.count)
    caution = _excess(criterion, criterion.caution, value, reference)
    failure = _excess(criterion, criterion.failure, value, reference)
    passes = Outcome.of_any(map(WITHIN.outcome, (harmless, caution)))
    return Grading(passes, Outcome.of_any((passes, WITHIN.outcome(failure))))


def thresholds(criterion: Criterion, reference: Interval | None) -> tuple[float, float] | None:
    """Returns the worst mean that passes, and the worst that does not fail.

    Args:
        criterion: The criterion with its thresholds.
        reference: The quantity of the worse reference; `None` if no run defines it.

    Returns:
        Two values of the quantity; `None` without a reference.
    """
    if reference is None:
        return None
    more_lenient = min if criterion.better == "higher" else max
    sign = 1 if criterion.better == "higher" else -1
    limits = [
        reference.mean - sign * bound if criterion.by == "difference" else bound * reference.mean
        for bound in (criterion.caution, criterion.failure)
    ]
    passes = more_lenient(criterion.harmless, limits[0])
    return passes, more_lenient(passes, limits[1])


def _grade(passes: bool, is_met: bool) -> Grade:
    if passes:
        return Grade.PASS
    return Grade.CAUTION if is_met else Grade.FAIL


def _excess(criterion: Criterion, bound: float, value: Interval, reference: Interval) -> Interval:
    """Distance of a value beyond a difference or ratio to the reference; positive is worse."""
    sign = 1 if criterion.better == "higher" else -1
    if criterion.by == "difference":
        mean = sign * (reference.mean - value.mean) - bound
        width = hypot(value.half_width, reference.half_width)
    else:
        mean = sign * (bound * reference.mean - value.mean)
        width = hypot(value.half_width, bound * reference.half_width)
    # Rounding errors count as 0.
    if isfinite(mean) and abs(mean) <= 1e-12 * max(abs(value.mean), abs(reference.mean)):
        mean = 0.0
    return Interval(mean, width, min(value.count, reference.count))


def how_much_worse(
    criterion: Criterion, value: Interval | None, reference: Interval | None
) -> float:
    """The difference or ratio of the means of value and reference; larger is worse.

    Infinite if the value is undefined, minus infinity if only the reference is.
    """
    if value is None or reference is None:
        return inf if value is None else -inf
    sign = 1 if criterion.better == "higher" else -1
    if criterion.by == "difference":
        return sign * (reference.mean - value.mean)
    if not reference.mean:
        return -sign * inf
    return -sign * value.mean / reference.mean
