"""Student's t, F and Poisson distributions, without SciPy, which is as large as all else together.

The distribution functions follow from the regularized incomplete beta and gamma functions, whose
continued fractions are evaluated by the modified Lentz algorithm (Press et al., "Numerical
Recipes", 3rd ed., sec. 5.2, 6.2 and 6.4). Relative errors are below 1e-10.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count
from math import exp, inf, lgamma, log, log1p, nextafter

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
    tail = 1 - probability
    return _smallest(lambda t: student_tail(degrees_of_freedom, t) <= tail)


def student_tail(degrees_of_freedom: float, t: float) -> float:
    """The probability that Student's t is above t, t >= 0."""
    part = degrees_of_freedom / (degrees_of_freedom + t * t)
    return 0.5 * _beta(part, degrees_of_freedom / 2, 0.5)


@lru_cache(maxsize=1024)
def f_quantile(numerator: float, denominator: float, probability: float) -> float:
    """The value below which F, a ratio of two variances, lies with a probability.

    Args:
        numerator: Degrees of freedom of the numerator.
        denominator: Degrees of freedom of the denominator.
        probability: In (0, 1).
    """

    def is_enough(ratio: float) -> bool:
        part = denominator / (denominator + numerator * ratio)
        return _beta(part, denominator / 2, numerator / 2) <= 1 - probability

    return _smallest(is_enough)


def poisson_up_to(events: int, mean: float) -> float:
    """The probability that a Poisson variable is at most `events`, a number from 0 on."""
    return 1 - _gamma(events + 1, mean) if mean < events + 2 else _gamma_above(events + 1, mean)


def poisson_beyond(events: int, mean: float) -> float:
    """The probability that a Poisson variable is above `events`, a number from 0 on."""
    return _gamma(events + 1, mean) if mean < events + 2 else 1 - _gamma_above(events + 1, mean)


def _smallest(is_enough: Callable[[float], bool]) -> float:
    """The smallest number from 0 on that is enough, to the last digit, by bisection."""
    low, high = 0.0, 1.0
    while high < inf and not is_enough(high):
        low, high = high, 2 * high
    while nextafter(low, inf) < high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b), x in [0, 1]."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))

    def parts() -> Iterator[tuple[float, float]]:
        yield 1.0, 1.0
        for m in count():
            if m:
                yield m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1.0
            yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0

    return front / a * _fraction(parts())


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
