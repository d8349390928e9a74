"""Claims, and the checks that decide them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from tailroom.reproduction.part_results import PartResults
from tailroom.statistics.intervals import Interval


class Verdict(StrEnum):
    """Verdict on a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    DOES_NOT_HOLD = "does not hold"


@dataclass(frozen=True)
class Check:
    """One side of a claim: a number of the paper and the measured number."""

    what: str
    """The quantity, in a few words: "utilization with a buffer of 0.1 bdp"."""
    stated: str
    """The paper's statement: "above 90 %"."""
    measured: Interval | float | None
    """The measured number; `None` if it is undefined in every run."""
    holds: bool | None
    """Whether the number agrees with the statement; `None` if its confidence interval does not
    decide that."""
    percent: bool = False
    """Whether reports show the number in percent."""


@dataclass(frozen=True)
class Judgement:
    """The sides of a claim, and the explanation of their results."""

    checks: tuple[Check, ...]
    """The sides of the claim."""
    why: str
    """The explanation: a paragraph of the report."""

    @property
    def verdict(self) -> Verdict:
        """Holds if every side holds; does not hold if no side holds and at least one fails."""
        outcomes = {check.holds for check in self.checks}
        if outcomes == {True}:
            return Verdict.HOLDS
        fails = True not in outcomes and False in outcomes
        return Verdict.DOES_NOT_HOLD if fails else Verdict.IN_PART


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the function that judges it."""

    name: str
    """Name in `claims.json`, unique in its part."""
    text: str
    """The statement, in the paper's words or close to them."""
    place: str
    """Place of the words in the paper: "Sec. III-A, Figure 3"."""
    judge: Callable[[PartResults], Judgement]
    """Compares the statement with the results of the part's studies."""


def above(
    what: str, measured: Interval | None, bound: float, stated: str = "", *, percent: bool = False
) -> Check:
    """Checks whether a mean lies above a bound.

    The check holds or fails only if the whole interval lies on one side of the bound.

    Args:
        what: The quantity, in a few words.
        measured: Mean with its interval; `None` if it is undefined in every run.
        bound: The bound, in the unit of the mean.
        stated: The paper's statement; "above BOUND" if left out.
        percent: Whether reports show the numbers in percent.
    """
    holds = None if measured is None else _decided(measured.low >= bound, measured.high < bound)
    return Check(what, stated or f"above {shown(bound, percent)}", measured, holds, percent)


def below(
    what: str, measured: Interval | None, bound: float, stated: str = "", *, percent: bool = False
) -> Check:
    """Checks whether a mean lies below a bound.

    The check holds or fails only if the whole interval lies on one side of the bound.

    Args:
        what: The quantity, in a few words.
        measured: Mean with its interval; `None` if it is undefined in every run.
        bound: The bound, in the unit of the mean.
        stated: The paper's statement; "below BOUND" if left out.
        percent: Whether reports show the numbers in percent.
    """
    holds = None if measured is None else _decided(measured.high <= bound, measured.low > bound)
    return Check(what, stated or f"below {shown(bound, percent)}", measured, holds, percent)


def between(  # noqa: PLR0913 - a check has these parts
    what: str,
    measured: Interval | None,
    low: float,
    high: float,
    stated: str = "",
    *,
    percent: bool = False,
) -> Check:
    """Checks whether a mean lies between two bounds.

    The check holds if the whole interval lies between the bounds, and fails if it lies outside.

    Args:
        what: The quantity, in a few words.
        measured: Mean with its interval; `None` if it is undefined in every run.
        low: Lower bound, in the unit of the mean.
        high: Upper bound, in the unit of the mean.
        stated: The paper's statement; "LOW to HIGH" if left out.
        percent: Whether reports show the numbers in percent.
    """
    stated = stated or f"{shown(low, percent)} to {shown(high, percent)}"
    if measured is None:
        return Check(what, stated, None, None, percent)
    inside = low <= measured.low and measured.high <= high
    holds = _decided(inside, measured.high < low or measured.low > high)
    return Check(what, stated, measured, holds, percent)


def is_true(
    what: str,
    stated: str,
    condition: bool | None,
    measured: Interval | float | None = None,
    *,
    percent: bool = False,
) -> Check:
    """Returns a check that the caller has decided.

    Args:
        what: The quantity or question, in a few words.
        stated: The paper's statement.
        condition: Whether the statement is true; `None` if that is undecided.
        measured: The number behind the decision, if there is one.
        percent: Whether reports show the number in percent.
    """
    return Check(what, stated, measured, condition, percent)


def shown(value: Interval | float | None, percent: bool = False) -> str:
    """Formats a number for reports, with the half-width of its interval.

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
    return f"{text} ± {scale * value.half_width:.2g}{unit}"


def count(judgements: Sequence[Judgement]) -> dict[Verdict, int]:
    """Returns the number of claims per verdict."""
    return {
        verdict: sum(judgement.verdict is verdict for judgement in judgements)
        for verdict in Verdict
    }


def _decided(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None
