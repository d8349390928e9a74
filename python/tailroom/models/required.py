"""The smallest queue limit that meets a target, for a model that predicts at a given limit."""

from collections.abc import Callable
from math import inf

LEAST_LIMIT = 1.0
"""In packets: a scenario has no smaller one."""

LARGEST_LIMIT = 1e9
"""In packets; beyond any buffer."""


def smallest_limit(meets: Callable[[float], bool], largest: float = LARGEST_LIMIT) -> float:
    """The smallest whole limit, in packets that wait, at which `meets(limit)` is true.

    `meets` must be monotone: once true, it stays true for larger limits. The answer is infinite if
    it is false at `largest`, and at least 1. It takes about 2 log2(answer) calls.
    """
    high = LEAST_LIMIT
    while not meets(high):
        if high >= largest:
            return inf
        high = min(4 * high, largest)
    low = 0.0 if high == LEAST_LIMIT else high / 4
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high
