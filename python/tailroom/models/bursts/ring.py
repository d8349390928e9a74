"""Passes of a flow whose packets fill the round trip: the queue remembers from pass to pass."""

from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from tailroom.models.bursts.queue import Lattice, Loop, between, decay, flow_variance, hit
from tailroom.models.window_laws.window_law import Floats

HALVINGS = 12
"""A pass is taken in 2 to this power implicit steps."""
LEAST_KEPT = 1e-200


@dataclass(frozen=True)
class Pass:
    """The effect of a pass on the queue, per window."""

    law: Floats
    """Distribution of the queue after the pass, given that the flow lost no packet."""
    kept: Floats
    """Probability that the flow lost no packet."""
    idle: Floats
    """Mean over the pass, per slot; so are the next two."""
    refused: Floats
    """Dropped packets."""
    queue: Floats
    """Packets that wait, not per slot."""


@dataclass(frozen=True)
class Ring:
    """Transition of the distribution of the queue in a pass, per window."""

    line: Lattice
    windows: Floats
    table: Floats
    """By window, from length, to length; what is missing has lost a packet of the flow.

    Four more columns hold, until the end of the pass or the flow's loss, slots, idle slots, packets
    refused, and packets that wait times slots. In one table, because a pass looks up all of it.
    """

    def step(self, law: Floats, window: Floats) -> Pass:
        """A pass that finds the queue with these laws."""
        count = len(self.windows)
        low, part = between(np.interp(window, self.windows, np.arange(count)), count)
        before = law[:, None, :]
        first, second = before @ self.table[low], before @ self.table[low + 1]
        entries = first[:, 0] + part[:, None] * (second - first)[:, 0]
        size = law.shape[1]
        after, (lasting, idle, refused, queue) = entries[:, :size], entries[:, size:].T
        kept = after.sum(axis=1)
        after = after / np.maximum(kept, LEAST_KEPT)[:, None]
        if kept.min() <= LEAST_KEPT:
            after[kept <= LEAST_KEPT] = np.arange(size) == size - 1
        return Pass(after, kept, idle / lasting, refused / lasting, queue / lasting)


def arrival_rate(loop: Loop, window: float, queue: Floats) -> Floats:
    """Sending rate of the flow, in packets per slot, at this queue length.

    A window beyond the residual product keeps (window - residual slots) / residual packets waiting,
    its own and the background's among them, on average; a round trip takes the distance from there
    to `load` of itself.
    """
    beyond = window - loop.residual * loop.slots
    round_trip = loop.slots + max(0.0, beyond) / loop.residual
    return np.clip(loop.residual + (beyond - loop.residual * queue) / round_trip, 0, 1)


def stays_busy(loop: Loop, window: float) -> float:
    """Probability that a queue at its limit was not empty during the last round trip.

    A Brownian motion back in time, with the drift that it has at the limit.
    """
    drift = float(arrival_rate(loop, window, np.array(loop.limit))) - loop.residual
    variance = loop.load + flow_variance(min(window / loop.slots, loop.residual))
    spread = np.sqrt(variance * loop.slots)
    towards = drift * loop.slots
    mirrored = np.exp(np.clip(-2 * drift * loop.limit / variance, -700, 700))
    above, below = (loop.limit + towards) / spread, (towards - loop.limit) / spread
    stays = _normal(above) - mirrored * _normal(below)
    return float(np.clip(stays, 0, 1))


def _normal(x: float) -> float:
    """The distribution function of the standard normal distribution."""
    return 0.5 * erfc(-x / sqrt(2))


def flow_part(loop: Loop, window: float, growth: float) -> float:
    """The flow's share of the dropped packets, at this window.

    A link that was busy for a round trip still has the flow's packets at the same place in a slot.
    """
    density = min(window / loop.slots, loop.residual)
    doubled = min(1.0, growth / window)
    same = stays_busy(loop, window)
    clocked = hit(loop.load, density, loop.phase, doubled)
    return same * clocked + (1 - same) * hit(loop.load, density, None, doubled)


def ring(loop: Loop, windows: Floats, growth: Floats, most: int, stride: float = 1.0) -> Ring:
    """The passes at these windows, on a queue of at most so many steps; `stride` passes at once."""
    line = Lattice.of(loop.limit, most)
    size = line.steps + 1
    lengths, middles = line.lengths, line.lengths + line.height / 2
    moves = np.zeros((len(windows), size, size))
    # Sums over a pass, by length: time, idle time, dropped packets, queue.
    rates = np.zeros((len(windows), size, 4))
    rates[:, :, 0], rates[:, :, 3] = 1.0, lengths
    inner = np.arange(line.steps)
    for at, window in enumerate(windows):
        density = min(window / loop.slots, 0.999 * loop.residual)
        variance = 2 * (loop.residual - density) / decay(loop.load, density)
        drift = arrival_rate(loop, window, middles) - loop.residual
        up, down = line.rates(drift, variance)
        falls = np.r_[0.0, down[:-1]]
        # The idle time is the drift that the reflection at an empty queue adds.
        empty = float(arrival_rate(loop, window, lengths[:1])[0]) - loop.residual
        rates[at, 0, 1] = max(0.0, line.height * up[0] - empty)
        rates[at, -1, 2] = line.height * up[-1]
        lost = line.any_of(flow_part(loop, window, float(growth[at])))
        moves[at, inner, inner + 1] = up[:-1]
        moves[at, inner + 1, inner] = down[:-1]
        leaving = up + falls
        leaving[-1] = falls[-1] + lost * up[-1]
        moves[at, np.arange(size), np.arange(size)] = -leaving
        stationary = -np.cumsum(np.r_[0.0, line.pull(drift, variance)[:-1]])
        stationary = np.exp(stationary - stationary.max())
        mean = float(stationary @ lengths / stationary.sum())
        moves[at] *= stride * (loop.slots + mean)
        rates[at] *= stride * (loop.slots + mean)
    passes = np.linalg.inv(np.eye(size) - moves / 2**HALVINGS)
    sums = passes @ rates / 2**HALVINGS
    for _ in range(HALVINGS):
        sums = sums + passes @ sums
        passes = passes @ passes
    return Ring(line, windows, np.concatenate([passes, sums], axis=2))
