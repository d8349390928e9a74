"""Confidence intervals of means over independent runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import asin, inf, isfinite, pi, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tailroom.field_docs import with_field_docs
from tailroom.statistics.distributions import student_quantile, student_tail

CONFIDENCE = 0.95
"""Default confidence level of all intervals."""
SIMILAR = 0.1
"""Relative difference up to which two arms of an interval are written as one number."""


@with_field_docs
@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval, which does not leave the range of the quantity.

    Without a range, the interval is Student's: the mean plus and minus its half-width. Where only
    one end of the range is finite, that interval is cut there, which loses no coverage, as no mean
    lies beyond. Where both are finite, the interval is the symmetric one on the arcsine scale, on
    which the spread of a fraction hardly depends on its mean: asin(sqrt(x)) of the mean plus and
    minus its half-width by the delta method (Bartlett, "The use of transformations", Biometrics
    3(1), 1947, table 1; Snedecor and Cochran, "Statistical Methods", section on arcsine).
    """

    mean: float
    """Mean of the values, in their unit."""
    half_width: float
    """Half of the width of Student's 95 % interval, in the unit of the values; infinite for a
    single value."""
    count: int
    """Number of independent values."""
    lowest: float = -inf
    """Smallest possible value of the quantity."""
    highest: float = inf
    """Largest possible value of the quantity."""
    is_lower_bound: bool = False
    """Whether some of the values are only lower bounds."""
    most: "Interval | None" = None
    """The interval of what the values are at most, if they are lower bounds; `None` if that is not
    known of all."""

    @property
    def low(self) -> float:
        """Lower end of the interval, at least the smallest possible value."""
        if self._is_on_arcsine_scale:
            return self._at(max(self._angle - self._angle_half_width, 0.0))
        return self.mean - self.arms[0]

    @property
    def high(self) -> float:
        """Upper end of the interval, at most the largest possible value."""
        if self._is_on_arcsine_scale:
            return self._at(min(self._angle + self._angle_half_width, pi / 2))
        return self.mean + self.arms[1]

    @property
    def arms(self) -> tuple[float, float]:
        """Distances from the mean to the lower and the upper end."""
        if self._is_on_arcsine_scale:
            # Rounding may put an end of a very narrow interval on the wrong side.
            return max(self.mean - self.low, 0.0), max(self.high - self.mean, 0.0)
        below, above = max(self.mean - self.lowest, 0.0), max(self.highest - self.mean, 0.0)
        return min(self.half_width, below), min(self.half_width, above)

    @property
    def bar(self) -> tuple[float, float]:
        """The arms as lengths of an error bar: 0 for a single value, which has none."""
        return self.arms if isfinite(self.half_width) else (0.0, 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Mean, half-width and ends for JSON, in the unit of the values; null for a single value.

        A number that is not finite has no place in JSON. `is_lower_bound` is there if it is true.
        """
        has_spread = isfinite(self.half_width)
        ends = (self.half_width, self.low, self.high) if has_spread else (None, None, None)
        numbers = dict(zip(("mean", "half_width", "low", "high"), (self.mean, *ends), strict=True))
        return numbers | ({"is_lower_bound": True} if self.is_lower_bound else {})

    @property
    def _is_on_arcsine_scale(self) -> bool:
        """Whether both ends of the range are finite and the values are not all at one of them."""
        is_bounded = isfinite(self.highest - self.lowest) and isfinite(self.half_width)
        return is_bounded and self.lowest < self.mean < self.highest

    @property
    def _angle(self) -> float:
        return asin(sqrt((self.mean - self.lowest) / (self.highest - self.lowest)))

    @property
    def _angle_half_width(self) -> float:
        """The half-width on the scale, where d asin(sqrt(x)) = dx / (2 sqrt(x (1 - x)))."""
        return self.half_width / (self.highest - self.lowest) / sin(2 * self._angle)

    def _at(self, angle: float) -> float:
        return self.lowest + (self.highest - self.lowest) * sin(angle) ** 2

    def plus_minus(self, write: Callable[[float], str], between: str = " ") -> str:
        """The interval as text next to its mean: `±0.5`, or `+0.2 -0.6`; empty for a single value.

        Arms that differ by less than a tenth are written as one number: the half-width of an
        interval over 30 runs is itself uncertain by a tenth.

        Args:
            write: Writes a length in the unit of the values.
            between: Stands between two arms.
        """
        below, above = self.arms
        if not isfinite(self.half_width):
            return ""
        if abs(above - below) <= SIMILAR * max(above, below):
            return f"±{write((above + below) / 2)}"
        return f"+{write(above)}{between}-{write(below)}"

    def p_value(self, hypothesis: float) -> float:
        """Returns the two-sided p-value of Student's t test of a mean.

        Args:
            hypothesis: The tested mean, in the unit of the values.

        Returns:
            The p-value, in [0, 1]; 1 for a single value. It is below 5 % if and only if Student's
            95 % interval (mean plus and minus half-width) does not contain the tested mean.
        """
        if self.count < 2 or self.mean == hypothesis:
            return 1.0
        if self.half_width == 0:
            return 0.0
        quantile = student_quantile(self.count - 1, 0.5 + CONFIDENCE / 2)
        t = abs(self.mean - hypothesis) / (self.half_width / quantile)
        return 2 * student_tail(self.count - 1, t)


def mean_interval(
    values: Sequence[float] | ArrayLike,
    confidence: float = CONFIDENCE,
    *,
    lowest: float = -inf,
    highest: float = inf,
) -> Interval:
    """Returns the mean of independent values with its interval by Student's t distribution.

    The half-width is t s / sqrt(n), with the sample standard deviation s of n values and the
    quantile t of Student's distribution with n - 1 degrees of freedom.

    Args:
        values: At least one value, in one dimension.
        confidence: Confidence level in (0, 1).
        lowest: Smallest possible value of the quantity.
        highest: Largest possible value of the quantity.

    Raises:
        ValueError: There are no values.
    """
    array = np.asarray(values, dtype=float)
    count = array.size
    if count == 0:
        raise ValueError("values: is empty; give at least one value")
    if count == 1:
        return Interval(float(array[0]), inf, 1, lowest, highest)
    # With differences from the first value, equal values have width 0 despite rounding.
    differences = array - array[0]
    standard_error = float(np.std(differences, ddof=1)) / sqrt(count)
    quantile = student_quantile(count - 1, 0.5 + confidence / 2)
    mean, half_width = float(array[0] + np.mean(differences)), quantile * standard_error
    return Interval(mean, half_width, count, lowest, highest)
