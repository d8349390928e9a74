"""H-TCP (Leith, Shorten 2004): growth by the time since the last loss."""

from dataclasses import dataclass

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw, seconds

LEAST_BACKOFF = 0.5  # Leith, Shorten 2004 sec. 3: beta in [0.5, 0.8]
LARGEST_BACKOFF = 0.8
LINEAR = 10.0  # alpha = 1 + 10 e + (e / 2)^2, e seconds after the low-speed period
SQUARE = 0.25
REFERENCE_RTT_S = 0.1
LEAST_SCALE = 0.1  # Linux: 100 ms / RTT within 0.5 and 10
LARGEST_SCALE = 2.0
_STEPS = 8  # of Newton's method; relative error below 1e-14


@dataclass(frozen=True)
class Constants:
    """Parameters of the control by the names of the scenario."""

    low_speed_period_s: float = 1.0
    rtt_scaling: bool = True
    adaptive_backoff: bool = True

    def scale(self, rtt_s: Numbers) -> Floats:
        """Factor of the growth that depends on the RTT."""
        if not self.rtt_scaling:
            return np.ones_like(np.asarray(rtt_s, dtype=float))
        return np.clip(np.asarray(rtt_s, dtype=float) / REFERENCE_RTT_S, LEAST_SCALE, LARGEST_SCALE)

    def backoff(self, base_rtt_s: float, largest_rtt_s: float) -> float:
        """Fraction of the window after a loss: the fraction that just empties the queue."""
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
    )


def mean_window(p: Numbers, rtt_s: Numbers, constants: Constants) -> Floats:
    """Mean window in packets at loss probability p in (0, 1] and a constant RTT, at least 1."""
    p, rtt = np.asarray(p, dtype=float), np.asarray(rtt_s, dtype=float)
    window: Floats = rtt / (p * cycle_s(1 / p, rtt, constants))
    return np.maximum(1.0, window)


def cycle_s(packets: Floats, rtt_s: Floats, constants: Constants) -> Floats:
    """Seconds between two losses at this distance in packets, at a constant RTT.

    The growth is constant at first, so that packets rise as time squared; after that they are a
    polynomial of fourth order in the time since then.
    """
    beta, scale = constants.backoff(1.0, 1.0), constants.scale(rtt_s)
    # The scaled growth is at least 1: below 100 ms the low-speed period lasts longer.
    linear = _root(1 / np.minimum(scale, 1.0) - 1)
    flat_s, height = constants.low_speed_period_s + linear, np.maximum(1.0, scale)
    # Terms in that time of `once`, the integral of alpha = scale (1 + 10 e + e^2 / 4).
    once_0 = height * flat_s
    once_1 = scale * (1 + LINEAR * linear + SQUARE * linear**2)
    once_2 = scale * (LINEAR / 2 + SQUARE * linear)
    once_3 = scale * SQUARE / 3
    # beta P + 2 (1 - beta) once / R = P at the end, so that P = 2 once / R. Packets are
    # 2 (beta once period + (1 - beta) twice) / R^2, where `twice` is the integral of `once`.
    flat = (1 + beta) / 2 * once_0 * flat_s
    terms = (
        beta * once_1 * flat_s + once_0,
        beta * (once_1 + once_2 * flat_s) + (1 - beta) * once_1 / 2,
        beta * (once_2 + once_3 * flat_s) + (1 - beta) * once_2 / 3,
        beta * once_3 + (1 - beta) * once_3 / 4,
    )
    wanted = packets * rtt_s**2 / 2
    early_s = np.sqrt(np.minimum(wanted, flat) * 2 / ((1 + beta) * height))
    seconds: Floats = early_s + _positive_root(terms, np.maximum(0.0, wanted - flat))
    return seconds


def _positive_root(terms: tuple[Floats, ...], value: Floats) -> Floats:
    """The t >= 0 at which terms[0] t + ... + terms[3] t^4 is the value; all are positive."""
    c1, c2, c3, c4 = terms
    # No term exceeds the sum. From above, Newton's method falls onto the root of a convex function.
    t = np.minimum(np.sqrt(value / c2), np.sqrt(np.sqrt(value / c4)))
    for _ in range(_STEPS):
        excess = (((c4 * t + c3) * t + c2) * t + c1) * t - value
        t = t - excess / (((4 * c4 * t + 3 * c3) * t + 2 * c2) * t + c1)
    return t


def _root(value: Floats) -> Floats:
    """The time e at which 10 e + e^2 / 4 is the value."""
    time: Floats = 2 * value / (LINEAR + np.sqrt(LINEAR**2 + 4 * SQUARE * value))
    return time
