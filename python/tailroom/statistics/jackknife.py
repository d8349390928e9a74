"""Intervals of statistics of several runs."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tailroom.statistics.intervals import Interval, mean_interval

T = TypeVar("T")


def jackknife(runs: Sequence[T], of: Callable[[Sequence[T]], float]) -> Interval:
    """Returns a statistic of several runs with its interval by Quenouille's and Tukey's jackknife.

    A function of means over runs (a distance, a largest error) has no value per run. Leaving out
    one run at a time shows how far the statistic depends on each run.
    """
    count = len(runs)
    whole = of(runs)
    if count < 2:
        return mean_interval([whole])
    rest = [of([*runs[:place], *runs[place + 1 :]]) for place in range(count)]
    spread = mean_interval([count * whole - (count - 1) * partial for partial in rest])
    return Interval(whole, spread.half_width, count)
