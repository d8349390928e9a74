"""One cycle of synchronised flows over a link: from a loss to the next, when the buffer is full.

Equal flows of window w have n w packets under way. Up to the bandwidth-delay product a round trip
lasts the propagation time; beyond it packets queue, and it lasts n w / C.
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
    """With `increase` and `decrease`, or `seconds_to` in place of `increase`."""
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
            return peak * (1 - law.decrease_at(self._epoch(peak)))
        assert law.decrease is not None
        return peak * (1 - float(law.decrease(peak)))

    def _epoch(self, peak: float) -> Epoch:
        return Epoch(peak=peak, base_rtt_s=self.rtt_s, peak_rtt_s=float(self.round_trip_s(peak)))

    def path(self, limit: float) -> tuple[Floats, Floats]:
        """Windows of a flow between two losses, and how many round trips each stands for."""
        peak = self.peak(limit)
        trough = self._after_loss(peak)
        if self.law.increase is None:
            return self._stepped(trough, peak)
        # The window grows by `increase` a round trip, so dw is dw / increase of them.
        kinks = [*self.law.kinks, self.bdp_packets / self.count]
        edges = [trough, *sorted(kink for kink in kinks if trough < kink < peak), peak]
        half = np.diff(np.log(edges))[:, None] / 2
        windows = np.exp(np.log(edges[:-1])[:, None] + half * (1 + _NODES)).ravel()
        widths = (half * _WEIGHTS).ravel() * windows
        return windows, widths / self.law.increase(windows, self.round_trip_s(windows))

    def _stepped(self, trough: float, peak: float) -> tuple[Floats, Floats]:
        seconds_to = self.law.seconds_to
        assert seconds_to is not None
        epoch = self._epoch(peak)
        # Close steps near the peak, where some laws hardly grow.
        left = np.linspace(1.0, 0.0, _STEPS + 1) ** 2
        grid = peak - (peak - trough) * left
        middles, rounds = (grid[1:] + grid[:-1]) / 2, np.empty(_STEPS)
        times = self.round_trip_s(middles)
        steps = zip(pairwise(grid.tolist()), times.tolist(), strict=True)
        for index, ((begin, end), rtt_s) in enumerate(steps):
            epoch.window, epoch.rtt_s = begin, rtt_s
            seconds = seconds_to(epoch, end)
            rounds[index] = seconds / rtt_s
            epoch.elapsed_s += seconds
            epoch.rounds += seconds / rtt_s
        return middles, rounds


@dataclass(frozen=True)
class Cycle:
    """What happens between two losses."""

    utilization: float
    """Mean share of the link's rate in use."""
    utilization_min: float
    """That right after the loss."""
    queue_packets_mean: float
    queue_delay_s_mean: float
    """Mean over packets."""
    packets: float
    """That all flows send."""
    seconds: float
    peak_window: float
    """Of each flow."""


def cycle(flows: Flows, limit: float) -> Cycle:
    """The cycle at a queue limit in packets that wait, 0 or more."""
    windows, rounds = flows.path(limit)
    total = flows.count * windows
    bdp = flows.bdp_packets
    times = flows.round_trip_s(windows)
    queue = np.maximum(0.0, total - bdp)
    packets, seconds = float(total @ rounds), float(times @ rounds)
    trough = flows.count * flows.trough(limit)
    return Cycle(
        # A round trip moves a window, and could have moved a window that fills the link.
        utilization=min(1.0, packets / float(np.maximum(total, bdp) @ rounds)),
        utilization_min=min(1.0, trough / bdp) if bdp > 0 else 1.0,
        queue_packets_mean=min(limit, float(queue * times @ rounds) / seconds),
        queue_delay_s_mean=float(queue * total @ rounds) / packets / flows.capacity_pps,
        packets=packets,
        seconds=seconds,
        peak_window=flows.peak(limit),
    )
