"""Scalable TCP (Kelly 2003): a packet for each acknowledged one, whatever the window."""

from functools import lru_cache
from math import log1p

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.cycle import Response, fluid_curve
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw


def law(flows: FlowClass) -> WindowLaw:
    """Scalable TCP with the scenario's parameters; small windows are Reno's.

    The variant `linux` decreases them by `decrease`, as all.
    """
    given = flows.parameters
    a, b = float(given["increase"]), float(given["decrease"])
    is_kelly = given.get("variant", "kelly") == "kelly"
    small = float(given["legacy_window"]) if is_kelly else 1 / a

    def window(p: Numbers, _rtt_s: Numbers) -> Floats:
        steep = steep_window(p, a, b)
        if is_kelly:
            steep = np.maximum(steep, reno.PERIODIC / np.sqrt(p))
        if a * small > 1:
            return steep
        # Where Reno is the faster one, it is so for small windows only: decreased by b as well,
        # they are an upper bound, and the law itself of the other variant.
        mild = _mild(a, b, small).mean_window(p)
        return np.minimum(mild, steep) if is_kelly else mild

    return WindowLaw(
        source="Kelly 2003 sec. 3, exact for the fluid",
        window=window,
        increase=lambda w, _rtt_s: np.where(np.asarray(w) <= small, 1.0, a * np.asarray(w)),
        decrease=lambda w: np.where(is_kelly & (np.asarray(w) <= small), 0.5, b),
        kinks=(small,),
    )


def steep_window(p: Numbers, a: float = 0.01, b: float = 0.125) -> Floats:
    """A / (p ln(1 / (1 - b))): mean of windows that are not small, at loss probability p.

    A cycle up to the peak P has b P / a packets in ln(1 / (1 - b)) / a round trips. Kelly's
    a / (b p) is the peak.
    """
    window: Floats = a / -log1p(-b) / np.asarray(p, dtype=float)
    return window


@lru_cache(maxsize=64)
def _mild(a: float, b: float, small: float) -> Response:
    return Response(
        fluid_curve(
            lambda w: np.where(w <= small, 1.0, a * w),
            lambda peak: np.full_like(peak, b),
            (small,) if small > 0 else (),
        )
    )
