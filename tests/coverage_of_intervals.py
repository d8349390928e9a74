"""How often confidence intervals hold means that are known."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tailroom as tr
from tailroom.scenario import types
from tailroom.scenario.types import DropTailQueue, Flows, Link, PoissonSource
from tailroom.statistics.intervals import mean_interval
from tailroom.studies.sweep_study.plan import Precision, runs_needed

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
    """Var = s^2 / n (1 + 2 sum (1 - k / n) 0.9^k) for the mean of n steps, s^2 = 1 / (1 - 0.81)."""
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


def sequential(values: Draw, until: Precision, repetitions: int) -> tuple[float, float]:
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


PLACES = 5
"""K of M/M/1/K, the packet in service included: a queue limit of K - 1."""
LOAD = 0.8
QUEUES = 20
"""Independent queues in one run."""


def loss_probability() -> float:
    """(1 - rho) rho^K / (1 - rho^(K + 1)); sizes are rounded up by half a byte in 5,000."""
    rho = LOAD * 1.0001
    return (1 - rho) * rho**PLACES / (1 - rho ** (PLACES + 1))


def losses(draw: np.random.Generator) -> Draw:
    """Loss in runs of about 3,200 arrivals, so about 280 losses, at an M/M/1/K queue.

    As many queues stand side by side in each run, with random numbers of their own.
    """
    names = [f"queue-{number}" for number in range(QUEUES)]
    # The queue forgets its state within some 10 packet times of 1 ms.
    scenario: types.Scenario = {
        "duration": "4.2 s",
        "measure_from": "200 ms",
        "links": {name: lossy_link() for name in names},
        "flows": {name: poisson_source(name) for name in names},
    }

    def values(count: int) -> NDArray[np.float64]:
        found = []
        for _ in range(-(-count // QUEUES)):
            links: Mapping[str, Any] = tr.run(scenario, seed=int(draw.integers(2**40))).links
            assert all(links[name]["drops_packets"] >= 100 for name in names)
            found.append([links[name]["loss_fraction"] for name in names])
        return np.concatenate(found)[:count]

    return values


def lossy_link() -> Link:
    """A mean packet takes 1 ms."""
    queue: DropTailQueue = {"kind": "drop_tail", "limit": f"{PLACES - 1} packets"}
    return {"rate": "40 Mbit/s", "delay": "0 s", "queue": queue}


def poisson_source(link: str) -> Flows:
    source: PoissonSource = {
        "kind": "poisson",
        "rate": f"{40 * LOAD} Mbit/s",
        "sizes": "exponential",
    }
    return {"path": [link], "source": source, "packet_size": "5000 B", "rtt": "1 ms"}
