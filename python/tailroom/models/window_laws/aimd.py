"""Additive increase a, multiplicative decrease b (Chiu and Jain 1989)."""

from math import sqrt

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw


def law(flows: FlowClass) -> WindowLaw:
    """AIMD with the scenario's `increase` and `decrease`, with periodic losses."""
    a, b = float(flows.parameters["increase"]), float(flows.parameters["decrease"])
    return law_with(a, b)


def law_with(a: float, b: float) -> WindowLaw:
    """AIMD: increase a packets per round trip, decrease b (fraction of the window)."""
    return WindowLaw(
        source="Floyd, Handley, Padhye 2000, A comparison of equation-based and AIMD, sec. 4",
        window=lambda p, _rtt_s: mean_window(p, a, b),
        increase=lambda w, _rtt_s: np.full_like(w, a, dtype=float),
        decrease=lambda w: np.full_like(w, b, dtype=float),
    )


def mean_window(p: Numbers, a: float, b: float) -> Floats:
    """sqrt(a (2 - b) / (2 b p)) packets at loss probability p in (0, 1], at least 1."""
    return np.maximum(1.0, sqrt(a * (2 - b) / (2 * b)) / np.sqrt(p))
