"""The fluid cycle of a window between two losses, for window-dependent laws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tailroom.models.window_laws.monotone import MonotoneCubic
from tailroom.models.window_laws.window_law import Floats, Numbers

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_PEAKS = np.exp(np.linspace(np.log(0.25), np.log(1e18), 4096))
_REFINEMENTS = 8
_CLOSE = 1e-8
_STEP = 1e-6


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
            ValueError: `packets` does not rise strictly, so p does not determine the cycle.
        """
        self._curve = curve
        log_packets = np.log(curve.packets(_PEAKS))
        if np.any(np.diff(log_packets) <= 0):
            raise ValueError("a larger window is not a longer cycle")
        # One step of Newton's method nearly always suffices from here.
        self._log_peak = MonotoneCubic(log_packets, np.log(_PEAKS))

    def peak(self, p: Numbers) -> Floats:
        """Window at the end of the cycle of 1/p packets; relative error below 1e-10."""
        wanted = -np.log(np.asarray(p, dtype=float))
        log_peak: Floats = self._log_peak(wanted)
        for _ in range(_REFINEMENTS):
            # Newton's method; the slope jumps at a kink, so a table of slopes would be wrong.
            pair = np.log(self._curve.packets(np.exp(np.stack([log_peak, log_peak + _STEP]))))
            change = (wanted - pair[0]) * _STEP / (pair[1] - pair[0])
            log_peak = log_peak + change
            if np.max(np.abs(change)) < _CLOSE:
                break
        peak: Floats = np.exp(log_peak)
        return peak

    def mean_window(self, p: Numbers) -> Floats:
        """Packets of a cycle over its round trips."""
        window: Floats = 1 / (np.asarray(p, dtype=float) * self._curve.rounds(self.peak(p)))
        return window


def fluid_curve(
    increase: Callable[[Floats], Floats],
    decrease: Callable[[Floats], Floats],
    kinks: tuple[float, ...] = (),
) -> Curve:
    """The cycle of dw/dn = increase(w) a round trip, from (1 - decrease(peak)) peak to the peak.

    By Gauss-Legendre quadrature in ln w between the kinks: windows at which the increase or its
    derivative jumps.
    """
    breaks = np.log(sorted(kinks))

    def integral(peak: Floats, power: int) -> Floats:
        high = np.log(peak)[..., None]
        low = high + np.log1p(-decrease(peak))[..., None]
        edges = np.concatenate([low, np.clip(breaks, low, high), high], axis=-1)
        half = np.diff(edges)[..., None] / 2
        windows = np.exp(edges[..., :-1, None] + half * (1 + _NODES))
        parts = half * _WEIGHTS * windows**power / increase(windows)
        total: Floats = parts.sum(axis=(-2, -1))
        return total

    return Curve(
        packets=lambda peak: integral(np.asarray(peak, dtype=float), 2),
        rounds=lambda peak: integral(np.asarray(peak, dtype=float), 1),
    )
