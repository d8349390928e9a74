"""The smallest queue limit that meets a target, for a model that predicts at a given limit."""

from collections.abc import Callable
from math import exp, inf, log

LEAST_LIMIT = 1.0
"""In packets; the smallest limit of a scenario."""

LARGEST_LIMIT = 1e9
"""In packets; beyond any buffer."""

WIDE = 8
"""Factor between limits until two of them bracket the answer."""


def smallest_limit(meets: Callable[[float], bool], largest: float = LARGEST_LIMIT) -> float:
    """Returns the smallest whole limit, in waiting packets, at which `meets(limit)` is true.

    `meets` must be monotone: once true, it stays true for larger limits. The answer is at least 1,
    and infinite if `meets(largest)` is false. The search takes about 2 log2(answer) calls.
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


def smallest_limit_near(excess: Callable[[float], float], guess: float) -> float:
    """Like `smallest_limit`, for expensive smooth functions.

    `excess(limit)` is the value less the target, negative below the answer. The search is regula
    falsi over the logarithm of the limit in the Illinois variant, which halves the weight of an end
    that stays. It takes about ten calls instead of 2 log2(answer).
    """
    low, short, high, over = _bracket(excess, min(max(LEAST_LIMIT, guess // 1), LARGEST_LIMIT))
    moved = ""
    while 1 < high - low < inf:
        middle = exp(log(low) + log(high / low) * short / (short - over))
        middle = min(max(low + 1, float(round(middle))), high - 1)
        at_middle = excess(middle)
        if at_middle < 0:
            low, short, over = middle, at_middle, over / 2 if moved == "low" else over
            moved = "low"
        else:
            high, over, short = middle, at_middle, short / 2 if moved == "high" else short
            moved = "high"
    return high


def _bracket(excess: Callable[[float], float], guess: float) -> tuple[float, float, float, float]:
    """Returns a limit that is too small and a sufficient limit, each with its excess.

    If the least limit suffices, it is both; if no limit suffices, the second is infinite.
    """
    at, at_excess = guess, excess(guess)
    while at_excess >= 0 and at > LEAST_LIMIT:
        smaller = max(LEAST_LIMIT, at // WIDE)
        there = excess(smaller)
        if there < 0:
            return smaller, there, at, at_excess
        at, at_excess = smaller, there
    while at_excess < 0 and at < LARGEST_LIMIT:
        larger = min(WIDE * at, LARGEST_LIMIT)
        there = excess(larger)
        if there >= 0:
            return at, at_excess, larger, there
        at, at_excess = larger, there
    return (at, at_excess, at, at_excess) if at_excess >= 0 else (at, at_excess, inf, 0.0)
