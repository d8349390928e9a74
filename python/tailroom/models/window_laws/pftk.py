"""Reno with timeouts and a bounded window (Padhye, Firoiu, Towsley and Kurose 1998), "PFTK".

Losses come in trains: when a packet of a round trip is lost, so are those behind it. p is the
probability that a packet is lost given that the one before was not.
"""

from math import inf

import numpy as np

from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw


def law(rto_s: float, packets_per_ack: int = 1, max_window: float = inf) -> WindowLaw:
    """The full formula as a window law: packets sent in a round trip, on average."""

    def window(p: Numbers, rtt_s: Numbers) -> Floats:
        rtt = np.asarray(rtt_s, dtype=float)
        packets: Floats = rate_pps(p, rtt, rto_s, packets_per_ack, max_window) * rtt
        return packets

    return WindowLaw(
        source="Padhye et al. 1998, Eq. 31",
        window=window,
        increase=lambda w, _rtt_s: np.full_like(w, 1 / packets_per_ack, dtype=float),
        decrease=lambda w: np.full_like(w, 0.5, dtype=float),
    )


def rate_pps(
    p: Numbers, rtt_s: Numbers, rto_s: Numbers, packets_per_ack: int = 1, max_window: float = inf
) -> Floats:
    """Packets sent a second, lost ones included, by Eq. 31 of Padhye et al. 1998.

    Args:
        p: Loss probability, in (0, 1).
        rtt_s: Mean round trip time.
        rto_s: First retransmission timeout, T0; each further one in a row doubles it, six times.
        packets_per_ack: b, packets that an ACK acknowledges.
        max_window: Largest window of the receiver, W_max.
    """
    p, rtt, b = np.asarray(p, dtype=float), np.asarray(rtt_s, dtype=float), packets_per_ack
    free = mean_window_at_loss(p, b)
    window = np.minimum(free, max_window)
    timeout = timeout_probability(p, window)
    packets = (1 - p) / p + window + timeout / (1 - p)
    # With a bounded window the flow grows for b W_max / 8 round trips and then stays.
    bounded = b / 8 * window + (1 - p) / (p * window) + 2
    rounds = np.where(free < max_window, b / 2 * free + 1, bounded)
    waiting = timeout * np.asarray(rto_s, dtype=float) * _backoff(p) / (1 - p)
    rate: Floats = packets / (rtt * rounds + waiting)
    return rate


def mean_window_at_loss(p: Numbers, packets_per_ack: int = 1) -> Floats:
    """E[W], the mean window at a loss, unbounded (Eq. 13 of Padhye et al. 1998)."""
    p, b = np.asarray(p, dtype=float), packets_per_ack
    middle = (2 + b) / (3 * b)
    window: Floats = middle + np.sqrt(8 * (1 - p) / (3 * b * p) + middle**2)
    return window


def timeout_probability(p: Numbers, window: Numbers) -> Floats:
    """Q(w): a loss at this window leaves fewer than three duplicate ACKs (their Eq. 24)."""
    p, w = np.asarray(p, dtype=float), np.asarray(window, dtype=float)
    kept = np.log1p(-p)
    three = np.exp(3 * kept)
    late = 1 + three * -np.expm1(np.maximum(0.0, w - 3) * kept)
    probability: Floats = np.minimum(1.0, -np.expm1(3 * kept) * late / -np.expm1(w * kept))
    return probability


def _backoff(p: Floats) -> Floats:
    """f(p) (Eq. 29): mean length of a train of timeouts over T0, times 1 - p."""
    total: Floats = 1 + sum(2 ** (power - 1) * p**power for power in range(1, 7))
    return total
