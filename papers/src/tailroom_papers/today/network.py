"""The networks of today: one bottleneck of 10 or 100 Gbit/s, and hosts as they are now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tailroom.scenario.types import Scenario

LIMIT = "links.bottleneck.queue.limit"
PACKET_BITS = 9000 * 8
"""Jumbo frames, as links of these rates carry them between data centres and laboratories."""

HOST: dict[str, Any] = {
    "path": ["bottleneck"],
    "packet_size": "9000 B",
    "header_size": "52 B",
    "delayed_ack": True,
    "prr": True,
    "slow_start": {"kind": "hystart_plus_plus"},
    # Segmentation offload hands the network card 64 KB at a time.
    "send_burst": 7,
}
"""Settings of a host with offload and HyStart++ (RFC 9406), except its congestion control."""


def buffers(
    limits: Sequence[float], settle_s: float, seconds: float, per_bdp_s: float
) -> dict[str, list[str]]:
    """Queue limits in BDP, and durations that grow with them, as a cycle of the window does."""
    return {
        LIMIT: [f"{limit:g} bdp" for limit in limits],
        "duration": [f"{settle_s + seconds + per_bdp_s * limit:g} s" for limit in limits],
    }


@dataclass(frozen=True)
class Bottleneck:
    """A link and what its flows have in common."""

    gbps: int
    rtt_ms: float

    def __str__(self) -> str:
        return f"{self.gbps} Gbit/s and {self.rtt_ms:g} ms"

    @property
    def bdp_packets(self) -> float:
        """The bandwidth-delay product."""
        return self.gbps * 1e9 * self.rtt_ms * 1e-3 / PACKET_BITS

    def scenario(
        self,
        title: str,
        seconds: float,
        settle_s: float,
        flows: Mapping[str, object],
        queue: Mapping[str, object] | None = None,
    ) -> Scenario:
        """Flows over the link, measured for so many seconds once they have settled."""
        link = {
            "rate": f"{self.gbps} Gbit/s",
            "delay": "100 us",
            "queue": {"kind": "drop_tail", "limit": "1 bdp", **(queue or {})},
        }
        table = {
            "title": title,
            "duration": f"{settle_s + seconds:g} s",
            "measure_from": f"{settle_s:g} s",
            "defaults": {"host": "plain"},
            "links": {"bottleneck": link},
            "flows": flows,
        }
        return cast(Scenario, table)

    def hosts(
        self, control: str, count: int, settle_s: float, rtt_ms: float | None = None
    ) -> dict[str, object]:
        """Hosts that send all the time, with RTTs within 5 % of the link's or of the given one."""
        rtt = self.rtt_ms if rtt_ms is None else rtt_ms
        return {
            **HOST,
            "count": count,
            "congestion": control,
            "rtt": {"uniform": [f"{0.95 * rtt:g} ms", f"{1.05 * rtt:g} ms"]},
            # Faster than the link, so bursts of a host spread only at the bottleneck.
            "access_rate": f"{2.5 * self.gbps:g} Gbit/s",
            # The time of a packet on the link; without it, phases decide which flows lose.
            "send_jitter": f"{PACKET_BITS / self.gbps:g} ns",
            "start": {"uniform": ["0 s", f"{settle_s / 4:g} s"]},
        }
