"""Scalable TCP (Kelly 2003): a packet for each acknowledged one, whatever the window."""

from math import log1p

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import aimd
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw


def law(flows: FlowClass) -> WindowLaw:
    """Scalable TCP with the scenario's parameters; small windows are Reno's.

    The variant `linux` decreases them by `decrease`, as all.
    """
    given = flows.parameters
    a, b = float(given["increase"]), float(given["decrease"])
    if given.get("variant", "kelly") == "linux":
        to, small_b, halved_to = 1 / a, b, 0.0
    else:
        to = halved_to = float(given["legacy_window"])
        small_b = 0.5
    return WindowLaw(
        source="Kelly 2003 sec. 3, exact for the fluid",
        window=lambda p, _rtt_s: mean_window(p, a, b, small_b),
        increase=lambda w, _rtt_s: np.where(np.asarray(w) <= to, 1.0, a * np.asarray(w)),
        decrease=lambda w: np.where(np.asarray(w) <= halved_to, small_b, b),
        kinks=(to,),
    )


def mean_window(p: Numbers, a: float = 0.01, b: float = 0.125, small_b: float = 0.5) -> Floats:
    """Mean window in packets at loss probability p in (0, 1].

    The larger of a / (p ln(1 / (1 - b))) and of AIMD(1, `small_b`). A cycle up to the peak P has
    b P / a packets in ln(1 / (1 - b)) / a round trips. Kelly's a / (b p) is the peak.
    """
    steep = a / -log1p(-b) / np.asarray(p, dtype=float)
    return np.maximum(steep, aimd.mean_window(p, 1.0, small_b))
