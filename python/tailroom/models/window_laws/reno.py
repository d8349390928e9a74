"""Reno: one packet per round trip, half the window at a loss (RFC 5681)."""

from math import sqrt

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw

PERIODIC = sqrt(3 / 2)
"""Mean window times sqrt(p) when every 1/p-th packet is lost (Mathis et al. 1997, Eq. 3)."""


def law(_flows: FlowClass) -> WindowLaw:
    """Reno with periodic losses."""
    return _LAW


def window(p: Numbers, _rtt_s: Numbers) -> Floats:
    """Mean window in packets at loss probability p, with periodic losses."""
    return np.maximum(1.0, PERIODIC / np.sqrt(p))


_LAW = WindowLaw(
    source="Mathis et al. 1997, Eq. 3",
    window=window,
    increase=lambda w, _rtt_s: np.ones_like(w, dtype=float),
    decrease=lambda w: np.full_like(w, 0.5, dtype=float),
)
"""One object, by which what follows from the law may be kept."""
