"""The input of a model: one link of a scenario and the traffic that crosses it."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from tailroom.arguments import SEED
from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.scenario.named_values import nearest
from tailroom.scenario.scenario import Scenario


class _ReadByRules:
    """What the rules of the literature, which are in Rust, read."""

    def to_json(self) -> str:
        """Returns the fields as JSON, with null for a quantity without bound."""
        return json.dumps(self, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, _ReadByRules):
        # No rule reads the thousand sizes.
        fields = {name: field for name, field in vars(value).items() if name != "sizes_bytes"}
        return {name: None if field == inf else field for name, field in fields.items()}
    return sorted(value) if isinstance(value, frozenset) else dict(value)  # type: ignore[call-overload]


@with_field_docs
@dataclass(frozen=True)
class FlowClass(_ReadByRules):
    """Identical permanent flows under congestion control."""

    group: str
    """Name of their group."""
    count: int
    """Number of flows."""
    rtt_s: float
    """Two-way propagation delay."""
    congestion: str
    """Name of the congestion control."""
    parameters: Mapping[str, Any]
    """Its parameters as the scenario gives them; a quantity with a unit is a text."""
    packet_bytes: int
    """Size of a data packet, headers included."""
    access_rate_bps: float = inf
    """Rate of the access link of a flow."""
    max_window: float = inf
    """Largest window, in packets."""
    packets_per_ack: int = 1
    """Number of packets that an ACK acknowledges: 2 with delayed ACKs."""
    pacing: bool = False
    """Whether packets leave at a pacing rate."""
    send_burst: int = 1
    """Packets that segmentation offload sends together."""
    ecn: bool = False
    """Whether packets are ECN-capable, so that queues mark instead of dropping them."""


@with_field_docs
@dataclass(frozen=True)
class Stream(_ReadByRules):
    """Unresponsive permanent flows."""

    group: str
    """Name of their group."""
    process: str
    """Kind of the source: poisson, cbr, on_off."""
    count: int
    """Number of flows."""
    rate_bps: float
    """Mean rate of all these flows, on the wire."""
    packet_bytes: int
    """Mean size of a packet."""
    fixed_size: bool
    """Whether all packets have that size."""


@with_field_docs
@dataclass(frozen=True)
class DynamicFlows(_ReadByRules):
    """Flows that arrive and depart."""

    group: str
    """Name of their group."""
    process: str
    """Kind of the source: finite_flows, web, streaming, trace."""
    congestion: str | None
    """Name of the congestion control; `None` for media flows."""
    parameters: Mapping[str, Any]
    """Its parameters as the scenario gives them; empty for media flows."""
    arrivals_per_s: float
    """Mean number of arrivals per second."""
    poisson: bool
    """Whether the arrivals are a Poisson process."""
    size_bytes_mean: float
    """Mean payload; for media flows, mean bytes on the wire."""
    wire_bytes_mean: float
    """Mean size of a flow on the wire, headers included."""
    sizes_bytes: tuple[float, ...]
    """A sample of a thousand flow sizes."""
    rtt_s: float
    """Mean two-way propagation delay."""
    peak_rate_bps: float
    """Mean peak rate of a flow, on the wire; infinite if the flow has none."""
    packet_bytes: int
    """Size of a data packet, headers included."""
    header_bytes: int
    """Size of the headers of a packet."""
    initial_window: int
    """Window at the start of a flow, in packets."""
    max_window: float
    """Largest window, in packets."""

    @property
    def rate_bps(self) -> float:
        """Mean offered rate of all these flows, headers included."""
        return 8 * self.arrivals_per_s * self.wire_bytes_mean


@with_field_docs
@dataclass(frozen=True)
class Bottleneck(_ReadByRules):
    """One link of a scenario and the traffic that crosses it.

    Long flows are permanent flows that send as much as their window allows.
    """

    name: str
    """Name of the link."""
    rate_bps: float
    """What the link carries in the long run: its rate, the first one if it changes, or that of its
    shaper or policer."""
    discipline: str
    """Kind of the queue discipline."""
    parameters: Mapping[str, Any]
    """Its parameters as the scenario gives them."""
    amounts_packets: Mapping[str, float]
    """Parameters that are amounts in the buffer (`limit`, thresholds), in waiting packets."""
    packet_bytes: float
    """Size of the packets in which the buffer is counted: the mean of the long flows, else of the
    other data, else of the ACKs."""
    classes: tuple[FlowClass, ...] = ()
    """Permanent flows under congestion control, by RTT and access rate."""
    streams: tuple[Stream, ...] = ()
    """Unresponsive flows."""
    dynamic: tuple[DynamicFlows, ...] = ()
    """Flows that arrive and depart."""
    random_loss_fraction: float = 0.0
    """Mean random loss of the link, as a fraction of packets in [0, 1]."""
    other_links: tuple[str, ...] = ()
    """Names of the other links that its flows cross, in either direction."""
    changes: bool = False
    """Whether the rate or the delay of the link changes during a run."""
    has_token_bucket: bool = False
    """Whether the link has a shaper or a policer."""
    packet_sizes_bytes: frozenset[int] = frozenset()
    """Every size of data packets."""
    binding: tuple[str, ...] = ()
    """Keys of the parameters that decide on the queue before its limit is reached; empty if the
    limit alone decides."""
    packets_differ: bool = False
    """Whether packets of several sizes may wait, ACKs and the last packets of flows among them, but
    not those that open a connection: a limit in bytes is then no number of packets."""
    short_rtt_s: float = 0.0
    """Mean propagation RTT of the other flows under congestion control, where no long flow crosses
    the link; else 0."""
    port: Mapping[str, Any] = field(default_factory=dict)
    """All that shapes the packets of its port, by key as below `links.NAME` in the scenario:
    `shaper.rate`, `queue.target`, `pool.size`. Quantities are texts with their unit; a key that is
    absent shapes nothing."""

    @property
    def limit_packets(self) -> float:
        """Largest number of waiting packets, without the packet in transmission."""
        return self.amounts_packets["limit"]

    @property
    def system_packets(self) -> float:
        """Largest number of packets with the packet in transmission: K of M/M/1/K."""
        return self.limit_packets + 1

    @property
    def capacity_pps(self) -> float:
        """Capacity in packets per second."""
        return self.rate_bps / (8 * self.packet_bytes)

    @property
    def flow_count(self) -> int:
        """Number of permanent flows under congestion control."""
        return sum(flow_class.count for flow_class in self.classes)

    @property
    def mean_rtt_s(self) -> float:
        """Mean propagation RTT of the long flows, else of the others with a control; 0 if none."""
        if not self.classes:
            return self.short_rtt_s
        return (
            sum(flow_class.count * flow_class.rtt_s for flow_class in self.classes)
            / self.flow_count
        )

    @property
    def bdp_packets(self) -> float:
        """Capacity times the mean propagation RTT."""
        return self.capacity_pps * self.mean_rtt_s

    @property
    def stream_load(self) -> float:
        """Load of the unresponsive streams, as a fraction of the link's rate."""
        return sum(stream.rate_bps for stream in self.streams) / self.rate_bps

    @property
    def dynamic_load(self) -> float:
        """Offered load of the dynamic flows, as a fraction of the link's rate."""
        return sum(source.rate_bps for source in self.dynamic) / self.rate_bps

    def with_limit(self, packets: float) -> "Bottleneck":
        """Returns the same link with another queue limit.

        Args:
            packets: Largest number of waiting packets, without the packet in transmission.
        """
        count = f"{packets:.0f} packet{'' if packets == 1 else 's'}"
        return replace(
            self,
            amounts_packets={**self.amounts_packets, "limit": packets},
            port={**self.port, "queue.limit": count},
        )


