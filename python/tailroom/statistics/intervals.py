"""Confidence intervals of means over independent runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import scipy
from numpy.typing import ArrayLike

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and the half-width of its confidence interval."""

    mean: float
    half_width: float
    """Infinite for a single value."""
    count: int
    """Number of independent values."""

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width


def mean_interval(values: Sequence[float] | ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Returns the mean of independent values with its interval by Student's t distribution.

    Args:
        values: At least one value.
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
    # Differences from the first value: equal values give width 0 despite rounding.
    apart = array - array[0]
    error = float(np.std(apart, ddof=1)) / sqrt(count)
    # scipy.stats takes half a second to load; this is its quantile of Student's t.
    quantile = float(scipy.special.stdtrit(count - 1, 0.5 + confidence / 2))
    return Interval(float(array[0] + np.mean(apart)), quantile * error, count)
