"""The queue of a flow's packets and a Poisson background, pass by pass.

Time is in slots, the time that the link takes to send a packet; a density is packets per slot.
docs/models/bursts-over-background.md has the derivation.
"""

from dataclasses import dataclass
from math import exp, expm1, log1p

import numpy as np
from numpy.typing import NDArray

from tailroom.models.numerics.root import root_between
from tailroom.models.window_laws.window_law import Floats

LARGEST_DECAY = 500.0
"""A packet; so that exp of it is a number."""


@dataclass(frozen=True)
class Loop:
    """A link, its background, and the round trip of the one flow that is not limited elsewhere."""

    load: float
    """Background, packets per slot, in (0, 1)."""
    limit: float
    """Queue limit, in waiting packets."""
    slots: float
    """Round trip time without queueing, in slots: the bandwidth-delay product."""
    phase: float = 0.0
    """Arrival time within a slot, in [0, 1), of a packet that left the link a round trip ago."""

    @property
    def residual(self) -> float:
        """Residual capacity, in packets per slot."""
        return 1 - self.load


def flow_variance(density: float) -> float:
    """Variance, per slot, of the packets of a flow that shared its link for many round trips.

    Where the link is busy, the packets that leave in t slots are t less those of the background,
    and one pass takes the variance V to (1 - load)^2 load + load^2 V. The fixed point
    load (1 - load) / (1 + load), with density = 1 - load, holds at any density.
    """
    return density * (1 - density) / (2 - density)


def decay(load: float, density: float) -> float:
    """Rate theta at which the probability of a queue falls with its length, exp(-theta q).

    The positive root of load (e^theta - 1) + density theta + V theta^2 / 2 = theta: that of M/D/1
    without the flow, and 2 (1 - load - density) / (load + V) near saturation.
    """
    variance = flow_variance(density)

    def excess(theta: float) -> float:
        return load * expm1(theta) / theta + density - 1 + variance * theta / 2

    # The root of the second-order equation is too large, by far at small loads.
    high = min(2 * (1 - load - density) / (load + variance), LARGEST_DECAY)
    while excess(high) < 0:
        high *= 2
    low = high / 2
    while excess(low) >= 0:
        low /= 2
    return root_between(excess, low, high, absolute=1e-12 * high)


def packing(load: float, density: float | Floats) -> Floats:
    """Growth, in packets per round trip, at which the end of a burst reaches this density.

    Queueing spreads a burst, because it delays the densest part most. Growth and spreading balance
    where y - ln y = 1 + growth (1 + load) / load, with
    y = residual / (residual - density).
    """
    more = density / (1 - load - np.asarray(density, dtype=float))
    growth: Floats = (more - np.log1p(more)) * load / (1 + load)
    return growth


def hit(load: float, density: float, phase: float | None, doubled: float) -> float:
    """The flow's share of the packets that a full buffer drops.

    A slot frees one place. A packet of the flow finds it taken if one of the background came first:
    one that arrives at `phase` in the slot with probability 1 - exp(-load phase), and with
    1 - (1 - exp(-load)) / load where any time in the slot is as likely (`None`). Of the packets of
    the flow a part `doubled` comes right behind another one, with no place left.
    """
    late = 1 + expm1(-load) / load if phase is None else -expm1(-load * phase)
    refused = load + density - 1 + (1 - density) * exp(-load)
    return min(1.0, density * (late + doubled) / refused)


@dataclass(frozen=True)
class Lattice:
    """Queue lengths in steps of one packet, or of several packets in a long buffer."""

    steps: int
    height: float

    @classmethod
    def of(cls, limit: float, most: int) -> "Lattice":
        """At most so many steps; the one beyond the last is overflow."""
        steps = max(1, min(round(limit), most))
        return cls(steps, (limit + 1) / (steps + 1))

    @property
    def lengths(self) -> Floats:
        """Waiting packets, from an empty to a full queue."""
        lengths: Floats = self.height * np.arange(self.steps + 1, dtype=np.float64)
        return lengths

    def pull(self, drift: Floats, variance: Floats | float) -> Floats:
        """Logarithm of steps down over steps up; `drift` half a step above a length."""
        pull = -2 * drift * self.height / variance
        bounded: Floats = np.where(np.abs(pull) < 1e-9, 1e-9, np.clip(pull, -500, 500))
        return bounded

    def rates(self, drift: Floats, variance: Floats | float) -> tuple[Floats, Floats]:
        """Steps up from each length, and down to it, per slot.

        Their difference is the drift; their ratio is that of the stationary diffusion.
        """
        pull = self.pull(drift, variance)
        scale = variance / (2 * self.height**2)
        return scale * pull / np.expm1(pull), scale * pull / -np.expm1(-pull)

    def any_of(self, part: float) -> float:
        """Probability that the packets lost in a step include a packet of the flow."""
        return -expm1(self.height * log1p(-min(part, 1 - 1e-9)))


def survival(
    loop: Loop, density: float, slots: Floats, part: float = 1.0, most: int = 100
) -> Floats:
    """Probability that a burst of this density loses no packet in `slots` slots.

    Args:
        loop: Link and background.
        density: Density of the burst, below the residual capacity.
        slots: Length of the burst, in slots.
        part: The flow's share of the dropped packets; 1 counts every overflow.
        most: Largest number of steps of the queue.

    The burst finds the queue of the background alone.
    """
    line = Lattice.of(loop.limit, most)
    drift = loop.residual - density
    theta = decay(loop.load, density)
    up, down = line.rates(np.array(-drift), 2 * drift / theta)
    n = line.steps
    diagonal = -np.r_[np.full(n, up), up * line.any_of(part)] - np.r_[0.0, np.full(n, down)]
    # Of a symmetric matrix, eigh reads the lower triangle.
    matrix = np.diag(diagonal) + np.diag(np.full(n, np.sqrt(up * down)), -1)
    values, vectors = np.linalg.eigh(matrix)
    # The chain is symmetric after scaling by the root of its stationary law.
    background = decay(loop.load, 0.0)
    scaled = np.exp(-(background - theta / 2) * line.lengths)
    weights = (scaled / np.exp(-background * line.lengths).sum()) @ vectors
    ends = np.exp(-theta / 2 * line.lengths) @ vectors
    found = np.exp(np.multiply.outer(slots, values)) @ (weights * ends)
    kept: Floats = np.clip(found, 1e-300, 1.0)
    return kept


def between(places: Floats, entries: int) -> tuple[NDArray[np.intp], Floats]:
    """Number of the entry before each place in [0, entries - 1], and the way to the next one."""
    low = np.minimum(places.astype(np.intp), entries - 2)
    return low, places - low
