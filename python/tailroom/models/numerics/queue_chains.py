"""Stationary distributions of one-server queues with a bound: M/M/1/K, M/D/1/K, thinned chains.

The offered load rho is given by x = ln(rho), so that loads near 1 keep their digits. K counts the
packet in service; waiting times are in mean service times.
"""

from bisect import bisect_left, bisect_right
from copy import copy
from dataclasses import dataclass
from math import exp, expm1, log, tanh
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tailroom.models.numerics import poisson
from tailroom.models.window_laws.window_law import Floats

Complex = NDArray[np.complex128]
AnyComplex = TypeVar("AnyComplex", float, Complex)


@dataclass(frozen=True)
class Stationary:
    """Long-run means of a queue."""

    loss: float
    """Share of the arrivals that is lost."""
    idle: float
    """Share of the time with an empty system: pi_0."""
    utilization: float
    """Share of the time in which the server works."""
    waiting: float
    """Mean number of waiting customers, without the customer in service."""
    wait: float
    """Mean waiting time of a customer who is accepted, in mean service times. In M/M/1/K it is the
    number that such a customer finds."""


def mm1k(log_load: float, places: int) -> Stationary:
    """M/M/1/K with K = `places` >= 1, at any load.

    Loss rho^K (1 - rho) / (1 - rho^(K + 1)); the wait is that of Barman et al. 2004 sec. III,
    rho / (1 - rho) - K rho^K / (1 - rho^K).
    """
    x = log_load
    if x == 0:
        loss = idle = 1 / (places + 1)
    else:
        # The chain read from full to empty is the one at the load 1 / rho.
        likely = expm1(-abs(x)) / expm1(-(places + 1) * abs(x))
        unlikely = exp(-places * abs(x)) * likely
        loss, idle = (unlikely, likely) if x < 0 else (likely, unlikely)
    utilization = exp(x) * (1 - loss) if x < 0 else 1 - idle
    wait = _geometric_mean(x, places - 1)
    return Stationary(loss, idle, utilization, wait * utilization, wait)


def _geometric_mean(x: float, largest: int) -> float:
    """Mean of n = 0..largest with probabilities in proportion to e^(n x)."""
    if x > 0:
        return largest - _geometric_mean(-x, largest)
    n = largest + 1
    if -n * x < 1:
        return largest / 2 + (n * _langevin(n * x / 2) - _langevin(x / 2)) / 2
    return -exp(x) / expm1(x) + n * exp(n * x) / expm1(n * x)


def _langevin(z: float) -> float:
    """coth(z) - 1/z."""
    if abs(z) < 0.05:
        return z / 3 - z**3 / 45 + 2 * z**5 / 945 - z**7 / 4725
    return 1 / tanh(z) - 1 / z


FEW_PLACES = 32
"""Up to here M/D/1/K is summed state by state; beyond, by the two slowest terms."""


def md1k(log_load: float, places: int) -> Stationary:
    """M/D/1/K with K = `places` >= 1, at any load.

    Let q_n be the number of departures that leave n behind, per departure that leaves none (the
    same for every K > n). Their generating function, that of Pollaczek and Khinchine, makes that of
    their partial sums 1 / (1 - z exp(rho (1 - z))), so that sums up to K are sums over its poles.
    Two are real, 1 and z0. The others are left out: they lie at least 2.3 times as far from 0 as z0
    at a load of 0.1 (8 times at 1), so that they make less than 1e-11 of the loss; at smaller loads
    the loss is below 1e-50.
    """
    if places <= FEW_PLACES:
        return _md1k_few(log_load, places)
    x, last, rho = log_load, places - 1, exp(log_load)
    u = log_decay(x)
    if abs(last * u) < 0.05:
        # At rho = 1 the poles meet and their terms cancel, to 1e-13 up to here. The sum is an
        # analytic function of u, hence its mean over a circle around u, where nothing cancels.
        around = u + 2 / last * _CIRCLE
        total, weighted = (float(np.mean(pole.real)) for pole in _two_poles(around, last))
        scale, refused = 1.0, 1 + expm1(x) * total
    else:
        # As multiples of the larger of the two terms.
        scale, decayed = exp(min(0.0, last * u)), exp(min(0.0, -last * u))
        other = -1 / expm1(x + u)
        own = -1 / expm1(x)
        lag = 1 / expm1(-u) if u > 0 else -exp(u) / expm1(u)
        total = scale * own + decayed * other
        weighted = scale * rho * (1 - rho / 2) * own**2 + decayed * other * (last - lag)
        refused = -decayed * other / own
    every = scale + rho * total
    # At very large loads rounding may push the ratios above their bounds.
    loss, utilization = min(1.0, refused / every), min(1.0, rho * total / every)
    waiting = min(max(0.0, weighted / every + places * loss - utilization), last)
    return Stationary(loss, scale / every, utilization, waiting, waiting / utilization)


_CIRCLE = np.exp(1j * np.pi * (np.arange(12) + 0.5) / 12)
"""The upper half; the lower one gives the same real parts."""


