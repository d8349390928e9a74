"""Intervals of statistics that are defined for several runs together."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tailroom.statistics.intervals import Interval, mean_interval

T = TypeVar("T")


def jackknife(runs: Sequence[T], of: Callable[[Sequence[T]], float]) -> Interval:
    """Returns a statistic of several runs with its 95 % interval by the jackknife.

    A function of means over runs (a distance, a largest error) has no value per run. The jackknife
    computes the statistic without each run in turn and takes the interval of the pseudo-values
    (Quenouille 1956, Tukey 1958).

    Args:
        runs: Independent runs, at least one.
        of: Computes the statistic of some runs.

    Returns:
        The statistic of all runs; its half-width is infinite for a single run.
    """
    count = len(runs)
    whole = of(runs)
    if count < 2:
        return mean_interval([whole])
    without_one = [of([*runs[:place], *runs[place + 1 :]]) for place in range(count)]
    pseudo_values = [count * whole - (count - 1) * partial for partial in without_one]
    return Interval(whole, mean_interval(pseudo_values).half_width, count)
