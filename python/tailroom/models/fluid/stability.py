"""Linear stability of the fluid model at its fixed point (after Hollot, Misra, Towsley, Gong 2001).

Near the fixed point delays are constant, and a deviation y of the state obeys

    dy/dt = A y + sum of s_i u_i y(t - R_i),

with u_i the slope of the signal that class i hears and s_i that of the state by what it hears.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from tailroom.models.fluid.equations import Equations, Rest
from tailroom.models.window_laws.window_law import Floats

Complex = NDArray[np.complex128]

_WINDOW_STEP = 0.05
"""Relative step, wider than the kinks of tables."""
_CONTENT_STEP = 0.01
"""Relative to the distance from empty and from full."""
_STEP = 1e-4
_NODES = 160
"""Largest size of the matrix whose eigenvalues are the characteristic roots."""
_FREQUENCIES = 2000


@dataclass(frozen=True)
class Linear:
    """The linearised equations of the free windows and the queue."""

    now: Floats
    """A."""
    heard: Floats
    """s, a column per class."""
    sent: Floats
    """u, a row per class."""
    delays_s: Floats
    probability: Floats
    """Slope of the probability by the state: the signal that closes the loop."""
    by_probability: Floats
    """Slope of the state's derivative by the probability of now: what is dropped does not enter."""
    sent_by_probability: Floats
    """Slope of the signals by the probability."""

    def remainder(self, s: complex) -> Complex:
        """The matrix s - A - sum of s_i u_i e^(-s R_i), singular at characteristic roots s."""
        waves = self.heard * np.exp(-s * self.delays_s)
        matrix: Complex = s * np.eye(len(self.now)) - self.now - waves @ self.sent
        return matrix

    def loop_gain(self, frequencies: Floats) -> Complex:
        """L(j w), from the probability around the loop and back; the loop closes with -1."""
        at_rest = self.now - np.outer(self.by_probability, self.probability)
        sent = self.sent - np.outer(self.sent_by_probability, self.probability)
        s = 1j * frequencies[:, None, None]
        waves = self.heard * np.exp(-s * self.delays_s)
        matrices = s * np.eye(len(self.now)) - at_rest - waves @ sent
        drive = self.by_probability + waves @ self.sent_by_probability
        answers = np.linalg.solve(matrices, drive[..., None])[..., 0]
        gain: Complex = -(answers @ self.probability.astype(complex))
        return gain


def linearised(equations: Equations, rest: Rest) -> Linear:
    """The equations near a smooth fixed point, by central differences."""
    state, size = rest.state, len(equations.counts)
    heard = equations.signals(state)[:size]
    largest = equations.largest_windows
    moves = np.concatenate(
        [(state[:size] > 1) & (state[:size] < largest), np.ones(len(state) - size, bool)]
    )
    free = np.flatnonzero(moves)
    steps = np.maximum(_STEP * state, 1e-9)
    steps[:size] = _WINDOW_STEP * state[:size]
    steps[size] = _CONTENT_STEP * min(state[size], equations.queue.largest - state[size])
    now, sent = np.empty((len(state),) * 2), np.empty((size, len(state)))
    probability = np.empty(len(state))
    for index in free:
        step = np.zeros(len(state))
        step[index] = steps[index]
        up, down = state + step, state - step
        width = 2 * steps[index]
        now[:, index] = (equations.slope(up, heard) - equations.slope(down, heard)) / width
        signals = (equations.signals(up) - equations.signals(down)) / width
        sent[:, index] = signals[:size]
        probability[index] = (_heard(equations, up) - _heard(equations, down)) / width
    by_heard = np.empty((len(state), size))
    for number in range(size):
        # The slope is linear in the delayed signals.
        unit = np.eye(size)[number]
        by_heard[:, number] = equations.slope(state, unit) - equations.slope(state, 0 * unit)
    delays = equations.delays(state)
    by_probability = equations.slope_by_probability(state)
    once_a_round_trip = rest.probability * state[:size] >= 1
    use = moves[:size]
    return Linear(
        now=now[np.ix_(free, free)],
        heard=by_heard[np.ix_(free, np.flatnonzero(use))],
        sent=sent[np.ix_(np.flatnonzero(use), free)],
        delays_s=delays[use],
        probability=probability[free],
        by_probability=by_probability[free],
        sent_by_probability=np.where(once_a_round_trip, 0.0, state[:size] / delays)[use],
    )


def _heard(equations: Equations, state: Floats) -> float:
    return equations.queue.probability(state[len(equations.counts) :].tolist())


