"""The fluid cycle of a window between two losses, for increases and decreases that depend on it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tailroom.models.window_laws.window_law import Floats, Numbers

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_PEAKS = np.exp(np.linspace(np.log(0.25), np.log(1e18), 1024))
_REFINEMENTS = 4


@dataclass(frozen=True)
class Curve:
    """Packets and round trips of a cycle as functions of the window at its end, the peak.

    `packets` must rise strictly. Both take and give arrays.
    """

    packets: Callable[[Floats], Floats]
    """Packets that the flow sends between two losses."""
    rounds: Callable[[Floats], Floats]
    """Round trips between two losses."""


class Response:
    """Mean window at a loss probability: the cycle that has 1/p packets."""

    def __init__(self, curve: Curve) -> None:
        """Tabulates the curve.

        Raises:
            ValueError: A larger peak has a cycle of fewer packets, so that p says not which.
        """
        self._curve = curve
        self._log_peaks = np.log(_PEAKS)
        self._log_packets = np.log(curve.packets(_PEAKS))
        if np.any(np.diff(self._log_packets) <= 0):
            raise ValueError("a larger window is not a longer cycle")
        self._slopes = np.diff(self._log_packets) / np.diff(self._log_peaks)

    def peak(self, p: Numbers) -> Floats:
        """Window at the end of the cycle of 1/p packets; relative error below 1e-12."""
        wanted = -np.log(np.asarray(p, dtype=float))
        found: Floats = np.interp(wanted, self._log_packets, self._log_peaks)
        cell = np.searchsorted(self._log_packets, wanted, side="right") - 1
        slope = self._slopes[np.clip(cell, 0, len(self._slopes) - 1)]
        # The chord is within a percent of the tangent, so each step leaves a percent of the error.
        for _ in range(_REFINEMENTS):
            found = found + (wanted - np.log(self._curve.packets(np.exp(found)))) / slope
        peak: Floats = np.exp(found)
        return peak

    def mean_window(self, p: Numbers) -> Floats:
        """Packets of a cycle over its round trips."""
        peak = self.peak(p)
        return self._curve.packets(peak) / self._curve.rounds(peak)


def fluid_curve(
    increase: Callable[[Floats], Floats],
    decrease: Callable[[Floats], Floats],
    kinks: tuple[float, ...] = (),
) -> Curve:
    """The cycle of dw/dn = increase(w) a round trip, from (1 - decrease(peak)) peak to the peak.

    By Gauss-Legendre quadrature in ln w between the kinks: windows at which the increase or its
    derivative jumps.
    """

    def integral(peak: Floats, power: int) -> Floats:
        high = np.log(peak)
        low = high + np.log1p(-decrease(peak))
        edges = [low, *(np.clip(np.log(kink), low, high) for kink in sorted(kinks)), high]
        total = np.zeros_like(high)
        for begin, end in pairwise(edges):
            half = (end - begin)[..., None] / 2
            windows = np.exp((begin + end)[..., None] / 2 + half * _NODES)
            total += (half * _WEIGHTS * windows**power / increase(windows)).sum(axis=-1)
        return total

    return Curve(
        packets=lambda peak: integral(np.asarray(peak, dtype=float), 2),
        rounds=lambda peak: integral(np.asarray(peak, dtype=float), 1),
    )
