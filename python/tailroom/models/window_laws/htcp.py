"""H-TCP (Leith, Shorten 2004): growth by the time since the last loss."""

from dataclasses import dataclass

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws.durations import seconds
from tailroom.models.window_laws.window_law import Epoch, Floats, Numbers, WindowLaw

LEAST_BACKOFF = 0.5  # Leith, Shorten 2004 sec. 3: beta in [0.5, 0.8]
LARGEST_BACKOFF = 0.8
LINEAR = 10.0  # alpha = 1 + 10 e + (e / 2)^2, e seconds after the low-speed period
SQUARE = 0.25
REFERENCE_RTT_S = 0.1
LEAST_SCALE = 0.1  # Linux: 100 ms / RTT within 0.5 and 10
LARGEST_SCALE = 2.0
_LONGEST_S = 1e9
_HALVINGS = 56


@dataclass(frozen=True)
class Constants:
    """Parameters of the control by the names of the scenario."""

    low_speed_period_s: float = 1.0
    rtt_scaling: bool = True
    adaptive_backoff: bool = True

    def scale(self, rtt_s: Numbers) -> Floats:
        """The factor by which the RTT scales the growth."""
        if not self.rtt_scaling:
            return np.ones_like(np.asarray(rtt_s, dtype=float))
        return np.clip(np.asarray(rtt_s, dtype=float) / REFERENCE_RTT_S, LEAST_SCALE, LARGEST_SCALE)

    def backoff(self, base_rtt_s: float, largest_rtt_s: float) -> float:
        """What is left of the window after a loss: the part that just empties the queue."""
        if not self.adaptive_backoff:
            return LEAST_BACKOFF
        return min(max(base_rtt_s / largest_rtt_s, LEAST_BACKOFF), LARGEST_BACKOFF)


def law(flows: FlowClass) -> WindowLaw:
    """H-TCP with the scenario's parameters.

    Losses come at equal windows and throughput. The mean window is that at a constant RTT, where
    the adaptive backoff is 0.8.
    """
    given = flows.parameters
    constants = Constants(
        low_speed_period_s=seconds(given["low_speed_period"]),
        rtt_scaling=bool(given["rtt_scaling"]),
        adaptive_backoff=bool(given["adaptive_backoff"]),
    )
    flat = constants.backoff(1.0, 1.0)
    return WindowLaw(
        source="Leith, Shorten 2004 sec. 3, integrated",
        window=lambda p, rtt_s: mean_window(p, rtt_s, constants),
        decrease=lambda w: np.full_like(w, 1 - flat, dtype=float),
        seconds_to=lambda epoch, w: seconds_to(epoch, w, constants),
        decrease_at=lambda epoch: 1 - constants.backoff(epoch.base_rtt_s, epoch.peak_rtt_s),
    )


def seconds_to(epoch: Epoch, w: float, constants: Constants) -> float:
    """Time until the window reaches w, at the growth half way there."""
    wanted = (w - epoch.window) * epoch.rtt_s
    first = wanted / growth(epoch, epoch.elapsed_s, constants)
    return wanted / growth(epoch, epoch.elapsed_s + first / 2, constants)


def growth(epoch: Epoch, elapsed_s: float, constants: Constants) -> float:
    """Growth in packets a round trip, 2 (1 - beta) alpha, so long after a loss."""
    excess = max(0.0, elapsed_s - constants.low_speed_period_s)
    alpha = 1 + LINEAR * excess + SQUARE * excess**2
    if constants.rtt_scaling:
        scale = epoch.base_rtt_s / REFERENCE_RTT_S
        alpha = max(1.0, alpha * min(max(scale, LEAST_SCALE), LARGEST_SCALE))
    return 2 * (1 - constants.backoff(epoch.base_rtt_s, epoch.peak_rtt_s)) * alpha


def mean_window(p: Numbers, rtt_s: Numbers, constants: Constants) -> Floats:
    """Mean window in packets at loss probability p in (0, 1] and a constant RTT, at least 1."""
    p, rtt = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(rtt_s, dtype=float))
    low, high = np.full(p.shape, -np.log(_LONGEST_S)), np.full(p.shape, np.log(_LONGEST_S))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        short = cycle_packets(np.exp(middle), rtt, constants) * p < 1
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    window: Floats = rtt / (p * np.exp(low))
    return np.maximum(1.0, window)


def cycle_packets(period_s: Numbers, rtt_s: Numbers, constants: Constants) -> Floats:
    """Packets between two losses so many seconds apart, at a constant RTT."""
    period, rtt = np.asarray(period_s, dtype=float), np.asarray(rtt_s, dtype=float)
    scale = constants.scale(rtt)
    # The scaled growth is at least 1: below 100 ms the low-speed period lasts longer.
    linear = _root(1 / np.minimum(scale, 1.0) - 1)
    flat = constants.low_speed_period_s + linear
    late = np.maximum(0.0, period - flat)
    # alpha = scale (1 + 10 e + e^2 / 4) at e = linear + t, as a polynomial in t.
    coefficients = (
        scale * (1 + LINEAR * linear + SQUARE * linear**2),
        scale * (LINEAR + 2 * SQUARE * linear),
        scale * SQUARE,
    )
    early = np.minimum(period, flat)
    height = np.maximum(1.0, scale)
    once = height * early
    twice = height * early**2 / 2 + once * late
    for power, coefficient in enumerate(coefficients):
        once = once + coefficient * late ** (power + 1) / (power + 1)
        twice = twice + coefficient * late ** (power + 2) / ((power + 1) * (power + 2))
    beta = constants.backoff(1.0, 1.0)
    # beta P + 2 (1 - beta) once / R = P after the period, so P = 2 once / R.
    packets: Floats = 2 * (beta * once * period + (1 - beta) * twice) / rtt**2
    return packets


def _root(value: Floats) -> Floats:
    """The time e at which 10 e + e^2 / 4 is the value."""
    time: Floats = 2 * value / (LINEAR + np.sqrt(LINEAR**2 + 4 * SQUARE * value))
    return time
