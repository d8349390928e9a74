"""How often confidence intervals hold known means, at length.

python -m tests.validation.coverage
"""

import sys
from collections.abc import Iterator

import numpy as np

from tailroom.reproduction import between
from tailroom.studies.sweep_study.plan import Precision
from tests import coverage_of_intervals as coverage
from tests.validation.frame import Claim, Validation

REPETITIONS = 10_000
"""A share of 95 % has a standard deviation of 0.2 %."""


def items() -> Iterator[Claim]:
    """Every coverage, and whether it is where it belongs."""
    draw = np.random.default_rng(2026)
    spread = coverage.deviation_of_run_means()
    process, queue = coverage.run_means(draw), coverage.losses(draw)
    lost = coverage.loss_probability()
    for count in (10, 30):
        held = coverage.fixed(process, count, REPETITIONS)
        yield covered(f"{count} runs, autoregressive", held, 0.93)
    held = coverage.fixed(queue, 10, REPETITIONS // 5, mean=lost)
    yield covered("10 runs, loss of M/M/1/K", held, 0.93)
    for width in (0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0):
        precision = Precision("any", width * spread)
        held, taken = coverage.sequential(process, precision, REPETITIONS // 2)
        yield covered(f"until +-{width} deviations, {taken:.0f} runs", held, 0.9)


def covered(what: str, held: float, least: float) -> Claim:
    """Whether enough of the intervals hold the mean, but not nearly all."""
    text = f"{what}: {held:.2%}, at least {least:.0%}"
    return Claim(text, (between("coverage", held, least, 0.97, percent=True),))


main = Validation(items)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
