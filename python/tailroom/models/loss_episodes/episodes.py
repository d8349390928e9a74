"""Windows of several flows between loss episodes, of which each flow is part by chance.

A step by step simulation of windows, not of packets: the windows grow by their law until link and
buffer are full, some flows lose, and so on. Copies of the link run side by side in one array. The
random numbers have a fixed seed, so that the same link always has the same answer.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tailroom.models.window_laws.window_law import Floats, WindowLaw

COPIES = 48
EPISODES = 48
FIRST_COUNTED = 16
STEPS = 8
"""Steps between two episodes."""
NEWTON_STEPS = 5
"""From an empty queue."""
NEWTON_STEPS_ON = 2
"""From the queue a step ago."""
SEED = 1


@dataclass(frozen=True)
class Link:
    """A link and the flows that cross it."""

    capacity_pps: float
    limit_packets: float
    """Queue that a loss episode begins with."""
    rtts_s: Floats
    """Propagation RTT per flow, in seconds."""
    law: WindowLaw
    """Window law with `increase` and `decrease`."""


@dataclass(frozen=True)
class Episodes:
    """Means over episodes."""

    utilization: float
    queue_packets_mean: float
    share: float
    """Mean share of the flows that lose in an episode."""
    cycle_s: float
    """Mean time between two episodes."""
    growth_packets: float
    """Growth of all windows in the round trip of an episode."""
    windows_packets: float
    """Mean sum of the windows at the beginning of an episode."""


Exposure = Callable[[Floats, Floats], Floats]
"""Mean number of losses per flow in an episode, from windows and RTTs of shape (copies, flows)."""


def queue_packets(link: Link, windows: Floats, least: Floats | None = None) -> Floats:
    """Queue per copy at which the flows' rates add up to the capacity; 0 if they do not.

    Newton's method from below on a convex function, which never passes the root.

    Args:
        link: The link.
        windows: Windows of shape (copies, flows).
        least: A smaller queue per copy, from which the search begins; by default 0.
    """
    queue = np.zeros(len(windows)) if least is None else least
    for _ in range(NEWTON_STEPS if least is None else NEWTON_STEPS_ON):
        trips = link.rtts_s + queue[:, None] / link.capacity_pps
        rates = windows / trips
        excess = rates.sum(axis=1) - link.capacity_pps
        slope = (rates / trips).sum(axis=1) / link.capacity_pps
        queue = np.maximum(0.0, queue + excess / slope)
    return queue


def run(link: Link, exposure: Exposure) -> Episodes:
    """Means over the counted episodes of all copies.

    Args:
        link: The link; `limit_packets` may be 0.
        exposure: Mean number of losses per flow in an episode.
    """
    return _Windows(link, exposure).run()


class _Windows:
    def __init__(self, link: Link, exposure: Exposure) -> None:
        self.link, self.exposure = link, exposure
        self.random = np.random.default_rng(SEED)
        flows = len(link.rtts_s)
        self.full_s = link.rtts_s + link.limit_packets / link.capacity_pps
        bdp = link.capacity_pps * float(link.rtts_s.mean())
        equal = (bdp + link.limit_packets) / flows
        # Windows differ at the start as they do after a number of losses.
        self.windows = equal * self.random.uniform(0.5, 1.0, (COPIES, flows))
        self.resting_s = np.zeros((COPIES, flows))
        self.seconds = self.busy_s = self.queue_s = 0.0
        self.losses = self.growth = self.total = 0.0

    def run(self) -> Episodes:
        for episode in range(EPISODES):
            counted = episode >= FIRST_COUNTED
            self._grow(counted)
            self._lose(counted)
        episodes = (EPISODES - FIRST_COUNTED) * COPIES
        return Episodes(
            # Means of values up to these bounds, but for rounding.
            utilization=min(1.0, self.busy_s / self.seconds),
            queue_packets_mean=min(self.link.limit_packets, self.queue_s / self.seconds),
            share=self.losses / episodes / len(self.full_s),
            cycle_s=self.seconds / episodes,
            growth_packets=self.growth / episodes,
            windows_packets=self.total / episodes,
        )

    def _grow(self, counted: bool) -> None:
        """Windows grow until the queue has its limit, by midpoint steps."""
        link = self.link
        load, queue = self._load(), queue_packets(link, self.windows)
        for left in range(STEPS, 0, -1):
            per_s = self._growth_per_s(queue)
            missing = link.capacity_pps - (self.windows / self.full_s).sum(axis=1)
            gained = (per_s / self.full_s).sum(axis=1)
            step = np.maximum(0.0, missing / gained / left)
            begin, still = self.windows, np.minimum(self.resting_s, step[:, None])
            self.windows = begin + per_s * (step[:, None] - still) / 2
            middle = queue_packets(link, self.windows, queue)
            per_s = self._growth_per_s(middle)
            self.windows = begin + per_s * (step[:, None] - still)
            self.resting_s -= still
            before, was = load, queue
            load, queue = self._load(), queue_packets(link, self.windows, middle)
            if counted:
                # Simpson's rule for the queue, whose path bends where it begins.
                self._count(step, (before + load) / 2, (was + 4 * middle + queue) / 6)

    def _growth_per_s(self, queue: Floats) -> Floats:
        """Growth of each window in packets per second."""
        trips = self.link.rtts_s + queue[:, None] / self.link.capacity_pps
        assert self.link.law.increase is not None
        growth: Floats = self.link.law.increase(self.windows, trips) / trips
        return growth

    def _load(self) -> Floats:
        """Share of the capacity in use per copy."""
        rates = (self.windows / self.link.rtts_s).sum(axis=1)
        load: Floats = np.minimum(1.0, rates / self.link.capacity_pps)
        return load

    def _count(self, seconds: Floats, load: Floats, queue: Floats) -> None:
        self.seconds += float(seconds.sum())
        self.busy_s += float(seconds @ load)
        self.queue_s += float(seconds @ queue)

    def _lose(self, counted: bool) -> None:
        """Some flows lose, at least one, and reduce a round trip later."""
        link = self.link
        law = link.law
        assert law.increase is not None
        assert law.decrease is not None
        trips = np.broadcast_to(self.full_s, self.windows.shape)
        chance = -np.expm1(-self.exposure(self.windows, trips))
        loses = self.random.random(self.windows.shape) < chance
        # An episode has a loss.
        spared = ~loses.any(axis=1)
        first = (chance.cumsum(axis=1) / chance.sum(axis=1, keepdims=True)) > self.random.random(
            (COPIES, 1)
        )
        loses[spared, first.argmax(axis=1)[spared]] = True
        if counted:
            everywhere = np.ones(COPIES)
            self._count(
                everywhere * float(self.full_s.mean()), everywhere, everywhere * link.limit_packets
            )
            self.losses += float(loses.sum())
            self.growth += float(law.increase(self.windows, trips).sum())
            self.total += float(self.windows.sum())
        lowered = np.maximum(1.0, self.windows * (1 - law.decrease(self.windows)))
        self.windows = np.where(loses, lowered, self.windows)
        self.resting_s = np.where(loses, trips, 0.0)
