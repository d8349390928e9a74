"""One cycle of synchronised flows over a link: from a loss to the next, when the buffer is full.

Equal flows of window w have n w packets in flight. Up to the bandwidth-delay product a round trip
lasts the propagation time; beyond it packets queue, and a round trip lasts n w / C.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tailroom.models.window_laws.window_law import Epoch, Floats, WindowLaw

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_STEPS = 200


@dataclass(frozen=True)
class Flows:
    """Equal flows that lose packets at the same time, alone on a link."""

    law: WindowLaw
    """Window law with `increase` and `decrease`, or with `seconds_to` instead of `increase`."""
    count: int
    rtt_s: float
    """Round trip time without queueing."""
    capacity_pps: float

    @property
    def bdp_packets(self) -> float:
        """Capacity times round trip time."""
        return self.capacity_pps * self.rtt_s

    def round_trip_s(self, window: Floats | float) -> Floats:
        """Round trip time at a window of each flow."""
        return np.maximum(self.rtt_s, self.count * np.asarray(window) / self.capacity_pps)

    def peak(self, limit: float) -> float:
        """Window of each flow that fills link and buffer, at least one packet."""
        return max(1.0, (self.bdp_packets + limit) / self.count)

    def trough(self, limit: float) -> float:
        """Window of each flow after the loss."""
        return self._after_loss(self.peak(limit))

    def _after_loss(self, peak: float) -> float:
        law = self.law
        if law.decrease_at is not None:
            return peak * (1 - law.decrease_at(self._epoch(peak, peak)))
        assert law.decrease is not None
        return peak * (1 - float(law.decrease(peak)))

    def _epoch(self, peak: float, goal: float) -> Epoch:
        return Epoch(
            peak=peak,
            goal=goal,
            base_rtt_s=self.rtt_s,
            peak_rtt_s=float(self.round_trip_s(peak)),
        )

    def path(self, limit: float) -> "Path":
        """Returns the windows of a flow between two losses, or over all distinct epochs."""
        peak = self.peak(limit)
        trough = self._after_loss(peak)
        if self.law.increase is None:
            return self._epochs(trough, peak)
        # The window grows by `increase` a round trip, so dw is dw / increase of them.
        kinks = [*self.law.kinks, self.bdp_packets / self.count]
        edges = [trough, *sorted(kink for kink in kinks if trough < kink < peak), peak]
        half = np.diff(np.log(edges))[:, None] / 2
        windows = np.exp(np.log(edges[:-1])[:, None] + half * (1 + _NODES)).ravel()
        growth = self.law.increase(windows, self.round_trip_s(windows))
        last = float(self.law.increase(peak, self.round_trip_s(peak)))
        return Path(windows, (half * _WEIGHTS).ravel() * windows / growth, max(1.0, last), 1)

    def _epochs(self, trough: float, peak: float) -> "Path":
        paths: list[Path] = []
        growth = 0.0
        for part in self.law.goals:
            # A round trip passes until the sender hears of the loss, and the window still grows.
            paths.append(self._stepped(trough, peak, part * (peak + growth)))
            growth = paths[-1].lost
        return _joined(paths)

    def _stepped(self, trough: float, peak: float, goal: float) -> "Path":
        seconds_to = self.law.seconds_to
        assert seconds_to is not None
        epoch = self._epoch(peak, goal)
        grid = _grid(trough, epoch.goal, peak)
        middles, rounds = (grid[1:] + grid[:-1]) / 2, np.empty(len(grid) - 1)
        times = self.round_trip_s(middles)
        steps = zip(pairwise(grid.tolist()), times.tolist(), strict=True)
        for index, ((begin, end), rtt_s) in enumerate(steps):
            epoch.window, epoch.rtt_s = begin, rtt_s
            seconds = seconds_to(epoch, end)
            rounds[index] = seconds / rtt_s
            epoch.elapsed_s += seconds
            epoch.rounds += seconds / rtt_s
        last = (grid[-1] - grid[-2]) / rounds[-1] if rounds[-1] > 0 else 0.0
        return Path(middles, rounds, max(1.0, float(last)), 1)


@dataclass(frozen=True)
class Path:
    """Windows of a flow over some epochs."""

    windows: Floats
    rounds: Floats
    """Number of round trips per entry."""
    lost: float
    """Packets that a flow loses: the growth of the window in the round trip before the sender
    learns of the first loss."""
    epochs: int


def _grid(trough: float, goal: float, peak: float) -> Floats:
    """Windows from trough to peak, dense near the goal, where some laws hardly grow."""
    left = np.linspace(1.0, 0.0, _STEPS + 1) ** 2
    if not trough < goal < peak:
        return peak - (peak - trough) * left
    return np.concatenate([goal - (goal - trough) * left, goal + (peak - goal) * left[-2::-1]])


def _joined(paths: list[Path]) -> Path:
    return Path(
        windows=np.concatenate([path.windows for path in paths]),
        rounds=np.concatenate([path.rounds for path in paths]),
        lost=sum(path.lost for path in paths),
        epochs=sum(path.epochs for path in paths),
    )


@dataclass(frozen=True)
class Cycle:
    """Means between two losses."""

    utilization: float
    """Mean share of the link's rate in use."""
    utilization_min: float
    """Utilization right after the loss."""
    queue_packets_mean: float
    queue_delay_s_mean: float
    """Mean queueing delay over packets, in seconds."""
    packets: float
    """Packets that all flows send between two losses, on average."""
    lost_packets: float
    """Lost packets among these."""
    seconds: float
    peak_window: float
    """Largest window of each flow, in packets."""


def cycle(flows: Flows, limit: float) -> Cycle:
    """Returns the cycle at a queue limit in waiting packets, 0 or more."""
    path = flows.path(limit)
    windows, rounds = path.windows, path.rounds
    total = flows.count * windows
    bdp = flows.bdp_packets
    times = flows.round_trip_s(windows)
    queue = np.clip(total - bdp, 0.0, limit)
    packets, seconds = float(total @ rounds), float(times @ rounds)
    trough = flows.count * flows.trough(limit)
    return Cycle(
        # A round trip moves a window, and could have moved a window that fills the link.
        utilization=min(1.0, packets / float(np.maximum(total, bdp) @ rounds)),
        utilization_min=min(1.0, trough / bdp) if bdp > 0 else 1.0,
        # A mean of values up to the limit, but for rounding.
        queue_packets_mean=min(limit, float(queue * times @ rounds) / seconds),
        queue_delay_s_mean=float(queue * total @ rounds) / packets / flows.capacity_pps,
        packets=packets / path.epochs,
        lost_packets=flows.count * path.lost / path.epochs,
        seconds=seconds / path.epochs,
        peak_window=flows.peak(limit),
    )
