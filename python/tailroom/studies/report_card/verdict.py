"""Verdicts of a report card, from confidence intervals and thresholds."""

from dataclasses import dataclass
from enum import StrEnum
from math import hypot, inf

from tailroom.field_docs import with_field_docs
from tailroom.statistics.intervals import Interval
from tailroom.studies.report_card.criteria import Criterion


class Verdict(StrEnum):
    """The result of a criterion."""

    PASS = "pass"
    """Not worse than the references by more than the threshold allows."""
    CAUTION = "caution"
    """Significantly worse than the references."""
    UNDECIDED = "undecided"
    """A confidence interval contains a threshold; more runs may be conclusive."""
    FAIL = "fail"
    """So much worse that the criterion counts as not met."""


SEVERITY = (Verdict.PASS, Verdict.CAUTION, Verdict.FAIL)
"""The conclusive verdicts, from the best to the worst."""


@with_field_docs
@dataclass(frozen=True)
class Judgement:
    """The best and the worst verdict that the intervals allow."""

    best: Verdict
    """Best verdict that the intervals allow."""
    worst: Verdict
    """Worst verdict that the intervals allow."""

    @property
    def is_decided(self) -> bool:
        """Whether only one verdict is possible."""
        return self.best == self.worst

    @property
    def verdict(self) -> Verdict:
        """The only possible verdict, else undecided."""
        return self.best if self.is_decided else Verdict.UNDECIDED

    def __str__(self) -> str:
        """The verdict; if it is undecided, with the possible verdicts."""
        if self.is_decided:
            return str(self.verdict)
        between = SEVERITY[SEVERITY.index(self.best) : SEVERITY.index(self.worst) + 1]
        return f"{self.verdict} ({' or '.join(between)})"


def judge(criterion: Criterion, value: Interval | None, reference: Interval | None) -> Judgement:
    """Compares a value with the worse of the references.

    A threshold is conclusive if the 95 % confidence interval of the distance to it lies on one
    side. For a threshold that depends on the reference, the distance is value - factor * reference;
    its half-width is the root of the sum of squares of both half-widths, as the runs are
    independent.

    Args:
        criterion: The criterion with its thresholds.
        value: The quantity of the control over its runs; `None` if no run defines it, which fails
            unless the references do not define it either.
        reference: The quantity of the worse reference; `None` if no run defines it.
    """
    if value is None:
        verdict = Verdict.FAIL if reference is not None else Verdict.PASS
        return Judgement(verdict, verdict)
    if reference is None:
        return Judgement(Verdict.PASS, Verdict.PASS)
    sign = 1 if criterion.better == "higher" else -1
    harmless = Interval(sign * (criterion.harmless - value.mean), value.half_width, value.count)
    caution = _excess(criterion, criterion.caution, value, reference)
    failure = _excess(criterion, criterion.failure, value, reference)
    best = _verdict(harmless.low, caution.low, failure.low)
    return Judgement(best, _verdict(harmless.high, caution.high, failure.high))


def _verdict(over_harmless: float, over_caution: float, over_failure: float) -> Verdict:
    """The verdict from the distance beyond each threshold; values up to 0 are within it."""
    if over_harmless <= 0 or over_caution <= 0:
        return Verdict.PASS
    return Verdict.CAUTION if over_failure <= 0 else Verdict.FAIL


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
    if abs(mean) <= 1e-12 * max(abs(value.mean), abs(reference.mean)):
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
