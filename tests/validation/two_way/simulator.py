"""A second simulator of two-way traffic through CoDel, written from RFC 8289 and RFC 9438 alone.

One heap of events, time in seconds, none of tailroom's code. Two links, one each way, carry the
data of the flows of one direction and the ACKs of the other. All propagation lies outside the
links: a fraction of it between senders and links, the rest between links and receivers. Each link
has a CoDel queue (RFC 8289 sec. 5). A sender is CUBIC (RFC 9438) and knows from each ACK which
packets were lost: data and ACKs stay in order, so that a gap is a loss. It answers losses once a
window, without waiting for three duplicates.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

DATA_BITS, ACK_BITS = 1500 * 8, 40 * 8
C, BETA = 0.4, 0.7  # RFC 9438 sec. 5 and 4.6
ALPHA = 3 * (1 - BETA) / (1 + BETA)  # RFC 9438 sec. 4.3
RETRANSMISSION_TIMEOUT_S = 1.0


@dataclass
class Packet:
    """A data packet, or the ACK of one, which also says how many were lost and which was last."""

    flow: "Flow"
    number: int
    sent: float
    is_ack: bool = False
    lost: int = 0
    last_lost: int = -1
    arrived: float = 0.0

    @property
    def bits(self) -> int:
        """On the wire."""
        return ACK_BITS if self.is_ack else DATA_BITS


@dataclass
class Link:
    """A queue under CoDel and a transmitter."""

    heap: "Heap"
    bits_per_s: float
    target: float
    interval: float
    queue: deque[Packet] = field(default_factory=deque)
    backlog_bits: int = 0
    busy: bool = False
    first_above: float = 0.0
    drop_next: float = 0.0
    count: int = 0
    last_count: int = 0
    dropping: bool = False
    sojourns: list[tuple[float, float]] = field(default_factory=list)

    def arrive(self, packet: Packet) -> None:
        """Takes in a packet."""
        packet.arrived = self.heap.now
        self.queue.append(packet)
        self.backlog_bits += packet.bits
        if not self.busy:
            self.serve()

    def serve(self) -> None:
        """Sends the next packet, if there is one."""
        packet = self.dequeue()
        self.busy = packet is not None
        if packet is None:
            return
        self.sojourns.append((self.heap.now, self.heap.now - packet.arrived))
        transmission = packet.bits / self.bits_per_s
        self.heap.after(transmission, self.serve)
        arrive = packet.flow.on_ack if packet.is_ack else packet.flow.on_data
        way_s = packet.flow.sender_way_s if packet.is_ack else packet.flow.receiver_way_s
        self.heap.after(transmission + way_s, lambda: arrive(packet))

    def take(self) -> tuple[Packet | None, bool]:
        """RFC 8289 sec. 5.6, `dodequeue`."""
        if not self.queue:
            self.first_above = 0.0
            return None, False
        now, packet = self.heap.now, self.queue.popleft()
        self.backlog_bits -= packet.bits
        if now - packet.arrived < self.target or self.backlog_bits <= DATA_BITS:
            self.first_above = 0.0
        elif self.first_above == 0.0:
            self.first_above = now + self.interval
        elif now >= self.first_above:
            return packet, True
        return packet, False

    def dequeue(self) -> Packet | None:
        """RFC 8289 sec. 5.5."""
        now = self.heap.now
        packet, may_drop = self.take()
        if self.dropping:
            if not may_drop:
                self.dropping = False
            while self.dropping and now >= self.drop_next:
                self.count += 1
                packet, may_drop = self.take()
                if may_drop:
                    self.drop_next += self.interval / math.sqrt(self.count)
                else:
                    self.dropping = False
        elif may_drop:
            packet, _ = self.take()
            self.dropping = True
            gained = self.count - self.last_count
            recent = now - self.drop_next < 16 * self.interval
            self.count = gained if gained > 1 and recent else 1
            self.drop_next = now + self.interval / math.sqrt(self.count)
            self.last_count = self.count
        return packet


class Heap:
    """What happens when."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pending: list[tuple[float, int, Callable[[], object]]] = []
        self.inserted = 0

    def after(self, delay: float, action: Callable[[], object]) -> None:
        """Does something later."""
        self.inserted += 1
        heapq.heappush(self.pending, (self.now + delay, self.inserted, action))

    def run(self, until: float) -> None:
        """Does all that happens before `until`."""
        while self.pending and self.pending[0][0] < until:
            self.now, _, action = heapq.heappop(self.pending)
            action()


