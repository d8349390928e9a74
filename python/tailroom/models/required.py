"""The smallest queue limit that meets a target, for a model that predicts at a given limit."""

from collections.abc import Callable
from math import inf

LARGEST_LIMIT = 1e9
"""In packets; beyond any buffer."""


def smallest_limit(meets: Callable[[float], bool], largest: float = LARGEST_LIMIT) -> float:
    """The smallest whole limit, in packets that wait, at which `meets(limit)` is true.

    `meets` must be monotone: once true, it stays true for larger limits. The answer is infinite if
    it is false at `largest`. It takes about 2 log2(answer) calls.
    """
    high = 1.0
    while not meets(high):
        if high >= largest:
            return inf
        high = min(4 * high, largest)
    low = 0.0 if high == 1.0 else high / 4
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high
