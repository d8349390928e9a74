"""CUBIC (RFC 9438): a cubic of the time since the last loss, or Reno's window if larger."""

from math import cbrt

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.window_law import Epoch, Floats, Numbers, WindowLaw


def law(flows: FlowClass) -> WindowLaw:
    """CUBIC with the scenario's `c` and `beta`; losses come at equal windows.

    With fast convergence every second epoch aims lower: a flow that passes its plateau is a little
    above it when it hears of the loss, and the next time does not get as far.
    """
    c, beta = float(flows.parameters["c"]), float(flows.parameters["beta"])
    return WindowLaw(
        source="RFC 9438 sec. 5.1 and 4.3",
        window=lambda p, rtt_s: mean_window(p, rtt_s, c, beta),
        decrease=lambda w: np.full_like(w, 1 - beta, dtype=float),
        goals=((1 + beta) / 2, 1.0) if flows.parameters["fast_convergence"] else (1.0,),
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
    """Time until the cubic or `W_est` (RFC 9438 sec. 4.2, 4.3) reaches w, whichever is earlier."""
    plateau = cbrt((epoch.goal - beta * epoch.peak) / c)
    cubic = plateau - cbrt((epoch.goal - w) / c)
    alpha = 3 * (1 - beta) / (1 + beta)
    rounds = (w - beta * epoch.peak) / alpha
    return max(0.0, min(cubic - epoch.elapsed_s, (rounds - epoch.rounds) * epoch.rtt_s))
