"""What a window law is: how a congestion control's window answers loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = float | NDArray[np.float64]
"""A number or an array of them; functions of a law take both and answer in kind."""


@dataclass(frozen=True)
class WindowLaw:
    """A congestion control in the large: no slow start, no timeouts, no bound on the window.

    Loss probability p counts reductions over packets sent (a loss event each round trip at most),
    round trips are in seconds, windows in packets.
    """

    source: str
    """RFC section or paper equation of the response function."""
    window: Callable[[Numbers, Numbers], NDArray[np.float64]]
    """`window(p, rtt_s)`: mean window in packets, p in (0, 1]. Continuous, and strictly falling in
    p; at least 1."""
    increase: Callable[[Numbers, Numbers], NDArray[np.float64]] | None = None
    """`increase(w, rtt_s)`: growth in packets a round trip, at window w; `None` where it depends on
    more than the window (CUBIC: on the time since the last loss)."""
    decrease: Callable[[Numbers], NDArray[np.float64]] | None = None
    """`decrease(w)`: the part of the window w that a loss takes, in (0, 1)."""