def dominant_root(linear: Linear) -> complex:
    """Returns the characteristic root with the largest real part, in 1/s, imaginary part >= 0.

    Eigenvalues of the equations as a transport of the past on Chebyshev points (Breda, Maset,
    Vermiglio 2005), then Newton's method on the characteristic equation.
    """
    size = len(linear.now)
    longest = max(float(linear.delays_s.max(initial=0.0)), 1e-9)
    count = int(np.clip(_NODES // size - 1, 8, 18))
    angles = np.pi * np.arange(count + 1) / count
    points = np.cos(angles)  # 1 is now, -1 the longest delay ago
    derivative = _chebyshev_derivative(points) * 2 / longest
    matrix = np.kron(derivative, np.eye(size))
    matrix[:size] = 0
    matrix[:size, :size] = linear.now
    for index, delay in enumerate(linear.delays_s):
        weights = _lagrange(points, 1 - 2 * delay / longest)
        matrix[:size] += np.kron(weights, np.outer(linear.heard[:, index], linear.sent[index]))
    roots = np.linalg.eigvals(matrix)
    first = complex(roots[np.argmax(roots.real)])
    root = _polished(linear, complex(first.real, abs(first.imag)))
    return root


def _polished(linear: Linear, guess: complex) -> complex:
    root = guess
    for _ in range(20):
        matrix = linear.remainder(root)
        waves = linear.heard * (linear.delays_s * np.exp(-root * linear.delays_s))
        slope = np.eye(len(matrix)) + waves @ linear.sent
        # d ln det M / ds = trace(M^-1 dM/ds)
        try:
            step = 1 / complex(np.trace(np.linalg.solve(matrix, slope)))
        except np.linalg.LinAlgError:
            return root
        root -= step
        if abs(step) < 1e-13 * (1 + abs(root)):
            break
    return root if abs(root - guess) < 0.2 * (abs(guess) + 1e-3) else guess


def _chebyshev_derivative(points: Floats) -> Floats:
    """Derivatives at Chebyshev points of the polynomial through values there."""
    count = len(points) - 1
    weights = np.ones(count + 1)
    weights[[0, -1]] = 2
    weights *= (-1.0) ** np.arange(count + 1)
    differences = points[:, None] - points + np.eye(count + 1)
    matrix = np.outer(weights, 1 / weights) / differences
    matrix -= np.diag(matrix.sum(axis=1))
    derivative: Floats = matrix
    return derivative


def _lagrange(points: Floats, at: float) -> Floats:
    """Weights of the values at Chebyshev points in the polynomial through them, somewhere else."""
    exact = np.isclose(points, at, rtol=0, atol=1e-14)
    if exact.any():
        return exact.astype(float)
    weights = (-1.0) ** np.arange(len(points)) / (at - points)
    weights[[0, -1]] /= 2
    normalised: Floats = weights / weights.sum()
    return normalised


@dataclass(frozen=True)
class Margins:
    """Stability margins of the loop."""

    gain: float
    """By which the answer of the probability may grow, or, below 1, to which it must shrink for the
    loop to be stable. Infinite if it may grow without bound."""
    phase_degrees: float
    """Further phase lag that keeps the loop stable; infinite if its gain never reaches 1."""


def margins(linear: Linear, stable: bool) -> Margins:
    """Gain and phase margin of the loop, which is stable when open, and so when closed or not.

    A loop may be stable although its gain is above 1 at some frequency where it has turned round;
    such ones are left out then.
    """
    if len(linear.delays_s) == 0:
        return Margins(inf, inf)
    fastest = 50 / float(linear.delays_s.min())
    grid = np.geomspace(1e-5 / float(linear.delays_s.max()), fastest, _FREQUENCIES)
    gain = linear.loop_gain(grid)
    size, lag = np.abs(gain), -np.unwrap(np.angle(gain))
    lag -= 2 * np.pi * np.round((lag[0] - np.pi / 4) / (2 * np.pi))
    turned = np.mod(lag + np.pi, 2 * np.pi)
    at = np.flatnonzero((np.abs(np.diff(turned)) > np.pi) & (np.diff(lag) != 0))
    part = (np.pi - np.mod(lag[at], 2 * np.pi)) / np.diff(lag)[at]
    heights = np.exp(np.log(size[at]) + part * np.diff(np.log(size))[at])
    largest = float(heights[heights < (1.0 if stable else np.inf)].max(initial=0.0))
    crossing = np.flatnonzero((size[:-1] >= 1) & (size[1:] < 1))
    logs = np.log(size)
    part = logs[crossing] / -np.diff(logs)[crossing]
    phases = np.degrees(np.pi - (lag[crossing] + part * np.diff(lag)[crossing]))
    return Margins(
        gain=1 / largest if largest > 0 else inf,
        phase_degrees=float(phases.min()) if len(phases) else inf,
    )
