"""Intervals of numbers that only several runs together have."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tailroom.statistics.intervals import Interval, mean_interval

T = TypeVar("T")


def jackknife(runs: Sequence[T], of: Callable[[Sequence[T]], float]) -> Interval:
    """A number of several runs together, with its interval by Quenouille's and Tukey's jackknife.

    What is worked out of means over runs (a distance, a largest error) has no value for each run;
    leaving out one run at a time shows how much it depends on each.
    """
    count = len(runs)
    whole = of(runs)
    if count < 2:
        return mean_interval([whole])
    rest = [of([*runs[:place], *runs[place + 1 :]]) for place in range(count)]
    spread = mean_interval([count * whole - (count - 1) * partial for partial in rest])
    return Interval(whole, spread.half_width, count)
