"""How often confidence intervals hold means that are known."""

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tailroom.confidence import batch_means, mean_interval
from tailroom.sweep_plan import Until
from tailroom.sweep import runs_needed

Draw = Callable[[int], NDArray[np.float64]]
"""Values of so many independent runs."""

CORRELATION = 0.9
"""Of neighbours in the autoregressive process."""
RUN_LENGTH = 200
"""Steps of one run."""


def autoregressive(draw: np.random.Generator, runs: int, steps: int) -> NDArray[np.float64]:
    """x_t = 0.9 x_(t-1) + e_t with normal e, in its steady state from the start: its mean is 0.

    A row a run.
    """
    steps_of = draw.normal(size=(runs, steps))
    values = np.empty((runs, steps))
    # The variance of the steady state is 1 / (1 - 0.9^2).
    values[:, 0] = steps_of[:, 0] / sqrt(1 - CORRELATION**2)
    for step in range(1, steps):
        values[:, step] = CORRELATION * values[:, step - 1] + steps_of[:, step]
    return values


def deviation_of_run_means() -> float:
    """Of the mean over one run: Var = s^2 / n (1 + 2 sum (1 - k / n) 0.9^k), s^2 = 1 / (1 - 0.81)."""
    lags = np.arange(1, RUN_LENGTH)
    factor = 1 + 2 * float(np.sum((1 - lags / RUN_LENGTH) * CORRELATION**lags))
    return sqrt(factor / RUN_LENGTH / (1 - CORRELATION**2))


def run_means(draw: np.random.Generator) -> Draw:
    """Means over runs of the autoregressive process; they are independent, their mean is 0."""
    return lambda runs: autoregressive(draw, runs, RUN_LENGTH).mean(axis=1)


def fixed(values: Draw, runs: int, repetitions: int, mean: float = 0.0) -> float:
    """The share of intervals over so many runs that hold the mean."""
    held = [mean_interval(one) for one in values(runs * repetitions).reshape(-1, runs)]
    return float(np.mean([one.low <= mean <= one.high for one in held]))


def sequential(values: Draw, until: Until, repetitions: int) -> tuple[float, float]:
    """The same where runs are added as a sweep adds them; and how many it takes on average."""
    held, taken = 0, 0
    for _ in range(repetitions):
        stock = values(until.at_most)
        runs = until.at_least
        while (needed := runs_needed(stock[:runs], until)) > runs:
            runs = needed
        interval = mean_interval(stock[:runs])
        held += interval.low <= 0.0 <= interval.high
        taken += runs
    return held / repetitions, taken / repetitions


def batched(draw: np.random.Generator, batches: int, repetitions: int) -> float:
    """The share of intervals by batch means inside one long run that hold the mean."""
    values = autoregressive(draw, repetitions, batches * RUN_LENGTH)
    held = [mean_interval(batch_means(one, batches)) for one in values]
    return float(np.mean([one.low <= 0.0 <= one.high for one in held]))
