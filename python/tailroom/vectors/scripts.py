"""What happens to an implementation, in SI units and without the words of a simulator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Occurrence:
    """An event of a run from which times are counted, the first with number 1."""

    event: str
    number: int = 1


Parameters = Mapping[str, float | bool | str]


@dataclass(frozen=True)
class LatePacket:
    """A packet that those behind it overtake."""

    number: int
    late_s: float
    """How much later it arrives at the receiver than in order."""


@dataclass(frozen=True)
class Pause:
    """A time in which the application writes nothing; before and after it, all that can be sent."""

    after: Occurrence
    """The event with which it begins."""
    length_s: float


@dataclass(frozen=True, kw_only=True)
class Policer:
    """A token bucket that drops packets without a token, and delays none."""

    rate_bps: float
    burst_bytes: int


@dataclass(frozen=True, kw_only=True)
class Writes:
    """Data that the application writes at random times: a Poisson process."""

    packets: int
    """In each write."""
    per_s: float
    """Writes per second, on average."""


@dataclass(frozen=True, kw_only=True)
class SenderScript:
    """A sender, alone on a path, whose packets are all acknowledged one by one.

    Time starts with the first data packet. Packets are numbered as they are sent, from 1, those
    sent again included. No packet waits anywhere but for a path that is slower than the sender.
    """

    KIND: ClassVar[str] = "sender"

    control: str
    parameters: Parameters = field(default_factory=dict)
    """Parameters of the control, as the source names or numbers them."""
    recovery: str = "sack"
    """How losses are detected and repaired: `newreno`, `sack` or `rack` (with tail loss probes)."""
    proportional_rate_reduction: bool = False
    slow_start: str = "standard"
    """`standard`, or `hystart_plus_plus`."""
    rtt_s: float
    rate_bps: float = 1e12
    """Rate of the path; at the default a window takes no time."""
    packet_bytes: int = 1500
    initial_cwnd_packets: int
    initial_ssthresh_packets: int | None = None
    min_rto_s: float = 1.0
    """RFC 6298 sec. 2.4."""
    duration_s: float
    transfer_packets: int | None = None
    """The application sends this many packets and no more."""
    lost_packets: tuple[int, ...] = ()
    """Numbers of the packets that are lost."""
    late_packets: tuple[LatePacket, ...] = ()
    """In the order of their numbers."""
    late_packets_after: Occurrence | None = None
    """The event from which these numbers count, instead of from the start."""
    marked_s: tuple[float, float] | None = None
    """Packets sent in this interval are marked CE."""
    lost_every: int | None = None
    """Every n-th packet is lost, the n-th first."""
    rtt_changes: tuple[tuple[float, float], ...] = ()
    """Time, and the RTT without queue of the packets sent from then on, both in seconds."""
    rate_changes: tuple[tuple[float, float], ...] = ()
    """Time in seconds, and the rate of the path from then on in bit/s."""
    rate_changes_after: Occurrence | None = None
    """The event from which these times count, instead of from the start."""
    limit_packets: int | None = None
    """Packets that may wait for the path; those beyond are lost. Without it, any number."""
    policer: Policer | None = None
    ack_interval_s: float | None = None
    """ACKs leave the path only at multiples of this time, all that have come until then."""
    writes: Writes | None = None
    """The application offers no more than it writes; without it, all that the sender can send."""
    pause: Pause | None = None
    detects_spurious_loss: bool | None = None
    """The sender learns that a packet it took for lost had arrived, and undoes its response."""


@dataclass(frozen=True)
class Arrivals:
    """Packets that arrive at a queue at equal intervals; none is ECN-capable."""

    rate_bps: float
    packet_bytes: int


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A sender that has a packet, or some, marked ECT(1) in flight at all times."""

    packet_bytes: int
    rtt_s: float
    window_packets: int | None = None
    """How many; one if not given."""


@dataclass(frozen=True, kw_only=True)
class QueueScript:
    """A queue in front of a link; arrivals begin at time 0 and do not react to it."""

    KIND: ClassVar[str] = "queue"

    discipline: str
    parameters: Parameters = field(default_factory=dict)
    limit_packets: int
    rate_bps: float
    arrivals: Arrivals
    others: tuple[Arrivals, ...] = ()
    """Further flows. Values of a flow end with its number: 1 is that of `arrivals`, then these."""
    probe: Probe | None = None
    duration_s: float
    measured_from_s: float = 0.0
    """Values without a time are means from here to the end."""


@dataclass(frozen=True, kw_only=True)
class MemoryScript:
    """Ports of a switch that share memory, each with more arrivals than it can send."""

    KIND: ClassVar[str] = "memory"

    policy: str
    parameters: Parameters
    memory_bytes: int
    ports: int
    port_rate_bps: float
    arrivals: Arrivals
    """At each port."""
    duration_s: float
    measured_from_s: float


@dataclass(frozen=True)
class HeadroomScript:
    """Headrooms of a published table."""

    KIND: ClassVar[str] = "headroom"

    table: str
    """Device of the table."""
    links: tuple[tuple[int, str], ...]
    """Speed in Mbit/s, and length of the cable."""


@dataclass(frozen=True, kw_only=True)
class Write:
    """The application hands over data."""

    at_s: float
    packets: int


@dataclass(frozen=True, kw_only=True)
class AckArrival:
    """An ACK reaches the sender. Packets are numbered from 1 in the order of the data."""

    at_s: float
    up_to: int = 0
    """All packets up to this one have arrived; 0 for none."""
    sacked: tuple[tuple[int, int], ...] = ()
    """Further packets that have arrived: the first and the last of each block."""
    duplicate: int | None = None
    """A packet that the ACK reports as arrived twice (D-SACK)."""
    ece: bool = False
    """The ACK has the flag ECE."""
    echo_s: float | None = None
    """The packet whose timestamp is echoed left at this time; without it, the echoed packet is the
    first one that the ACK acknowledges, as it left last."""


@dataclass(frozen=True, kw_only=True)
class AckScript:
    """A sender without a network: when the application writes, and which ACKs come.

    The host is Linux as its sysctls are by default, apart from what is said here. Time starts when
    the first packet of the handshake leaves.
    """

    KIND: ClassVar[str] = "ack_script"

    control: str
    """`reno` or `cubic`, as in Linux."""
    handshake_rtt_s: float
    """When the handshake ends; it is the first RTT sample."""
    packet_bytes: int = 1000
    """Data in a packet."""
    has_sack: bool = True
    has_timestamps: bool = False
    has_ecn: bool = False
    is_paced: bool = False
    """The host's queue discipline is fq, so that TCP paces."""
    slow_start_after_idle: bool = True
    """`tcp_slow_start_after_idle`."""
    hystart: bool = True
    """`hystart` of the module tcp_cubic."""
    writes: tuple[Write, ...]
    acks: tuple[AckArrival, ...]
    duration_s: float


Script = AckScript | SenderScript | QueueScript | MemoryScript | HeadroomScript
