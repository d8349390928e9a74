"""Readable ticks: more of them on logarithmic axes with few decades, none above a bound."""

from math import log10
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import (
    AutoLocator,
    FuncFormatter,
    Locator,
    LogLocator,
    NullFormatter,
    NullLocator,
)

FINE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
COARSE = (1.0, 2.0, 5.0)


class _LabelledLocator(Locator):
    """Powers of ten; below two decades also 2 and 5 times these, below 2/3 decade more."""

    def __call__(self) -> list[float]:
        assert self.axis is not None
        low, high = sorted(self.axis.get_view_interval())
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """The ticks between two positive limits."""
        if vmin <= 0 or vmax <= vmin:
            return []
        decades = log10(vmax / vmin)
        if decades >= 2:
            return [float(tick) for tick in LogLocator().tick_values(vmin, vmax)]
        parts = COARSE if decades >= 2 / 3 else FINE
        powers = 10.0 ** np.arange(np.floor(log10(vmin)), np.ceil(log10(vmax)) + 1)
        ticks = [float(part * power) for power in powers for part in parts]
        return [tick for tick in ticks if vmin * (1 - 1e-9) <= tick <= vmax * (1 + 1e-9)]


class TicksUpTo(AutoLocator):
    """The ticks of a linear axis, without those above a bound."""

    def __init__(self, most: float) -> None:
        """Takes the largest value that may have a tick."""
        super().__init__()
        self._most = most

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The ticks between two limits."""
        ticks = super().tick_values(vmin, vmax)
        return [tick for tick in ticks if tick <= self._most * (1 + 1e-9)]


def plain(number: float) -> str:
    """Formats a number without a power of ten: "10,000", "0.05"."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def plain_ticks(number: float, _place: float | None = None) -> str:
    """Formats the label of a tick."""
    return plain(number)


def label_logarithmic(axis: Axis) -> None:
    """Labels a logarithmic axis with plain numbers, densely enough to read values."""
    axis.set_major_locator(_LabelledLocator())
    axis.set_major_formatter(FuncFormatter(plain_ticks))
    if log10(max(axis.get_view_interval()) / min(axis.get_view_interval())) < 2:
        axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
