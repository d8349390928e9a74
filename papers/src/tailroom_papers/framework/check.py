"""Checks: a number of the paper compared with a measured number."""

from dataclasses import dataclass
from math import isfinite

from tailroom.field_docs import with_field_docs
from tailroom.statistics.bound import Bound
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome
from tailroom_papers.framework.bounds import NamedBound

SIGNIFICANCE = 0.05
"""Largest p-value with which a side counts as decided."""


@with_field_docs
@dataclass(frozen=True)
class Check:
    """One side of a claim: a number of the paper and the measured number."""

    what: str
    """The quantity, in a few words: "utilization with a buffer of 0.1 bdp". Unique in a claim."""
    stated: str
    """The paper's statement: "above 90 %"."""
    measured: Interval | float | None
    """The measured number; `None` if it is undefined in every run."""
    bound: Bound | None = None
    """The range in which the measured number lies, if the side holds."""
    is_strict: bool = False
    """Whether a number at the bound is outside: a difference of 0 is neither more nor less."""
    condition: Outcome = Outcome.OPEN
    """Whether the side holds, if it is no comparison of a number with a bound."""
    percent: bool = False
    """Whether reports show the number in percent."""
    named: NamedBound | None = None
    """The bound as `bounds.toml` has it."""
    adjusted_p: float | None = None
    """The p-value, adjusted for the number of sides of the paper."""
    depends_on: tuple[str, ...] = ()
    """Variations of what the paper leaves open with which the side turns into its opposite."""

    @property
    def is_test(self) -> bool:
        """Whether the side is a statistical test: a mean of several runs against bounds."""
        measured = self.measured
        return self.bound is not None and isinstance(measured, Interval) and measured.count > 1

    @property
    def p_value(self) -> float:
        """The p-value of the test that the true mean is the nearest bound.

        It is at most 5 % if the 95 % interval of the mean does not contain a bound, and 0 for a
        number that is not a mean of runs.
        """
        if self.bound is None or not isinstance(self.measured, Interval):
            return 0.0
        return self.bound.p_value(self.measured)

    @property
    def holds(self) -> Outcome:
        """Whether the number agrees with the statement.

        A side is open if its (adjusted) p-value exceeds 5 %, or if it turns into its opposite
        with a variation of what the paper leaves open.
        """
        return Outcome.OPEN if self.depends_on else self.holds_at_base

    @property
    def holds_at_base(self) -> Outcome:
        """The same, without regard to variations."""
        return self._decided(self.p_value if self.adjusted_p is None else self.adjusted_p)

    @property
    def holds_alone(self) -> Outcome:
        """The same, by the p-value of this side without adjustment."""
        return self._decided(self.p_value)

    def _decided(self, p_value: float) -> Outcome:
        if self.bound is None:
            return self.condition
        if self.measured is None or p_value > SIGNIFICANCE:
            return Outcome.OPEN
        number = self.measured.mean if isinstance(self.measured, Interval) else self.measured
        is_at_bound = self.is_strict and number in (self.bound.low, self.bound.high)
        return Outcome(self.bound.contains(number) and not is_at_bound)


def above(
    what: str,
    measured: Interval | float | None,
    bound: NamedBound | float,
    stated: str = "",
    *,
    percent: bool | None = None,
) -> Check:
    """Checks whether a mean lies above a bound.

    Args:
        what: The quantity, in a few words.
        measured: Mean with its interval, or a number without uncertainty (of a model); `None` if
            it is undefined in every run.
        bound: The bound, in the unit of the mean.
        stated: The paper's statement; "above BOUND" if left out.
        percent: Whether reports show the numbers in percent; as the bound says if left out.
    """
    number, named, in_percent = _number(bound, percent)
    words = f"above {shown(number, in_percent)}"
    text = stated or _stated(named, words)
    return Check(what, text, measured, Bound(low=number), percent=in_percent, named=named)


