"""PI, a queue discipline in Python.

Hollot, Misra, Towsley and Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP
Flows", INFOCOM 2001.
"""

import tailroom as tr


class Pi:
    """Drops or marks at random, with a probability that drives the queue to a target.

    The gains are the paper's example: 3,750 packets/s, 60 flows or more, an RTT of at most 246 ms.
    """

    timer_interval_s = 1 / 160

    def __init__(
        self, target_packets: float = 200.0, a: float = 1.822e-5, b: float = 1.816e-5
    ) -> None:
        self.target_packets = target_packets
        self.a = a
        self.b = b
        self.probability = 0.0
        self.last_error = 0.0

    def begin(self, link: tr.LinkInfo) -> None:
        """Takes the link's random stream: the same seed gives the same drops."""
        self.random = link.random

    def on_timer(self, queue: tr.QueueState) -> None:
        """p(kT) = a (q(kT) - q_ref) - b (q((k - 1) T) - q_ref) + p((k - 1) T)."""
        error = queue.packets - self.target_packets
        change = self.a * error - self.b * self.last_error
        self.probability = min(1.0, max(0.0, self.probability + change))
        self.last_error = error

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        """Signals congestion with the probability of the last update."""
        if self.random() >= self.probability:
            return "accept"
        return "mark" if packet.is_ecn_capable else "drop"

    def gauges(self) -> dict[str, float]:
        """What results and time series report."""
        return {"drop_probability": self.probability}
