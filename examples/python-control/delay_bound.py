"""A congestion control of your own: it grows until the queueing delay reaches a bound."""

import tailroom as tr


class DelayBound:
    """Additive increase below the bound, additive decrease above it; halves on congestion."""

    def __init__(self, increase: float = 1.0, bound_ms: float = 10.0) -> None:
        self.increase = increase
        self.bound_s = bound_ms / 1000

    def on_ack(self, event: tr.AckEvent) -> float:
        """The window after an ACK: `increase` packets more, or fewer, in a round trip."""
        step = self.increase * event.acked_packets / event.cwnd_packets
        if event.rtt_s is not None and event.rtt_s - event.min_rtt_s > self.bound_s:
            return event.cwnd_packets - step
        return event.cwnd_packets + step

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        """The window to fall to."""
        return event.cwnd_packets / 2