def _two_poles(u: Complex, last: int) -> tuple[Complex, Complex]:
    """Sums of q_n and of n q_n for n <= last, by the decay u near 0."""
    x = -_log_growth(u)
    rho: Complex = np.exp(x)
    below: Complex = -np.expm1(x)
    beyond: Complex = -np.expm1(x + u) * np.exp(last * u)
    fall: Complex = np.expm1(-u)
    weighted = rho * (1 - rho / 2) / below**2 + (last - 1 / fall) / beyond
    return 1 / below + 1 / beyond, weighted


def _log_growth(u: AnyComplex) -> AnyComplex:
    """ln((e^u - 1) / u) for |u| < 0.2."""
    square = (u / 2) ** 2
    return u / 2 + square * (1 / 6 - square * (1 / 180 - square * (1 / 2835 - square / 37800)))


def log_decay(log_load: float) -> float:
    """The decay u of M/D/1: P(N > n) falls as e^(-u n), and grows so above a load of 1.

    u / (e^u - 1) = rho, and u = 0 at rho = 1. The other root of z = exp(rho (z - 1)) is e^u.
    """
    x = log_load
    u = -2 * x if x < 1 else -exp(x)
    for _ in range(60):
        if abs(u) < 0.1:
            excess, slope = _log_growth(u) + x, (1 + _langevin(u / 2)) / 2
        elif u < 0:
            excess, slope = log(expm1(u) / u) + x, exp(u) / expm1(u) - 1 / u
        else:
            excess, slope = u + log(-expm1(-u) / u) + x, -1 / expm1(-u) - 1 / u
        step = excess / slope
        u -= step
        if abs(step) <= 1e-15 * abs(u):
            break
    return u


def _md1k_few(x: float, places: int) -> Stationary:
    """State by state, from sums without a minus sign: q_n e^(-rho n) for n < K."""
    rho, last = exp(x), places - 1
    states = np.arange(places)
    more = poisson.tails(places + 60, rho)  # P(A > m)
    fading = np.exp(-rho * states)
    # The cut between n and n + 1: up as often as down.
    scaled = np.ones(places)
    if last:
        steps = np.concatenate((fading * more[1 : places + 1], np.zeros(last)))
        cuts = steps[np.subtract.outer(states[:last], states[:last]) - 1]
        known = fading[:last] * more[:last]
        for state in range(last):
            scaled[1 + state] = known[state] + cuts[state, :state] @ scaled[1 : 1 + state]
    q = scaled * fading[::-1]
    total = float(q.sum())
    if x < 0:
        # Arrivals beyond the free places, during a service that begins with n there.
        beyond = np.cumsum(more[::-1])[::-1]
        lost = (q[0] * beyond[last] + q[1:] @ beyond[last:0:-1]) / total
        loss = float(lost / (1 + lost))
        every = float(fading[-1]) + rho * total
    else:
        every = float(fading[-1]) + rho * total
        loss = (float(fading[-1]) + (rho - 1) * total) / every
    utilization = rho * total / every
    waiting = float(q[1:] @ (states[1:] - 1)) / every + last * loss
    return Stationary(loss, float(fading[-1]) / every, utilization, waiting, waiting / utilization)


SMALLEST_LOG = -300.0
"""States less likely than the likeliest by e^-300 are left out."""


class ThinnedChain:
    """A birth-death chain with one server at rate 1 that refuses arrivals by the queue length.

    In state n arrivals at rate rho are accepted with probability 1 - p(n). Service times are
    exponential and refusals independent (Bonald, May, Bolot 2000).
    """

    def __init__(self, refusals: Floats) -> None:
        """Takes p(0), p(1), ... in [0, 1], not falling.

        Beyond the last probability, and from the first 1 on, no arrival is accepted.
        """
        full = int(np.searchsorted(refusals, 1.0))
        self.places = full
        """Largest number in the system."""
        self._refusals = np.append(refusals[:full], 1.0)
        self._thresholds = -np.log1p(-refusals[:full])
        self._log_accepted = np.concatenate(([0.0], -np.cumsum(self._thresholds)))

    def limited(self, places: int) -> "ThinnedChain":
        """Returns the same chain with at most this number of places."""
        chain = copy(self)
        chain.places = min(places, self.places)
        return chain

    def at(self, log_load: float) -> Stationary:
        """Long-run means at this load."""
        x = log_load
        first, end = self._likely(x)
        states = np.arange(first, end)
        logs = states * x + self._log_accepted[first:end]
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        # Sums instead of `@`, whose threads cost more than they save.
        loss = float((shares * self._refusals[first:end]).sum())
        if end > self.places:
            loss += float(shares[-1]) * (1 - float(self._refusals[self.places]))
        idle = float(shares[0]) if first == 0 else 0.0
        utilization = exp(x) * (1 - loss) if x < 0 else 1 - idle
        waiting = float((shares * np.maximum(states - 1, 0)).sum())
        return Stationary(loss, idle, utilization, waiting, waiting / utilization)

    def _likely(self, x: float) -> tuple[int, int]:
        """From the first to behind the last state that counts; their logs rise, then fall."""

        def log_share(n: int) -> float:
            return n * x + float(self._log_accepted[n])

        mode = min(self.places, int(np.searchsorted(self._thresholds, x)))
        least = log_share(mode) + SMALLEST_LOG
        first = bisect_left(range(mode), least, key=log_share)
        behind = range(mode, self.places + 1)
        return first, mode + bisect_right(behind, -least, key=lambda n: -log_share(n))
