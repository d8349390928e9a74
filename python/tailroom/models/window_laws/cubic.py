"""CUBIC (RFC 9438): a cubic of the time since the last loss, or Reno's window if larger."""

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw


def law(flows: FlowClass) -> WindowLaw:
    """CUBIC with the scenario's `c` and `beta`; losses come at equal windows."""
    c, beta = float(flows.parameters["c"]), float(flows.parameters["beta"])
    return WindowLaw(
        source="RFC 9438 sec. 5.1 and 4.3",
        window=lambda p, rtt_s: mean_window(p, rtt_s, c, beta),
        decrease=lambda w: np.full_like(w, 1 - beta, dtype=float),
    )


def mean_window(p: Numbers, rtt_s: Numbers, c: float = 0.4, beta: float = 0.7) -> Floats:
    """Mean window in packets at loss probability p in (0, 1].

    The larger of the cubic's, (c (3 + beta) / (4 (1 - beta)))^(1/4) (R / p)^(3/4), and Reno's,
    which is what `alpha_cubic` = 3 (1 - beta) / (1 + beta) is chosen for.
    """
    p = np.asarray(p, dtype=float)
    factor = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25
    cubic: Floats = factor * (np.asarray(rtt_s, dtype=float) / p) ** 0.75
    return np.maximum(cubic, reno.PERIODIC / np.sqrt(p))
