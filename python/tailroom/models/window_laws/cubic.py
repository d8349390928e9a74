"""CUBIC (RFC 9438): a cubic of the time since the last loss, and Reno where that is more."""

from math import cbrt

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.window_law import Epoch, Floats, Numbers, WindowLaw


def law(flows: FlowClass) -> WindowLaw:
    """CUBIC with the scenario's `c` and `beta`; losses come at equal windows."""
    c, beta = float(flows.parameters["c"]), float(flows.parameters["beta"])
    return WindowLaw(
        source="RFC 9438 sec. 5.1 and 4.3",
        window=lambda p, rtt_s: mean_window(p, rtt_s, c, beta),
        decrease=lambda w: np.full_like(w, 1 - beta, dtype=float),
        seconds_to=lambda epoch, w: seconds_to(epoch, w, c, beta),
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


def seconds_to(epoch: Epoch, w: float, c: float = 0.4, beta: float = 0.7) -> float:
    """Time until the cubic or `W_est` (RFC 9438 sec. 4.2, 4.3) reaches w, the earlier of them."""
    below = epoch.peak - w
    plateau = cbrt((1 - beta) * epoch.peak / c)
    cubic = plateau - cbrt(below / c)
    alpha = 3 * (1 - beta) / (1 + beta)
    rounds = (min(w, epoch.peak) - beta * epoch.peak) / alpha + max(0.0, -below)
    return max(0.0, min(cubic - epoch.elapsed_s, (rounds - epoch.rounds) * epoch.rtt_s))
