"""Claims, and the checks that decide them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from tailroom.reproduction.found import Found
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
    stated: str
    """The paper's statement: "above 90 %"."""
    measured: Interval | float | None
    """`None` if the number is undefined in every run."""
    holds: bool | None
    """`None` if the confidence interval does not decide it."""
    percent: bool = False
    """Whether reports show the number in percent."""


@dataclass(frozen=True)
class Judgement:
    """The sides of a claim, and the explanation of their results."""

    checks: tuple[Check, ...]
    why: str

    @property
    def verdict(self) -> Verdict:
        """Holds if every side holds; does not hold if no side holds and at least one fails."""
        found = {check.holds for check in self.checks}
        if found == {True}:
            return Verdict.HOLDS
        fails = True not in found and False in found
        return Verdict.DOES_NOT_HOLD if fails else Verdict.IN_PART


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the function that judges it."""

    name: str
    text: str
    """The paper's words, or close to them."""
    place: str
    """Place of the words in the paper: "Sec. III-A, Figure 3"."""
    judge: Callable[[Found], Judgement]


def above(
    what: str, measured: Interval | None, bound: float, stated: str = "", *, percent: bool = False
) -> Check:
    """Whether a mean lies above a bound, as far as its confidence interval tells."""
    holds = None if measured is None else _decided(measured.low >= bound, measured.high < bound)
    return Check(what, stated or f"above {shown(bound, percent)}", measured, holds, percent)


def below(
    what: str, measured: Interval | None, bound: float, stated: str = "", *, percent: bool = False
) -> Check:
    """Whether a mean lies below a bound, as far as its confidence interval tells."""
    holds = None if measured is None else _decided(measured.high <= bound, measured.low > bound)
    return Check(what, stated or f"below {shown(bound, percent)}", measured, holds, percent)


def between(  # noqa: PLR0913 - each says one thing about a check
    what: str,
    measured: Interval | None,
    low: float,
    high: float,
    stated: str = "",
    *,
    percent: bool = False,
) -> Check:
    """Whether a mean lies between two bounds, as far as its confidence interval tells."""
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
    """A side that the caller has decided; `condition` is `None` if it is undecided."""
    return Check(what, stated, measured, condition, percent)


def shown(value: Interval | float | None, percent: bool = False) -> str:
    """Formats a number for reports, with the half-width of its interval."""
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
    return {verdict: sum(found.verdict is verdict for found in judgements) for verdict in Verdict}


def _decided(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None
