"""Roots of functions without SciPy, whose import takes longer than all models."""

from collections.abc import Callable
from sys import float_info

MOST_STEPS = 100


def root_between(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    absolute: float = 2e-12,
    relative: float = 4 * float_info.epsilon,
) -> float:
    """Returns a root by Brent's method: bisection and inverse quadratic interpolation.

    Brent 1973, Algorithms for Minimization without Derivatives, ch. 4, with the steps of
    `scipy.optimize.brentq`, so that the last digit is the same.

    Args:
        function: Continuous; of opposite signs at the ends.
        low: One end.
        high: The other end.
        absolute: Absolute tolerance of the root.
        relative: Relative tolerance; the larger of the two tolerances applies.

    Raises:
        ValueError: The function has one sign at both ends.
        ArithmeticError: The tolerance is not reached in 100 steps.
    """
    before, now = float(low), float(high)
    at_before, at_now = float(function(before)), float(function(now))
    if at_before == 0:
        return before
    if at_now == 0:
        return now
    if (at_before < 0) == (at_now < 0):
        raise ValueError(f"the function has one sign at {low:g} and {high:g}")
    # The root lies between `now` and `beyond`.
    beyond, at_beyond, step_before, step = before, at_before, 0.0, 0.0
    for _ in range(MOST_STEPS):
        if at_before != 0 and at_now != 0 and (at_before < 0) != (at_now < 0):
            beyond, at_beyond = before, at_before
            step_before = step = now - before
        if abs(at_beyond) < abs(at_now):
            before, now, beyond = now, beyond, now
            at_before, at_now, at_beyond = at_now, at_beyond, at_now
        near = float(absolute + relative * abs(now)) / 2
        half = (beyond - now) / 2
        if at_now == 0 or abs(half) < near:
            return now
        tried = None
        if abs(step_before) > near and abs(at_now) < abs(at_before):
            if before == beyond:
                tried = -at_now * (now - before) / (at_now - at_before)
            else:
                slope = (at_before - at_now) / (before - now)
                slope_beyond = (at_beyond - at_now) / (beyond - now)
                divisor = slope_beyond * slope * (at_beyond - at_before)
                above = -at_now * (at_beyond * slope_beyond - at_before * slope)
                tried = above / divisor if divisor else None
        if tried is not None and 2 * abs(tried) < min(abs(step_before), 3 * abs(half) - near):
            step_before, step = step, tried
        else:
            step_before = step = half
        before, at_before = now, at_now
        now += step if abs(step) > near else near if half > 0 else -near
        at_now = float(function(now))
    raise ArithmeticError(f"no root between {low:g} and {high:g} after {MOST_STEPS} steps")
