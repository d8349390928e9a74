"""The Poisson distribution, without `scipy.stats`, which takes longer to load than all models."""

from math import exp

import numpy as np
import scipy
from numpy.typing import NDArray

LARGE_MEAN = 500.0
"""From this mean on, 200 or fewer are rarer than 1 in 10^50."""


def probability(count: int, mean: float) -> float:
    """P(N = count), a count from 0 on."""
    log = scipy.special.xlogy(count, mean) - scipy.special.gammaln(count + 1) - mean
    return exp(log)


def up_to(count: int, mean: float) -> float:
    """P(N <= count); 0 below 0."""
    return float(scipy.special.pdtr(count, mean)) if count >= 0 else 0.0


def beyond(count: int, mean: float) -> float:
    """P(N > count); 1 below 0."""
    return float(scipy.special.pdtrc(count, mean)) if count >= 0 else 1.0


def tails(counts: int, mean: float) -> NDArray[np.float64]:
    """P(N > m), m = 0 .. counts - 1, up to 200 of them; summed from the smallest term up."""
    if mean >= LARGE_MEAN:
        return np.ones(counts)
    # Terms beyond twice the mean plus 100 are below the last digit of all results.
    terms = exp(-mean) * np.cumprod(mean / np.arange(1.0, counts + 100 + 2 * mean))
    sums: NDArray[np.float64] = np.cumsum(terms[::-1])[::-1]
    return sums[:counts]
