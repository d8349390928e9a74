"""The interface of window laws: the window of a congestion control as a function of loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = float | Floats
"""A number or an array; functions of a law take both and return the same kind."""


@dataclass(frozen=True)
class WindowLaw:
    """The steady state of a congestion control: no slow start, no timeouts, unbounded window.

    Loss probability p counts reductions over packets sent (a loss event each round trip at most),
    round trips are in seconds, windows in packets.
    """

    source: str
    """RFC section or paper equation of the response function."""
    window: Callable[[Numbers, Numbers], Floats]
    """`window(p, rtt_s)`: mean window in packets, p in (0, 1]. Continuous, and strictly falling in
    p; at least 1."""
    increase: Callable[[Numbers, Numbers], Floats] | None = None
    """`increase(w, rtt_s)`: growth in packets per round trip, at window w; `None` if it depends on
    more than the window (CUBIC: on the time since the last loss)."""
    decrease: Callable[[Numbers], Floats] | None = None
    """`decrease(w)`: the fraction of the window w removed at a loss, in (0, 1)."""
    counts_marks: bool = False
    """Whether p is the share of marked packets; then `window` does not apply to drops."""
    kinks: tuple[float, ...] = ()
    """Windows at which `increase` or its derivative jumps."""


_SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A checked scenario's duration, such as "750 us", in seconds."""
    number, _, unit = text.strip().partition(" ")
    return float(number.replace("_", "")) * _SECONDS[unit.strip()]
