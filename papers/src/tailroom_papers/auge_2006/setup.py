"""The set-up of Section IV-B: a few flows alongside Poisson packets that take half of 50 Mbit/s.

The paper gives neither packet size nor RTT: 1000 B and 100 ms make its 625 packets the
bandwidth-delay product, and what the background leaves free has one of 312 packets. It gives no
durations either.
"""

from collections.abc import Callable, Mapping, Sequence

from tailroom.scenario.types import (
    DropTailQueue,
    FairQueue,
    PerFlowUniform,
    Queue,
    Recovery,
    Scenario,
)
from tailroom.scenario.types import Flows as FlowGroup
from tailroom_papers.framework import *

RATE_BPS = 50e6
PACKET_BYTES = 1000
BDP_PACKETS = 625
RESIDUAL_BDP_PACKETS = 312
BUFFERS = (20, 100, BDP_PACKETS)
"""In packets, with the packet in transmission as in ns-2; our limits do not count it."""

LINK = "bottleneck"
QUEUE = f"links.{LINK}.queue"
KIND, LIMIT = f"{QUEUE}.kind", f"{QUEUE}.limit"
BACKGROUND = "background"
SERIES = ("link_series", "flow_series")

RTT: PerFlowUniform = {"uniform": ["100 ms", "100.16 ms"]}
"""Each run draws the phase of RTT and packet times, a packet time of 0.16 ms: it decides whose
packet finds the buffer full where ACKs clock out the packets, and the paper does not state it."""
RECOVERY: dict[str, Recovery] = {"reno": "newreno", "highspeed": "sack"}
"""As ns-2's agents have it: TCP/Newreno, and HighSpeed TCP in TCP/Sack1."""
WORDS = {"reno": "NewReno", "highspeed": "HighSpeed"}

Flows = Mapping[str, int]
"""Number of flows per control."""


def fifo(buffer: int) -> DropTailQueue:
    """A FIFO queue."""
    return {"kind": "drop_tail", "limit": f"{buffer - 1} packets"}


def fair(buffer: int) -> FairQueue:
    """Per-flow fair queueing that drops from the longest queue; the paper names no algorithm."""
    return {"kind": "fair", "limit": f"{buffer - 1} packets"}


QUEUES: dict[str, Callable[[int], Queue]] = {"FIFO": fifo, "fair queueing": fair}
"""The paper's two, by name."""


def settings(queue: Queue) -> dict[str, object]:
    """Settings that distinguish the points of a study: kind and limit of the queue."""
    return {KIND: queue["kind"], LIMIT: queue["limit"]}


def over(queues: Sequence[Queue]) -> dict[str, Sequence[object]]:
    """The axes of a study over these queues, which are every kind with every limit."""
    keys = [settings(queue) for queue in queues]
    return {key: list(dict.fromkeys(queue[key] for queue in keys)) for key in (KIND, LIMIT)}


def scenario(flows: Flows, queue: Queue, form: Form) -> Scenario:
    """Flows that only the link limits, alongside the background."""
    return {
        "title": "Flows next to a Poisson background",
        "duration": form.of("90 s", "200 s", "550 s"),
        "measure_from": "50 s",
        "series": {"interval": "100 ms"},
        "defaults": {"host": "plain"},
        "links": {LINK: {"rate": "50 Mbit/s", "delay": "40 ms", "queue": queue}},
        "flows": {BACKGROUND: background()} | {name: bulk(name, n) for name, n in flows.items()},
    }


def background() -> FlowGroup:
    """The flows that the link does not limit, as the paper has them: Poisson packets."""
    return {
        "count": 25,
        "path": [LINK],
        "packet_size": f"{PACKET_BYTES} B",
        "source": {"kind": "poisson", "rate": "1 Mbit/s"},
    }


def bulk(control: str, count: int = 1, recovery: Recovery | None = None) -> FlowGroup:
    """Flows that always have something to send."""
    return {
        "count": count,
        "path": [LINK],
        "congestion": control,
        "send_jitter": "none",  # as in ns-2
        "packet_size": f"{PACKET_BYTES} B",
        "rtt": RTT,
        "access_rate": "1 Gbit/s",
        "start": {"uniform": ["0 s", "5 s"]},
        "recovery": recovery or RECOVERY[control],
        "initial_window": 2,
    }


def study(
    name: str, flows: Flows, queues: Sequence[Queue], form: Form, keep: tuple[str, ...] = SERIES
) -> Study:
    """The same flows behind different queues."""
    table = scenario(flows, queues[0], form)
    return Study(name, table, grid=over(queues), seeds=seeds(form), keep=keep)


def seeds(form: Form) -> int:
    """Runs per point; in full enough to decide sides after the adjustment for their number."""
    return form.of(3, 5, 20)
