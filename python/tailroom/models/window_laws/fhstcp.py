"""FHSTCP (Su et al. 2005): HighSpeed TCP whose increase is c times RTT as large."""

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import highspeed
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw


def law(flows: FlowClass, form: highspeed.Form = "response") -> WindowLaw:
    """FHSTCP with the scenario's `c`.

    A cycle of HighSpeed TCP takes 1 / (c R) as many packets, so the window at loss probability p is
    that of HighSpeed TCP at p / (c R). The bound of one packet for each acknowledged one is left
    out: it matters to windows below c R.
    """
    c = float(flows.parameters["c"])
    base = highspeed.DEFAULTS

    def window(p: Numbers, rtt_s: Numbers) -> Floats:
        factor = c * np.asarray(rtt_s, dtype=float)
        return np.maximum(1.0, highspeed.mean_window(np.asarray(p) / factor, base, form))

    return WindowLaw(
        source="Su et al. 2005 sec. 3, on RFC 3649 sec. 5",
        window=window,
        increase=lambda w, rtt_s: c * np.asarray(rtt_s, dtype=float) * base.increase(w),
        decrease=base.decrease,
        kinks=highspeed.kinks_of(base),
    )
