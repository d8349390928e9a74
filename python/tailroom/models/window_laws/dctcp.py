"""DCTCP (RFC 8257; Alizadeh et al. 2010): the window falls by half the share of marked packets."""

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw


def law(_flows: FlowClass) -> WindowLaw:
    """DCTCP where a queue marks above a threshold; a loss halves its window (RFC 8257 sec. 3.5)."""
    return WindowLaw(
        source="Alizadeh et al. 2010, Eq. 6",
        window=lambda p, _rtt_s: mean_window(p),
        increase=lambda w, _rtt_s: np.ones_like(w, dtype=float),
        decrease=lambda w: np.full_like(w, 0.5, dtype=float),
        counts_marks=True,
    )


def mean_window(p: Numbers) -> Floats:
    """Mean window in packets at the marked share p of packets, in (0, 1].

    All packets of one round trip in each cycle are marked, so that the estimate alpha is p and
    p^2 (1 - p/4) = (2 W + 1) / (W + 1)^2 for the window W at which marks begin (Alizadeh et al.
    2010, Eq. 6; about p = sqrt(2 / W)). The mean of the cycle is (W + 1) (1 - p/4).
    """
    p = np.asarray(p, dtype=float)
    left = p**2 * (1 - p / 4)
    peak: Floats = (1 + np.sqrt(1 - left)) / left
    return peak * (1 - p / 4)
