"""The percentile of all values of several runs together, from the percentiles of each run."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import exp, log

Tail = Sequence[tuple[float, float]]
"""Values of a run in ascending order, each with the share of the run's values above it."""


def pooled_percentile(runs: Sequence[Mapping[float, float]], share: float) -> float | None:
    """Returns the value that a share of the values of all runs together exceeds.

    Each run counts alike. Between two percentiles of a run the logarithm of the share above a value
    is linear in the value, as in the tail of most queues, where it is exact.

    Args:
        runs: Per run, the value that a share of its values exceeds, by that share in (0, 1).
        share: The share in question.

    Returns:
        The value in the unit of the runs; `None` if a run has no percentiles on both sides of it.
    """
    tails = [_tail(run) for run in runs]
    if not tails or any(not tail[-1][1] < share < tail[0][1] for tail in tails):
        return None
    low, high = min(tail[0][0] for tail in tails), max(tail[-1][0] for tail in tails)
    if _mean_above(tails, low) <= share:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        is_above = _mean_above(tails, middle) > share
        low, high = (middle, high) if is_above else (low, middle)
    return high


def _tail(run: Mapping[float, float]) -> Tail:
    return [(run[share], share) for share in sorted(run, reverse=True)]


def _mean_above(tails: Sequence[Tail], value: float) -> float:
    return sum(_above(tail, value) for tail in tails) / len(tails)


def _above(tail: Tail, value: float) -> float:
    """The share of a run's values above a value, log-linear between and beyond the percentiles."""
    at = bisect_left(tail, value, key=lambda point: point[0])
    at = min(max(at, 1), len(tail) - 1)
    (low, above_low), (high, above_high) = tail[at - 1], tail[at]
    if high <= low:
        return above_high if value > high else above_low
    slope = log(above_high / above_low) / (high - low)
    return exp(min(0.0, log(above_low) + slope * (value - low)))
