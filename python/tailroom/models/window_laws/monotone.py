"""Cubic interpolation that rises wherever its points rise.

`scipy.interpolate` has it, and takes longer to load than all models take to answer.
"""

import numpy as np

from tailroom.models.window_laws.window_law import Floats


class MonotoneCubic:
    """Piecewise cubic Hermite interpolation of ascending points (Fritsch and Butland 1984).

    The polynomials at the ends go on beyond them. The same as `scipy.interpolate.
    PchipInterpolator` for values that ascend.
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        """Takes at least three points, both coordinates strictly ascending."""
        width, slope = np.diff(x), np.diff(y) / np.diff(x)
        first, second = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
        derivative = np.empty_like(x)
        # The weighted harmonic mean of the slopes on both sides.
        derivative[1:-1] = (first + second) / (first / slope[:-1] + second / slope[1:])
        derivative[0] = _at_end(width[0], width[1], slope[0], slope[1])
        derivative[-1] = _at_end(width[-1], width[-2], slope[-1], slope[-2])
        excess = (derivative[:-1] + derivative[1:] - 2 * slope) / width
        self._x = x
        self._terms = np.stack(
            [excess / width, (slope - derivative[:-1]) / width - excess, derivative[:-1], y[:-1]]
        )

    def __call__(self, place: Floats) -> Floats:
        """The values at places."""
        index = np.clip(np.searchsorted(self._x, place, side="right") - 1, 0, len(self._x) - 2)
        cubic, square, linear, constant = self._terms[:, index]
        ahead = place - self._x[index]
        values: Floats = ((cubic * ahead + square) * ahead + linear) * ahead + constant
        return values


def _at_end(width: float, next_width: float, slope: float, next_slope: float) -> float:
    """The derivative of a parabola through three points, not below 0."""
    derivative = ((2 * width + next_width) * slope - width * next_slope) / (width + next_width)
    return max(0.0, derivative)
