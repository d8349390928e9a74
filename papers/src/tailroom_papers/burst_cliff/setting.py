"""Settings of the runs: a link, flows of one control on equal hosts, and a buffer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tailroom.scenario.types import Scenario

LIMIT = "links.bottleneck.queue.limit"
CONTROL = "flows.hosts.congestion"
PACING = "flows.hosts.pacing"
BURST = "flows.hosts.send_burst"
ACCESS = "flows.hosts.access_rate"
CONTROLS = ("reno", "highspeed", "cubic", "bbr3")
LINUX = (
    "Bursts, pacing and jitter stay those of the study. What makes the difference is proportional "
    "rate reduction: it sends through a whole recovery and so spreads a train, where RFC 6675 "
    "waits for half a window and then sends again as a train. A Linux host without it is "
    "predicted as well as a plain one; with it, the difference needs RACK and compressed SACKs "
    "too (docs/models/burst-cliff.md has the numbers)."
)
"""What changes with Linux hosts, and why."""

SCENARIO = cast(
    Scenario,
    {
        "title": "The burst cliff",
        "duration": "20 s",
        "measure_from": "10 s",
        "defaults": {"host": "plain"},
        "links": {
            "bottleneck": {
                "rate": "1 Gbit/s",
                "delay": "100 us",
                "queue": {"kind": "drop_tail", "limit": "0.01 bdp"},
            }
        },
        "flows": {
            "hosts": {
                "count": 10,
                "path": ["bottleneck"],
                "congestion": "reno",
                "packet_size": "1500 B",
                "rtt": {"from": "36 ms", "to": "44 ms"},
                "access_rate": "10 Gbit/s",
                "start": {"uniform": ["0 s", "1 s"]},
                "send_jitter": "auto",
            }
        },
    },
)
"""A scenario whose keys the rows of a study replace."""


@dataclass(frozen=True)
class Link:
    """A bottleneck and the flows that cross it."""

    gbps: float
    rtt_ms: float
    flows: int
    packet_bytes: int = 1500

    @property
    def bdp_packets(self) -> float:
        """The bandwidth-delay product at the mean RTT."""
        return self.gbps * 1e9 * self.rtt_ms * 1e-3 / (8 * self.packet_bytes)

    @property
    def window(self) -> float:
        """The share of a flow in the bandwidth-delay product, in packets."""
        return self.bdp_packets / self.flows

    def __str__(self) -> str:
        size = "" if self.packet_bytes == 1500 else f", {self.packet_bytes} B"
        return f"{self.gbps:g} Gbit/s, {self.rtt_ms:g} ms, {self.flows} flows{size}"

    def seconds(self, control: str) -> tuple[float, float]:
        """Returns when to begin to measure, and for how long: several cycles of the window."""
        rtt_s = self.rtt_ms * 1e-3
        rounds_s = self.window * rtt_s
        if control == "bbr3":
            # Two to three seconds from one probe for bandwidth to the next.
            return (10.0, 21.0) if self.gbps <= 2.5 else (3.0, 6.0)
        if control == "reno":
            warm_s, measured_s = 1.2 * rounds_s, 2.5 * rounds_s
        elif control == "highspeed":
            warm_s, measured_s = min(self.window, 250) * rtt_s, min(2.5 * self.window, 800) * rtt_s
        else:
            # Time from a loss back to the same window (RFC 9438 Eq. 2).
            back_s = (self.window * 0.3 / 0.4) ** (1 / 3)
            warm_s, measured_s = min(3 * back_s, 1.2 * rounds_s), min(10 * back_s, 2.5 * rounds_s)
        return max(warm_s, 80 * rtt_s, 1.5), max(measured_s, 250 * rtt_s, 2.0)


@dataclass(frozen=True)
class Hosts:
    """How hosts send."""

    control: str
    pacing: bool = False
    burst: int = 1
    access: float = 10.0
    """Rate of the access links over the rate of the bottleneck."""

    @property
    def label(self) -> str:
        """How packets leave, for legends."""
        if self.pacing:
            return "paced"
        return "unpaced" if self.burst == 1 else f"unpaced, bursts of {self.burst}"


def hosts_of(controls: Sequence[str], bursts: Sequence[int]) -> Iterator[Hosts]:
    """Yields unpaced hosts with these bursts and paced hosts, per control; BBR is always paced."""
    for control in controls:
        if control != "bbr3":
            yield from (Hosts(control, burst=burst) for burst in bursts)
        yield Hosts(control, pacing=True)


def row(link: Link, hosts: Hosts, buffer_bdp: float) -> dict[str, Any]:
    """Returns the scenario's values at a setting, by dotted key.

    Args:
        link: The link and its flows.
        hosts: How the flows send.
        buffer_bdp: Queue limit in bandwidth-delay products.
    """
    warm_s, measured_s = link.seconds(hosts.control)
    low, high = 0.9 * link.rtt_ms, 1.1 * link.rtt_ms
    return {
        "links.bottleneck.rate": f"{link.gbps:g} Gbit/s",
        LIMIT: f"{buffer_bdp:g} bdp",
        "flows.hosts.count": link.flows,
        "flows.hosts.packet_size": f"{link.packet_bytes} B",
        "flows.hosts.rtt.from": f"{low:g} ms",
        "flows.hosts.rtt.to": f"{high:g} ms",
        CONTROL: hosts.control,
        PACING: hosts.pacing,
        BURST: hosts.burst,
        ACCESS: f"{hosts.access * link.gbps:g} Gbit/s",
        "measure_from": f"{warm_s:g} s",
        "duration": f"{warm_s + measured_s:g} s",
    }


def rows(
    links: Sequence[Link], hosts: Sequence[Hosts], buffers_bdp: Sequence[float]
) -> dict[str, list[Any]]:
    """Returns every combination as values that vary together, by dotted key."""
    every = [row(link, how, limit) for link in links for how in hosts for limit in buffers_bdp]
    return {key: [one[key] for one in every] for key in every[0]}
