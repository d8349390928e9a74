"""The interface of window laws: the window of a congestion control as a function of loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = float | Floats
"""A number or an array; functions of a law take both and return the same kind."""


@dataclass(slots=True)
class Epoch:
    """State of a flow since its last loss."""

    peak: float
    """Window at the last loss, before the decrease; also the window at the next loss."""
    goal: float
    """The window that the control remembers from the last loss."""
    base_rtt_s: float
    """Round trip time without queueing."""
    peak_rtt_s: float
    """Round trip time at the last loss."""
    window: float = 0.0
    rtt_s: float = 0.0
    """Round trip time now, queueing included."""
    elapsed_s: float = 0.0
    """Time since the last loss."""
    rounds: float = 0.0
    """Round trips since the last loss."""


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
    seconds_to: Callable[[Epoch, float], float] | None = None
    """`seconds_to(epoch, w)`: time until the window has grown to w, at the round trip time of the
    epoch, for a law without `increase`. Losses come at equal windows, and w is close."""
    goals: tuple[float, ...] = (1.0,)
    """What the control remembers of the window when it hears of a loss, as a part of it, in
    successive epochs; then again from the first."""
    decrease_at: Callable[[Epoch], float] | None = None
    """`decrease_at(epoch)`: the decrease where it depends on round trip times too, at the loss that
    ends the epoch; `decrease` is then that at a constant one."""
    counts_marks: bool = False
    """Whether p is the share of marked packets; then `window` does not apply to drops."""
    kinks: tuple[float, ...] = ()
    """Windows at which `increase` or its derivative jumps."""


_SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """A checked scenario's duration, such as "750 us", in seconds."""
    number, _, unit = text.strip().partition(" ")
    return float(number.replace("_", "")) * _SECONDS[unit.strip()]
