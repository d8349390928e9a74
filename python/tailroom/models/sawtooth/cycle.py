"""One cycle of synchronised flows over a link: from a loss to the next, when the buffer is full.

Equal flows of window w have n w packets in flight. Up to the bandwidth-delay product a round trip
lasts the propagation time; beyond it packets queue, and a round trip lasts n w / C.
"""

from dataclasses import dataclass

from tailroom import _engine
from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import law_of
from tailroom.models.window_laws.window_law import WindowLaw


@dataclass(frozen=True)
class Flows:
    """Equal flows that lose packets at the same time, alone on a link."""

    control: FlowClass
    """A class with their congestion control and its parameters."""
    count: int
    rtt_s: float
    """Round trip time without queueing."""
    capacity_pps: float

    @property
    def law(self) -> WindowLaw:
        """Their window law.

        Raises:
            NotApplicableError: There is no closed law for their control.
        """
        return law_of(self.control)

    @property
    def bdp_packets(self) -> float:
        """Capacity times round trip time."""
        return self.capacity_pps * self.rtt_s

    def trough(self, limit: float) -> float:
        """Window of each flow after the loss."""
        return _engine.sawtooth_trough(
            self.control, self.count, self.rtt_s, self.capacity_pps, limit
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
    means = _engine.sawtooth_cycle(
        flows.control, flows.count, flows.rtt_s, flows.capacity_pps, limit
    )
    return Cycle(*means)
