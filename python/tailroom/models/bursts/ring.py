"""Passes of a flow whose packets fill the round trip: the queue remembers from pass to pass."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from tailroom.models.bursts.queue import Lattice, Loop, decay, flow_variance, hit
from tailroom.models.window_laws.window_law import Floats

HALVINGS = 12
"""A pass is taken in 2 to this power implicit steps."""
LEAST_KEPT = 1e-200


@dataclass(frozen=True)
class Ring:
    """What a pass does to the law of the queue, at each of some windows."""

    line: Lattice
    windows: Floats
    passes: Floats
    """By window, from length, to length; what is missing has lost a packet of the flow."""
    lasting: Floats
    """By window and from length: slots until the end of the pass or the flow's loss."""
    idle: Floats
    """The same of slots in which the link is idle."""
    refused: Floats
    """The same of packets that the buffer refuses."""
    queue: Floats
    """The same of packets that wait, times slots."""

    def between(self, window: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The place of each window, and how far it is to the next one."""
        place = np.clip(np.searchsorted(self.windows, window) - 1, 0, len(self.windows) - 2)
        low, high = self.windows[place], self.windows[place + 1]
        return place, np.clip((window - low) / (high - low), 0, 1)[:, None]

    def step(self, law: Floats, window: Floats) -> tuple[Floats, Floats]:
        """The law after a pass, given that the flow lost nothing; and the probability of that."""
        place, part = self.between(window)
        before = law[:, None, :]
        low, high = before @ self.passes[place], before @ self.passes[place + 1]
        after = (1 - part) * low[:, 0] + part * high[:, 0]
        kept = after.sum(axis=1)
        full = np.zeros_like(after)
        full[:, -1] = 1.0
        some = (kept > LEAST_KEPT)[:, None]
        return np.where(some, after / np.maximum(kept, LEAST_KEPT)[:, None], full), kept

    def rates(self, law: Floats, window: Floats) -> tuple[Floats, Floats, Floats]:
        """Means over the pass of `idle`, `refused` and `queue`, per slot."""
        place, part = self.between(window)

        def total(of: Floats) -> Floats:
            found: Floats = (law * ((1 - part) * of[place] + part * of[place + 1])).sum(axis=1)
            return found

        lasting = total(self.lasting)
        return (
            total(self.idle) / lasting,
            total(self.refused) / lasting,
            total(self.queue) / lasting,
        )


def arrival_rate(loop: Loop, window: float, queue: Floats) -> Floats:
    """What the flow sends, packets a slot, when so much waits.

    A window beyond the residual product keeps (window - residual slots) / residual packets waiting,
    its own and the background's among them, on average; a round trip takes the distance from there
    to `load` of itself.
    """
    beyond = window - loop.residual * loop.slots
    round_trip = loop.slots + max(0.0, beyond) / loop.residual
    return np.clip(loop.residual + (beyond - loop.residual * queue) / round_trip, 0, 1)


def stays_busy(loop: Loop, window: float) -> float:
    """Probability that a queue at its limit has not been empty for a round trip.

    A Brownian motion back in time, with the drift that it has at the limit.
    """
    drift = float(arrival_rate(loop, window, np.array(loop.limit))) - loop.residual
    variance = loop.load + flow_variance(min(window / loop.slots, loop.residual))
    spread = np.sqrt(variance * loop.slots)
    towards = drift * loop.slots
    mirrored = np.exp(np.clip(-2 * drift * loop.limit / variance, -700, 700))
    stays = scipy.special.ndtr((loop.limit + towards) / spread) - mirrored * scipy.special.ndtr(
        (towards - loop.limit) / spread
    )
    return float(np.clip(stays, 0, 1))


def flow_part(loop: Loop, window: float, growth: float) -> float:
    """The flow's part of the packets refused, at this window.

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
    # What is summed over a pass, by length: time, idle time, packets refused, queue.
    rates = np.zeros((len(windows), size, 4))
    rates[:, :, 0], rates[:, :, 3] = 1.0, lengths
    inner = np.arange(line.steps)
    for at, window in enumerate(windows):
        density = min(window / loop.slots, 0.999 * loop.residual)
        variance = 2 * (loop.residual - density) / decay(loop.load, density)
        drift = arrival_rate(loop, window, middles) - loop.residual
        up, down = line.rates(drift, variance)
        falls = np.r_[0.0, down[:-1]]
        # What the reflection at an empty queue adds to the drift is the idle time.
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
    lasting, idle, refused, queue = np.moveaxis(sums, 2, 0)
    return Ring(line, windows, passes, lasting, idle, refused, queue)
