"""Student's t, F and Poisson distributions, without SciPy, which is as large as all else together.

Student's t and F are those of `crates/tailroom-rules`. Poisson's follows from the regularized
incomplete gamma function, whose continued fraction is evaluated by the modified Lentz algorithm
(Press et al., "Numerical Recipes", 3rd ed., sec. 5.2 and 6.2). Relative errors are below 1e-10.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from math import exp, lgamma, log

from tailroom import _engine

TINY = 1e-300
"""Stands for a denominator of 0."""
PRECISION = 1e-16
"""Relative change at which a sum or a fraction has converged."""


@lru_cache(maxsize=1024)
def student_quantile(degrees_of_freedom: float, probability: float) -> float:
    """The value below which Student's t lies with a probability.

    Args:
        degrees_of_freedom: Above 0.
        probability: In [0.5, 1).
    """
    return _engine.student_quantile(degrees_of_freedom, probability)


def student_tail(degrees_of_freedom: float, t: float) -> float:
    """The probability that Student's t is above t, t >= 0."""
    return _engine.student_tail(degrees_of_freedom, t)


@lru_cache(maxsize=1024)
def f_quantile(numerator: float, denominator: float, probability: float) -> float:
    """The value below which F, a ratio of two variances, lies with a probability.

    Args:
        numerator: Degrees of freedom of the numerator.
        denominator: Degrees of freedom of the denominator.
        probability: In (0, 1).
    """
    return _engine.f_quantile(numerator, denominator, probability)


def poisson_up_to(events: int, mean: float) -> float:
    """The probability that a Poisson variable is at most `events`, a number from 0 on."""
    return 1 - _gamma(events + 1, mean) if mean < events + 2 else _gamma_above(events + 1, mean)


def poisson_beyond(events: int, mean: float) -> float:
    """The probability that a Poisson variable is above `events`, a number from 0 on."""
    return _gamma(events + 1, mean) if mean < events + 2 else 1 - _gamma_above(events + 1, mean)


def _gamma(a: float, x: float) -> float:
    """The regularized lower incomplete gamma function P(a, x), by its series."""
    if x == 0:
        return 0.0
    term = total = 1 / a
    for n in count(1):
        term *= x / (a + n)
        total += term
        if not term >= total * PRECISION:  # also of a NaN
            break
    return total * exp(a * log(x) - x - lgamma(a))


def _gamma_above(a: float, x: float) -> float:
    """The regularized upper incomplete gamma function Q(a, x), by its fraction; x >= a + 1."""
    parts = ((-n * (n - a) if n else 1.0, x + 2 * n + 1 - a) for n in count())
    return exp(a * log(x) - x - lgamma(a)) * _fraction(parts)


def _fraction(parts: Iterator[tuple[float, float]]) -> float:
    """The continued fraction a1 / (b1 + a2 / (b2 + ...)) of pairs (a, b)."""
    value = c = TINY
    d = 0.0
    for a, b in parts:
        d = b + a * d or TINY
        c = b + a / c or TINY
        d = 1 / d
        value *= c * d
        if not abs(c * d - 1) >= PRECISION * 4:  # also of a NaN
            break
    return value
