"""Confidence intervals of means over independent runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import scipy
from numpy.typing import ArrayLike

from tailroom.field_docs import with_field_docs

CONFIDENCE = 0.95
"""Default confidence level of all intervals."""


@with_field_docs
@dataclass(frozen=True)
class Interval:
    """A mean and the half-width of its confidence interval."""

    mean: float
    """Mean of the values, in their unit."""
    half_width: float
    """Half of the width of the 95 % interval, in the unit of the values; infinite for a single
    value."""
    count: int
    """Number of independent values."""

    @property
    def low(self) -> float:
        """Lower end: mean minus half-width."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end: mean plus half-width."""
        return self.mean + self.half_width

    def p_value(self, hypothesis: float) -> float:
        """Returns the two-sided p-value of Student's t test of a mean.

        Args:
            hypothesis: The tested mean, in the unit of the values.

        Returns:
            The p-value, in [0, 1]; 1 for a single value. It is below 5 % if and only if the 95 %
            interval does not contain the tested mean.
        """
        if self.count < 2 or self.mean == hypothesis:
            return 1.0
        if self.half_width == 0:
            return 0.0
        quantile = float(scipy.special.stdtrit(self.count - 1, 0.5 + CONFIDENCE / 2))
        t = abs(self.mean - hypothesis) / (self.half_width / quantile)
        return float(2 * scipy.special.stdtr(self.count - 1, -t))


def mean_interval(values: Sequence[float] | ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Returns the mean of independent values with its interval by Student's t distribution.

    The half-width is t s / sqrt(n), with the sample standard deviation s of n values and the
    quantile t of Student's distribution with n - 1 degrees of freedom.

    Args:
        values: At least one value, in one dimension.
        confidence: Confidence level in (0, 1).

    Raises:
        ValueError: There are no values.
    """
    array = np.asarray(values, dtype=float)
    count = array.size
    if count == 0:
        raise ValueError("values: is empty; give at least one value")
    if count == 1:
        return Interval(float(array[0]), inf, 1)
    # With differences from the first value, equal values have width 0 despite rounding.
    differences = array - array[0]
    standard_error = float(np.std(differences, ddof=1)) / sqrt(count)
    # The quantile of Student's t as in scipy.stats, whose import takes half a second.
    quantile = float(scipy.special.stdtrit(count - 1, 0.5 + confidence / 2))
    return Interval(float(array[0] + np.mean(differences)), quantile * standard_error, count)