def read_bottleneck(
    source: Scenario, link: str | None = None, seed: int | None = None
) -> Bottleneck:
    """Reads a link of a scenario.

    Args:
        source: The scenario.
        link: Name of the link; if left out, the slowest link that flows cross, and among equally
            slow links the one with most flows.
        seed: Seed of the random streams; the seed of the scenario if left out.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link.
    """
    model_input = _model_input(source, seed)
    by_name = {table["name"]: table for table in model_input["links"]}
    link = link or model_input["busiest"]
    if link not in by_name:
        raise ScenarioError(f"{source.place}: there is no link {link!r}; {nearest(link, by_name)}")
    return _bottleneck(by_name[link])


def read_bottlenecks(source: Scenario) -> list[Bottleneck]:
    """Reads all links of a scenario, in its order.

    Args:
        source: The scenario.

    Raises:
        ScenarioError: The scenario is wrong.
    """
    return [_bottleneck(table) for table in _model_input(source, None)["links"]]


def busiest_of(source: Scenario, links: Collection[str]) -> str | None:
    """Returns the slowest of some links that flows cross; of equally slow ones, that of most flows.

    Args:
        source: The scenario.
        links: Names of the links.

    Returns:
        Its name; `None` if flows cross none of them.

    Raises:
        ScenarioError: The scenario is wrong.
    """
    read = _model_input(source, None)
    crossed = [
        _bottleneck(table)
        for table in read["links"]
        if table["name"] in links and table["name"] in read["crossed"]
    ]
    busiest = min(
        crossed,
        key=lambda link: (link.rate_bps, -link.flow_count, -link.stream_load - link.dynamic_load),
        default=None,
    )
    return busiest.name if busiest else None


def crossed_links(source: Scenario) -> list[str]:
    """Returns the names of the links that carry data packets, in the order of the scenario.

    Args:
        source: The scenario.

    Raises:
        ScenarioError: The scenario is wrong.
    """
    crossed: list[str] = _model_input(source, None)["crossed"]
    return crossed


def _model_input(source: Scenario, seed: int | None) -> dict[str, Any]:
    SEED.check("seed", seed)
    read = source.handle
    with source.named_in_errors():
        model_input: dict[str, Any] = json.loads(read.model_input(seed))
    return model_input


def _bottleneck(table: dict[str, Any]) -> Bottleneck:
    lists = {
        "classes": tuple(FlowClass(**_unbounded(one)) for one in table["classes"]),
        "streams": tuple(Stream(**one) for one in table["streams"]),
        "dynamic": tuple(
            DynamicFlows(**{**_unbounded(one), "sizes_bytes": tuple(one["sizes_bytes"])})
            for one in table["dynamic"]
        ),
        "other_links": tuple(table["other_links"]),
        "binding": tuple(table["binding"]),
        "packet_sizes_bytes": frozenset(table["packet_sizes_bytes"]),
    }
    return Bottleneck(**{**table, **lists})


def _unbounded(table: dict[str, Any]) -> dict[str, Any]:
    """JSON has null for a quantity without bound; a media flow has no control at all."""
    return {
        name: inf if value is None and name != "congestion" else value
        for name, value in table.items()
    }
