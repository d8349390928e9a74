"""Growth of windows between two losses, vectorized."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import law_of
from tailroom.models.window_laws.window_law import Floats, Numbers


class Growth(Protocol):
    """Growth of a control between two losses; windows in packets, times in seconds."""

    goals: tuple[float, ...]
    """Fractions of the window at a loss that the control may remember."""

    def begin(self, peak: Floats, goal: Floats) -> Floats:
        """The windows right after a loss at `peak`, with `goal` remembered."""

    def over(self, window: Floats, seconds: Floats, rounds: float) -> Floats:
        """Growth during so many round trips, which take so long."""

    def typical(self, window: Floats) -> Floats:
        """Returns the growth per round trip, given only the window."""


@dataclass
class ByWindow:
    """Controls whose growth depends on the window (and on the round trip time)."""

    increase: Callable[[Numbers, Numbers], Floats]
    decrease: Callable[[Numbers], Floats]
    rtt_s: float
    goals: tuple[float, ...] = (1.0,)

    def begin(self, peak: Floats, goal: Floats) -> Floats:
        """Returns the windows after the decrease."""
        return (1 - self.decrease(peak)) * peak

    def over(self, window: Floats, seconds: Floats, rounds: float) -> Floats:
        """Returns the increase at a constant window."""
        return rounds * self.increase(window, seconds / rounds)

    def typical(self, window: Floats) -> Floats:
        """Returns the increase at an empty queue."""
        return self.increase(window, np.full_like(window, self.rtt_s))


@dataclass
class Cubic:
    """CUBIC (RFC 9438 sec. 4.2 and 4.3): a cubic of the time since the loss, or Reno's window."""

    c: float
    beta: float
    goals: tuple[float, ...]

    def begin(self, peak: Floats, goal: Floats) -> Floats:
        """The foot of the curve, whose plateau is at `goal`."""
        window = self.beta * peak
        self._peak, self._goal = peak, goal
        self._plateau_s = np.cbrt(np.maximum(0, goal - window) / self.c)
        self._elapsed_s = np.zeros_like(window)
        self._friendly = window
        return window

    def over(self, window: Floats, seconds: Floats, rounds: float) -> Floats:
        """Follows the curve, or Reno's window where it is larger."""
        slow = 3 * (1 - self.beta) / (1 + self.beta)
        self._friendly = self._friendly + rounds * np.where(self._friendly < self._peak, slow, 1.0)
        self._elapsed_s = self._elapsed_s + seconds
        curve = self._goal + self.c * (self._elapsed_s - self._plateau_s) ** 3
        reached = np.maximum(curve, self._friendly)
        # RFC 9438 sec. 4.2: at most half a window a round trip.
        return np.clip(reached - window, 0.0, 0.5 * rounds * window)

    def typical(self, window: Floats) -> Floats:
        """Reno's increase: near the plateau, where most losses occur, the curve is as flat."""
        return np.ones_like(window)


def growth_of(flows: FlowClass) -> Growth:
    """Returns the growth of a control.

    Raises:
        NotApplicableError: It has no law of growth, or answers marks.
    """
    law = law_of(flows)
    if flows.congestion == "cubic":
        beta = float(flows.parameters["beta"])
        goals = (1.0, (1 + beta) / 2) if flows.parameters["fast_convergence"] else (1.0,)
        return Cubic(float(flows.parameters["c"]), beta, goals)
    if law.increase is None or law.decrease is None or law.counts_marks:
        raise NotApplicableError(
            f"group {flows.group}: {flows.congestion} does not grow by a law of its window"
        )
    return ByWindow(law.increase, law.decrease, flows.rtt_s)
