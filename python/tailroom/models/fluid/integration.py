"""Delay differential equations with delays that depend on the state, by the method of steps."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tailroom.models.window_laws.window_law import Floats


class System(Protocol):
    """A system of delay differential equations."""

    def signals(self, state: Floats) -> Floats:
        """Returns the signals of a state; the first signals act after a delay."""
        ...

    def delays(self, state: Floats) -> Floats:
        """Returns the delays, in seconds, of the signals that act in this state."""
        ...

    def slope(self, state: Floats, heard: Floats) -> Floats:
        """The derivative of the state."""
        ...

    def bounded(self, state: Floats) -> Floats:
        """Returns the state within its bounds."""
        ...


@dataclass(frozen=True)
class Path:
    """States and signals at equal steps of time, the start included."""

    step_s: float
    states: Floats
    signals: Floats

    @property
    def times_s(self) -> Floats:
        """Times of the states."""
        return self.step_s * np.arange(len(self.states), dtype=np.float64)


def integrate(system: System, start: Floats, before: Floats, step_s: float, steps: int) -> Path:
    """Integrates by Heun's method (second order), with linear interpolation of delayed signals.

    A delay shorter than a step counts as a step.

    Args:
        system: The equations.
        start: The state at time 0.
        before: The signals before time 0.
        step_s: Length of a step, in seconds, positive.
        steps: Number of steps.
    """
    states = np.empty((steps + 1, len(start)))
    states[0] = state = system.bounded(np.asarray(start, dtype=float))
    first = system.signals(state)
    # Row 0 is the time before the start. A future row is read with weight 0 only.
    signals = np.zeros((steps + 2, len(first)))
    signals[0, : len(before)] = before
    signals[1] = first
    flat, width, columns = signals.ravel(), len(first), np.arange(len(before))

    def heard(now: int, state: Floats) -> Floats:
        ago = np.maximum(1.0, system.delays(state) / step_s)
        at = np.maximum(now + 1 - ago, 0.0)
        index = at.astype(np.intp)
        places = index * width + columns
        early = flat[places]
        interpolated: Floats = early + (at - index) * (flat[places + width] - early)
        return interpolated

    for step in range(steps):
        slope = system.slope(state, heard(step, state))
        guess = system.bounded(state + step_s * slope)
        again = system.slope(guess, heard(step + 1, guess))
        state = system.bounded(state + step_s / 2 * (slope + again))
        states[step + 1] = state
        signals[step + 2] = system.signals(state)
    return Path(step_s=step_s, states=states, signals=signals[1:])
