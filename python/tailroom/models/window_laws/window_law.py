"""What a window law is: how a congestion control's window answers loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = float | Floats
"""A number or an array of them; functions of a law take both and answer in kind."""


@dataclass(frozen=True)
class Epoch:
    """How far a flow has come since its last loss."""

    peak: float
    """Window at the last loss, before the decrease; also that at the loss before."""
    window: float
    elapsed_s: float
    """Time since the last loss."""
    rounds: float
    """Round trips since then."""
    rtt_s: float
    """Round trip time now, queueing included."""
    base_rtt_s: float
    """Round trip time without queueing."""


@dataclass(frozen=True)
class WindowLaw:
    """A congestion control in the large: no slow start, no timeouts, no bound on the window.

    Loss probability p counts reductions over packets sent (a loss event each round trip at most),
    round trips are in seconds, windows in packets.
    """

    source: str
    """RFC section or paper equation of the response function."""
    window: Callable[[Numbers, Numbers], Floats]
    """`window(p, rtt_s)`: mean window in packets, p in (0, 1]. Continuous, and strictly falling in
    p; at least 1."""
    increase: Callable[[Numbers, Numbers], Floats] | None = None
    """`increase(w, rtt_s)`: growth in packets a round trip, at window w; `None` where it depends on
    more than the window (CUBIC: on the time since the last loss)."""
    decrease: Callable[[Numbers], Floats] | None = None
    """`decrease(w)`: the part of the window w that a loss takes, in (0, 1)."""
    growth: Callable[[Epoch], float] | None = None
    """`growth(epoch)`: growth in packets a round trip, for a law without `increase`, between
    losses that come at equal windows. Above 0 but for single moments."""
    kinks: tuple[float, ...] = ()
    """Windows at which `increase` or its derivative jumps."""