def below(
    what: str,
    measured: Interval | float | None,
    bound: NamedBound | float,
    stated: str = "",
    *,
    percent: bool | None = None,
) -> Check:
    """Checks whether a mean lies below a bound.

    Args:
        what: The quantity, in a few words.
        measured: Mean with its interval, or a number without uncertainty (of a model); `None` if
            it is undefined in every run.
        bound: The bound, in the unit of the mean.
        stated: The paper's statement; "below BOUND" if left out.
        percent: Whether reports show the numbers in percent; as the bound says if left out.
    """
    number, named, in_percent = _number(bound, percent)
    words = f"below {shown(number, in_percent)}"
    text = stated or _stated(named, words)
    return Check(what, text, measured, Bound(high=number), percent=in_percent, named=named)


def between(  # noqa: PLR0913 - a check has these parts
    what: str,
    measured: Interval | float | None,
    low: float | NamedBound,
    high: float | None = None,
    stated: str = "",
    *,
    percent: bool | None = None,
) -> Check:
    """Checks whether a mean lies between two bounds.

    Args:
        what: The quantity, in a few words.
        measured: Mean with its interval, or a number without uncertainty (of a model); `None` if
            it is undefined in every run.
        low: Lower bound, in the unit of the mean; or a bound that is a range.
        high: Upper bound, in the unit of the mean, if `low` is a number.
        stated: The paper's statement; "LOW to HIGH" if left out.
        percent: Whether reports show the numbers in percent; as the bound says if left out.

    Raises:
        ValueError: An end of the range is missing.
    """
    named = low if isinstance(low, NamedBound) else None
    ends = low.values if isinstance(low, NamedBound) else (low, high)
    if len(ends) != 2 or ends[1] is None:
        raise ValueError(f"{what}: the range {ends} does not have two ends; give both")
    least, most = ends[0], ends[1]
    in_percent = _in_percent(named, percent)
    words = f"{shown(least, in_percent)} to {shown(most, in_percent)}"
    text = stated or _stated(named, words)
    return Check(what, text, measured, Bound(least, most), percent=in_percent, named=named)


def is_true(
    what: str,
    stated: str,
    condition: bool | None,
    measured: Interval | float | None = None,
    *,
    percent: bool = False,
) -> Check:
    """Returns a check of yes or no that the caller has decided.

    Args:
        what: The quantity or question, in a few words.
        stated: The paper's statement.
        condition: Whether the statement is true; `None` if that is undecided.
        measured: The number behind the decision, if there is one.
        percent: Whether reports show the number in percent.
    """
    return Check(what, stated, measured, condition=Outcome(condition), percent=percent)


def shown(value: Interval | float | None, percent: bool = False) -> str:
    """Formats a number for reports, with its interval.

    Args:
        value: A mean with its interval, or a number; `None` is shown as "undefined".
        percent: Whether the number is shown in percent.
    """
    if value is None:
        return "undefined"
    scale, unit = (100.0, " %") if percent else (1.0, "")
    if not isinstance(value, Interval):
        return f"{scale * value:.4g}{unit}"
    text = f"{scale * value.mean:.4g}"
    if not isfinite(value.half_width) or value.count < 2:
        return f"{text}{unit} (one run)"
    arms = value.plus_minus(lambda length: f"{scale * length:.2g}")
    return f"{text} {arms.replace('±', '± ')}{unit}"


def _number(
    bound: NamedBound | float, percent: bool | None
) -> tuple[float, NamedBound | None, bool]:
    """The number, the bound if it is named, and whether reports show the number in percent."""
    named = bound if isinstance(bound, NamedBound) else None
    number = bound.value if isinstance(bound, NamedBound) else bound
    return number, named, _in_percent(named, percent)


def _in_percent(bound: NamedBound | None, percent: bool | None) -> bool:
    if percent is None:
        return bound is not None and bound.percent
    return percent


def _stated(bound: NamedBound | None, comparison: str) -> str:
    """The paper's words, and how they are read if they are not the number itself."""
    if bound is None:
        return comparison
    return f"{bound.words} ({comparison})" if bound.reason else bound.words