class Flow:
    """Both ends of a bulk transfer under CUBIC."""

    def __init__(self, heap: Heap, links: tuple[Link, Link], ways_s: tuple[float, float]) -> None:
        self.heap, (self.data, self.acks) = heap, links
        self.sender_way_s, self.receiver_way_s = ways_s
        self.window, self.threshold = 10.0, math.inf
        self.next, self.acknowledged, self.lost = 0, -1, 0
        self.recovery = -1
        self.most = self.estimate = self.prior = self.root = self.epoch = 0.0
        self.expected, self.missing, self.last_missing = 0, 0, -1
        self.heard = heap.now
        self.watch()

    def send(self) -> None:
        """Fills the window."""
        while self.next - 1 - self.acknowledged < math.floor(self.window):
            packet = Packet(self, self.next, self.heap.now)
            self.heap.after(self.sender_way_s, partial(self.data.arrive, packet))
            self.next += 1

    def on_data(self, packet: Packet) -> None:
        """The receiver acknowledges a packet."""
        if packet.number > self.expected:
            self.missing += packet.number - self.expected
            self.last_missing = packet.number - 1
        self.expected = packet.number + 1
        ack = Packet(self, packet.number, packet.sent, True, self.missing, self.last_missing)
        self.heap.after(self.receiver_way_s, partial(self.acks.arrive, ack))

    def on_ack(self, ack: Packet) -> None:
        """The sender moves its window."""
        delivered = ack.number - self.acknowledged - (ack.lost - self.lost)
        has_lost = ack.lost > self.lost
        self.acknowledged, self.lost, self.heard = ack.number, ack.lost, self.heap.now
        if has_lost and ack.last_lost > self.recovery:
            self.reduce(BETA * self.window)
        elif ack.number > self.recovery:
            self.grow(delivered, self.heap.now - ack.sent)
        self.send()

    def grow(self, delivered: int, rtt: float) -> None:
        """RFC 9438 sec. 4.2 to 4.5, and slow start."""
        if self.window < self.threshold:
            self.window += delivered
            return
        if self.epoch == 0.0:
            self.epoch, self.estimate = self.heap.now, self.window
            self.root = math.cbrt(max(self.most - self.window, 0.0) / C)
            self.most = max(self.most, self.window)
        since = self.heap.now - self.epoch
        cubic = C * (since - self.root) ** 3 + self.most
        target = C * (since + rtt - self.root) ** 3 + self.most
        alpha = ALPHA if self.estimate < self.prior else 1.0
        self.estimate += alpha * delivered / self.window
        if cubic < self.estimate:
            self.window = max(self.window, self.estimate)
        else:
            target = min(max(target, self.window), 1.5 * self.window)
            self.window += delivered * (target - self.window) / self.window

    def reduce(self, window: float) -> None:
        """RFC 9438 sec. 4.6 and 4.7."""
        is_lower = self.window < self.most
        self.most = self.window * (1 + BETA) / 2 if is_lower else self.window
        self.prior, self.epoch, self.recovery = self.window, 0.0, self.next - 1
        self.window = self.threshold = max(window, 2.0)

    def watch(self) -> None:
        """Sends at the start, and after a timeout, should a whole window be lost."""
        if self.heap.now - self.heard >= RETRANSMISSION_TIMEOUT_S:
            self.reduce(BETA * self.window)
            self.window, self.heard, self.acknowledged = 1.0, self.heap.now, self.next - 1
        self.send()
        self.heap.after(RETRANSMISSION_TIMEOUT_S, self.watch)


@dataclass(frozen=True)
class Case:
    """Flows of both directions, as many each way, over two links."""

    rates_mbps: tuple[float, float]
    rtt_s: float
    flows: int = 1
    interval_s: float = 0.1
    target_s: float = 0.005
    sender_side: float = 0.5


def run(case: Case, until_s: float) -> tuple[Link, Link]:
    """The two links after a run of flows that start within 5 s."""
    heap = Heap()
    first, second = (
        Link(heap, rate * 1e6, case.target_s, case.interval_s) for rate in case.rates_mbps
    )
    ways_s = (case.sender_side * case.rtt_s / 2, (1 - case.sender_side) * case.rtt_s / 2)
    for number in range(case.flows):
        for links, start in (((first, second), 0.25), ((second, first), 0.5)):
            heap.after(5 * (number + start) / case.flows, partial(Flow, heap, links, ways_s))
    heap.run(until_s)
    return first, second
