"""How often confidence intervals hold known means, at length.

python -m tests.validation.coverage
"""

from collections.abc import Callable

import numpy as np

from tailroom.studies.sweep_study.plan import Precision
from tests import coverage_of_intervals as coverage

REPETITIONS = 10_000
"""A share of 95 % has a standard deviation of 0.2 %."""


def main(show: Callable[[str], object] = print) -> int:
    """Measures every coverage; 0 if all are where they belong."""
    draw = np.random.default_rng(2026)
    spread = coverage.deviation_of_run_means()
    process, queue = coverage.run_means(draw), coverage.losses(draw)
    lost = coverage.loss_probability()
    found = {
        "10 runs, autoregressive": (coverage.fixed(process, 10, REPETITIONS), 0.93),
        "30 runs, autoregressive": (coverage.fixed(process, 30, REPETITIONS), 0.93),
        "10 runs, loss of M/M/1/K": (coverage.fixed(queue, 10, REPETITIONS // 5, mean=lost), 0.93),
    }
    for width in (0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0):
        held, taken = coverage.sequential(
            process, Precision("any", width * spread), REPETITIONS // 2
        )
        found[f"until +-{width} deviations, {taken:.0f} runs"] = (held, 0.9)
    for what, (held, least) in found.items():
        verdict = "holds" if least <= held <= 0.97 else "FAILS"
        show(f"{verdict}: {what}: {held:.2%}, at least {least:.0%}")
    return int(not all(least <= held <= 0.97 for held, least in found.values()))


if __name__ == "__main__":
    import sys

    sys.exit(main())
