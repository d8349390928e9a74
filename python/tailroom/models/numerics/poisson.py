"""The Poisson distribution."""

from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

from tailroom.statistics.distributions import poisson_beyond, poisson_up_to

LARGE_MEAN = 500.0
"""From this mean on, 200 or fewer are rarer than 1 in 10^50."""


def probability(count: int, mean: float) -> float:
    """P(N = count), a count from 0 on."""
    powers = count * log(mean) if count else 0.0
    return exp(powers - lgamma(count + 1) - mean)


def up_to(count: int, mean: float) -> float:
    """P(N <= count); 0 below 0."""
    return poisson_up_to(count, mean) if count >= 0 else 0.0


def beyond(count: int, mean: float) -> float:
    """P(N > count); 1 below 0."""
    return poisson_beyond(count, mean) if count >= 0 else 1.0


def tails(counts: int, mean: float) -> NDArray[np.float64]:
    """P(N > m), m = 0 .. counts - 1, up to 200 of them; summed from the smallest term up."""
    if mean >= LARGE_MEAN:
        return np.ones(counts)
    # Terms beyond twice the mean plus 100 are below the last digit of all results.
    terms = exp(-mean) * np.cumprod(mean / np.arange(1.0, counts + 100 + 2 * mean))
    sums: NDArray[np.float64] = np.cumsum(terms[::-1])[::-1]
    return sums[:counts]
