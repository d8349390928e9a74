"""Inverse regression: at which setting the mean of a noisy quantity crosses a bound.

The logarithm of the mean is a parabola over the logarithm of the setting, fitted by
quasi-likelihood with a constant coefficient of variation (McCullagh and Nelder, "Generalized Linear
Models", 2nd ed., ch. 9), which fits the mean of the values, not of their logarithms, and admits
zeros. The crossing has Fieller's interval: all settings at which the confidence interval of the
fitted mean contains the bound (Fieller, "Some problems in interval estimation", J. Royal Stat. Soc.
B 16(2), 1954). A straight line would need fewer runs, but means bend; a test for the bend that
chooses between the two costs more coverage than the bend (`tests/test_inverse_regression.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from tailroom.field_docs import with_field_docs
from tailroom.statistics.distributions import f_quantile, student_quantile

Floats = NDArray[np.float64]

STEPS = 400
"""Number of steps in which the range of the settings is searched for the crossing."""
ROUNDS = 40
"""Maximum number of rounds of reweighting; a fit that needs more has no solution."""
CONVERGED = 1e-9
"""Change of the coefficients at which a fit has converged."""
COEFFICIENTS = 3
"""Height, slope and bend of the parabola; whether it fits only more settings can tell."""
LARGEST_STEP = 2.0
"""Largest change of a coefficient in a round, so that a bad start does not overflow."""
MISFIT_CONFIDENCE = 0.99
"""Confidence with which the means at the settings depart from a fit that is refused."""


@with_field_docs
@dataclass(frozen=True)
class Crossing:
    """The setting at which the mean crosses the bound, with its confidence interval."""

    estimate: float
    """Setting at which the fitted mean equals the bound."""
    low: float
    """Smallest setting in the interval."""
    high: float
    """Largest setting in the interval."""

    @property
    def half_width(self) -> float:
        """Half of the width of the interval on the logarithmic scale: about a relative error."""
        return log(self.high / self.low) / 2


@dataclass(frozen=True)
class Fit:
    """The fitted logarithm of the mean over the logarithm of the setting."""

    centre: float
    """Logarithm of the setting at which the parabola has its height and slope."""
    coefficients: Floats
    """Height, slope and bend at the centre; shape (3,)."""
    covariance: Floats
    """Covariance of the coefficients; shape (3, 3)."""
    degrees_of_freedom: int
    """Number of values less that of coefficients."""

    def crossing(self, bound: float, low: float, high: float, confidence: float) -> Crossing | None:
        """Returns where the mean crosses a bound.

        Args:
            bound: The bound, above 0.
            low: Smallest setting in question, above 0.
            high: Largest setting in question.
            confidence: Confidence level of the interval, in (0, 1).

        Returns:
            The crossing; `None` if its interval is no single interval within the range.
        """
        x = np.linspace(log(low), log(high), STEPS + 1)
        columns = _columns(x - self.centre)
        above = columns @ self.coefficients - log(bound)
        error = np.sqrt(np.einsum("ij,jk,ik->i", columns, self.covariance, columns))
        width = student_quantile(self.degrees_of_freedom, 0.5 + confidence / 2) * error
        ends = [_only_root(x, above + side * width) for side in (-1, 0, 1)]
        first, middle, last = (None if end is None else exp(end) for end in ends)
        if first is None or middle is None or last is None:
            return None
        return Crossing(middle, min(first, last), max(first, last))


def fit_mean(settings: Sequence[float], values: Sequence[float] | Floats) -> Fit | None:
    """Fits the mean of a quantity over a setting.

    Args:
        settings: The setting of each run, above 0.
        values: The quantity in each run.

    Returns:
        The fit; `None` if there are fewer than four settings or too few runs, if the values do not
        scatter, or if the means depart from a parabola.
    """
    x, y = np.log(settings), np.asarray(values, dtype=float)
    places = np.unique(x).size
    if places <= COEFFICIENTS or y.size < places + COEFFICIENTS or not y.mean() > 0:
        return None
    centre = float(x.mean())
    columns = _columns(x - centre)
    inverse = np.asarray(np.linalg.pinv(columns.T @ columns), dtype=np.float64)
    coefficients = _solved(columns, inverse, y)
    if coefficients is None:
        return None
    residuals = _residuals(columns, coefficients, y)
    if _departs(x, residuals):
        return None
    freedom = y.size - COEFFICIENTS
    constant = inverse * float(residuals @ residuals) / freedom
    # The spread may differ between settings (HC3: MacKinnon and White 1985).
    leverage = np.einsum("ij,jk,ik->i", columns, inverse, columns)
    weighted = columns * (residuals / np.maximum(1 - leverage, 1e-3))[:, None]
    varying = inverse @ (weighted.T @ weighted) @ inverse
    larger = max(constant, varying, key=np.trace)
    return Fit(centre, coefficients, larger, freedom) if np.trace(larger) > 0 else None


def _columns(x: Floats) -> Floats:
    return np.vander(x, COEFFICIENTS, increasing=True)


def _solved(columns: Floats, inverse: Floats, y: Floats) -> Floats | None:
    """The coefficients at which the relative residuals are orthogonal to the columns."""
    coefficients = np.zeros(COEFFICIENTS)
    coefficients[0] = log(float(y.mean()))
    for _ in range(ROUNDS):
        step = inverse @ (columns.T @ _residuals(columns, coefficients, y))
        coefficients += np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        if np.abs(step).max() < CONVERGED:
            return coefficients
    return None


def _residuals(columns: Floats, coefficients: Floats, y: Floats) -> Floats:
    """The differences from the fitted means, relative to these."""
    residuals: Floats = y / np.exp(np.clip(columns @ coefficients, -700, 700)) - 1
    return residuals


def _departs(x: Floats, residuals: Floats) -> bool:
    """Whether the means at the settings depart from the fit by more than chance (F test)."""
    places, index = np.unique(x, return_inverse=True)
    counts = np.bincount(index)
    means = np.bincount(index, residuals) / counts
    over, within = places.size - COEFFICIENTS, x.size - places.size
    pure = float(((residuals - means[index]) ** 2).sum()) / within
    lacking = float((counts * means**2).sum()) / over
    return lacking > pure * f_quantile(over, within, MISFIT_CONFIDENCE)


def _only_root(x: Floats, height: Floats) -> float | None:
    """Where a function changes its sign, if it does so once; linear between steps."""
    signs = height > 0
    changes = np.flatnonzero(signs[1:] != signs[:-1])
    if changes.size != 1:
        return None
    at = int(changes[0])
    part = height[at] / (height[at] - height[at + 1])
    return float(x[at] + part * (x[at + 1] - x[at]))
