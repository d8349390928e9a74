"""The engine, as compiled from crates/tailroom-python."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, final, type_check_only

from numpy.typing import NDArray

__all__ = [
    "DCTCP_THRESHOLD_BDP",
    "SQUARE_ROOT_SPREAD",
    "AckEvent",
    "BeginEvent",
    "Columns",
    "CongestionEvent",
    "ControlOutput",
    "FlowRequest",
    "LinkInfo",
    "LostPacketEvent",
    "QueueList",
    "QueuePacket",
    "QueueState",
    "RateSampleEvent",
    "RestartEvent",
    "RoundEvent",
    "Scenario",
    "ScriptedSender",
    "Seen",
    "SeenFlow",
    "SeenLink",
    "SourceInfo",
    "Steps",
    "bbr_in_flight_cap",
    "bbr_loss_based_share",
    "bbr_probing_fraction",
    "bounds_harmonic_rtt_s",
    "bounds_loss",
    "build",
    "cliff_edge_packets",
    "cliff_edges",
    "cliff_hosts",
    "cliff_paced_fill",
    "cliff_train_fill",
    "cliff_utilization",
    "components",
    "dctcp_amplitude",
    "dctcp_queue_mean",
    "dctcp_utilization",
    "decrease_minimum_utilization",
    "device_equivalents",
    "equivalents",
    "estimate_buffer",
    "f_quantile",
    "few",
    "import_capture",
    "meant",
    "need_load_below_one",
    "need_permanent_flows",
    "no_window_law",
    "permanent_load",
    "profile",
    "quantity",
    "read_measurement",
    "remark",
    "rule_assumptions",
    "rule_prediction",
    "rule_words",
    "sawtooth_cycle",
    "sawtooth_trough",
    "schema",
    "shared_assumption",
    "size_search_step",
    "square_root_quantile",
    "square_root_required",
    "square_root_utilization",
    "stability_fixed_point",
    "stability_margin",
    "stability_window",
    "student_quantile",
    "student_tail",
    "summary_schema",
    "tables",
    "tiny_kept",
    "tiny_required",
]

_FindControl: TypeAlias = Callable[[str, str], Callable[[], object] | None]
_FindSource: TypeAlias = Callable[[str, str], Callable[[str], object] | None]

@type_check_only
class _Answer(TypedDict):
    summary: str
    scenario: str
    series: str | None
    tables: dict[str, Columns | None]

@type_check_only
class _Capture(TypedDict):
    columns: dict[str, NDArray[Any]]
    flow: list[str]
    sender: list[str]
    receiver: list[str]
    packets: int
    unseen_bytes: int
    skipped: list[tuple[str, int]]
    broken: tuple[int, str] | None

@final
class Columns:
    """Columns of equal length that the engine still owns."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Hands the columns over as NumPy arrays by name, without copying; once."""

@final
class Scenario:
    """A scenario that has been read.

    Every key is known, every value is in range, and the files that it names are loaded.
    """

    def __new__(
        cls,
        text: str,
        directory: str | PathLike[str],
        overrides: Sequence[tuple[str, str]],
        bare: Sequence[str] = ...,
        find_control: _FindControl | None = None,
        find_discipline: _FindControl | None = None,
        find_source: _FindSource | None = None,
        files: tuple[Sequence[str], str] | None = None,
    ) -> Scenario: ...
    @property
    def seed(self) -> int:
        """Seed of the random streams."""
    @property
    def groups(self) -> list[str]:
        """Names of the groups under congestion control; the name of the only group."""
    @property
    def controls(self) -> list[str]:
        """Names of the controls, disciplines and sources that are not the engine's own."""
    @property
    def files(self) -> list[str]:
        """Paths of the files that the scenario names, as it writes them."""
    @property
    def bare_numbers(self) -> dict[str, str]:
        """Units of the numbers that were given without one, by dotted key."""
    @property
    def resolved(self) -> dict[str, Any]:
        """The tables of the scenario with every default filled in."""
    def written(self, key: str) -> Any:
        """What the text and the overrides give for a dotted key; `None` if nothing."""
    def check(self, seed: int | None = None) -> None:
        """Checks that the scenario can be run with a seed; with its own if left out."""
    def to_toml(self, seed: int | None = None) -> str:
        """The scenario as TOML with every default filled in."""
    def model_input(self, seed: int | None = None) -> str:
        """The input of the analytic models, as JSON."""
    def variates(self, seed: int) -> list[tuple[str, float]]:
        """How far from their known means the draws of groups are, those that explain most first."""
    def run(
        self,
        seed: int | None = None,
        progress: Callable[[float, float], object] | None = None,
        find_control: _FindControl | None = None,
        samples: int | None = None,
        series: bool = False,
    ) -> _Answer:
        """Runs the scenario from start to end without holding the interpreter's lock.

        `samples` is the number of samples of the time series if the scenario asks for none; fewer
        where so many would take more than a twentieth of its memory. With `series`, the answer has
        all time series as JSON.
        """
    def steps(
        self,
        every: str,
        acts_on: Sequence[str],
        seed: int | None = None,
        find_control: _FindControl | None = None,
        samples: int | None = None,
    ) -> Steps:
        """Opens a run in steps of `every`; packets wait to be served at the links of `acts_on`."""

@final
class ScriptedSender:
    """A sender without a network; times in seconds, packets from 0."""

    def __new__(
        cls, scenario: Scenario, opens_at_s: float, handshake_rtt_s: float
    ) -> ScriptedSender:
        """That of the first group of a scenario, whose links do not matter."""
    def write(self, at_s: float, packets: int) -> None:
        """The application writes."""
    def ack(
        self,
        at_s: float,
        cumulative: int,
        blocks: Sequence[tuple[int, int]],
        *,
        ece: bool = False,
        marked: int = 0,
        duplicate: int | None = None,
        echo_s: float | None = None,
    ) -> None:
        """An ACK comes; a block ends before its second number."""
    def fire(self, before_s: float) -> float | None:
        """Fires the timers that are due next, if that is before a time; returns when."""
    def take_sent(self) -> list[tuple[float, int, bool]]:
        """What has left since the last call: time, packet, and whether it was sent before."""
    def info(self) -> dict[str, float | str]:
        """The state, as Linux shows it in `tcp_info`."""

@final
class Steps:
    """A run that stands between two steps."""

    @property
    def links(self) -> list[str]:
        """Names of the links."""
    @property
    def flows(self) -> list[tuple[str, str]]:
        """Names of the permanent flows, with the name of their group."""
    @property
    def time_s(self) -> float:
        """The end of the last step, in seconds."""
    @property
    def is_over(self) -> bool:
        """Whether the last step has ended."""
    def step(self) -> Seen | None:
        """Runs up to the end of the next step; `None` after the last."""
    def set_rate(self, link: int, rate: str) -> None:
        """Sets the rate of a link, as text with its unit."""
    def set_queue(self, link: int, parameters: str) -> None:
        """Sets parameters of the discipline of a link, as a JSON object."""
    def hold(self, flow: int, window: float | None = None, pacing_rate: str | None = None) -> None:
        """Sets the window and the pacing rate of a flow under the stepped control."""
    def hold_arrived(
        self,
        group: str,
        ordinal: int,
        window: float | None = None,
        pacing_rate: str | None = None,
    ) -> None:
        """The same, of a flow that has arrived in a group; `ordinal` of its flows came before."""
    def copy(self) -> Steps | None:
        """A run in the same state; `None` if the run has code in Python."""
    def finish(self, series: bool = False) -> _Answer:
        """Runs to the end. Returns what `Scenario.run` returns; once."""

@final
class Seen:
    """What is seen at the end of a step."""

    @property
    def time_s(self) -> float:
        """The end of the step."""
    @property
    def links(self) -> dict[str, SeenLink]:
        """The links by name."""
    @property
    def flows(self) -> dict[str, SeenFlow]:
        """The flows by name: the permanent ones, then arriving ones under the stepped control.

        `web.3` is the fourth flow that arrived in the group `web`. It is seen if it was in progress
        in the step.
        """

@final
class SeenLink:
    """A link at the end of a step. Counts, fractions, rates and means are those of the step."""

    @property
    def queue_packets(self) -> int:
        """Packets that wait, without the packet in transmission."""
    @property
    def queue_bytes(self) -> int:
        """Bytes of these packets."""
    @property
    def utilization(self) -> float:
        """The fraction of the capacity that was used."""
    @property
    def throughput_bps(self) -> float:
        """The rate of the packets whose last bit left, headers included."""
    @property
    def arrivals_packets(self) -> int:
        """Packets that reached the buffer."""
    @property
    def drops_packets(self) -> int:
        """Packets that were dropped."""
    @property
    def marks_packets(self) -> int:
        """Packets that were marked."""
    @property
    def queue_delay_s_mean(self) -> float | None:
        """Mean wait of the packets whose transmission began; `None` without any."""
    @property
    def rate_bps(self) -> int:
        """Rate of transmissions that begin now."""

@final
class SeenFlow:
    """A flow at the end of a step. Counts, rates and means are those of the step."""

    @property
    def cwnd_packets(self) -> float:
        """The window; 0 without congestion control."""
    @property
    def srtt_s(self) -> float | None:
        """The smoothed RTT; `None` before the first sample."""
    @property
    def rtt_s_mean(self) -> float | None:
        """Mean of the RTT samples (without a control, of the one-way delays), or `None`."""
    @property
    def sent_packets(self) -> int:
        """Packets sent, retransmissions included."""
    @property
    def delivered_packets(self) -> int:
        """Packets newly acknowledged; without congestion control, received."""
    @property
    def lost_packets(self) -> int:
        """Packets that a queue dropped or a wire lost."""
    @property
    def retransmissions(self) -> int:
        """Packets sent again."""
    @property
    def send_rate_bps(self) -> float:
        """Rate of the packets sent, headers included."""
    @property
    def goodput_bps(self) -> float:
        """Rate of the data acknowledged in sequence, without headers."""

@final
class AckEvent:
    """An ACK of new data outside recovery."""

    @property
    def now_s(self) -> float:
        """When the ACK reaches the sender, in seconds since the run began."""
    @property
    def acked_packets(self) -> int:
        """Packets newly acknowledged, at least 1."""
    @property
    def cwnd_packets(self) -> float:
        """The window before this ACK."""
    @property
    def rtt_s(self) -> float | None:
        """RTT sample of this ACK; `None` if it gives none."""
    @property
    def srtt_s(self) -> float:
        """Smoothed RTT; 0 before the first sample."""
    @property
    def min_rtt_s(self) -> float:
        """Smallest RTT sample of the connection; infinite before the first."""
    @property
    def delivered_packets(self) -> int:
        """Packets acknowledged in sequence since the connection began."""
    @property
    def marked_packets(self) -> int:
        """Marks that the receiver has reported so far; only with accurate feedback."""

@final
class RoundEvent:
    """The end of a round trip: a packet that was sent after its beginning is acknowledged."""

    @property
    def now_s(self) -> float:
        """When the round trip ends, in seconds since the run began."""
    @property
    def rtt_s(self) -> float | None:
        """RTT sample of the ACK that ends it; `None` if that gives none."""
    @property
    def srtt_s(self) -> float:
        """Smoothed RTT; 0 before the first sample."""
    @property
    def min_rtt_s(self) -> float:
        """Smallest RTT sample of the connection; infinite before the first."""
    @property
    def delivered_packets(self) -> int:
        """Packets acknowledged in sequence since the connection began."""
    @property
    def marked_packets(self) -> int:
        """Marks that the receiver has reported so far; only with accurate feedback."""
    @property
    def is_slow_start(self) -> bool:
        """Whether the window is below ssthresh."""

@final
class BeginEvent:
    """The beginning of a flow, before its first packet."""

    @property
    def now_s(self) -> float:
        """When the flow may send its first packet, in seconds since the run began."""
    @property
    def seed(self) -> int:
        """Seed for random choices; it follows from the scenario's seed and the flow's name."""
    @property
    def cwnd_packets(self) -> float:
        """The initial window."""
    @property
    def srtt_s(self) -> float:
        """The RTT of the handshake, in seconds; zero if there was none."""
    @property
    def packet_bytes(self) -> int:
        """Size of a packet on the wire."""
    @property
    def line_rate_pps(self) -> float:
        """Rate at which the host sends, in packets/s.

        It is that of the access link, or of the first shared link if there is no access link.
        """
    @property
    def hops(self) -> int:
        """Number of shared links on the path."""
    @property
    def has_sack(self) -> bool:
        """Whether the receiver sends selective acknowledgements."""

@final
class RateSampleEvent:
    """Any ACK, with the delivery rate that it shows.

    See draft-ietf-ccwg-bbr-06, section 4.1.
    """

    @property
    def now_s(self) -> float:
        """When the ACK reaches the sender, in seconds since the run began."""
    @property
    def cwnd_packets(self) -> float:
        """The window before this ACK."""
    @property
    def rtt_s(self) -> float | None:
        """RTT of the packet sent last of those newly acknowledged.

        `None` if it was sent twice, or nothing is newly acknowledged.
        """
    @property
    def srtt_s(self) -> float:
        """Smoothed RTT; 0 before the first sample."""
    @property
    def delivery_rate_pps(self) -> float | None:
        """Rate at which the network delivered, in packets/s.

        From the transmission of the packet sent last of those newly acknowledged to this ACK;
        `None` if that is too short to be believed, or nothing is newly acknowledged.
        """
    @property
    def sample_delivered_packets(self) -> int | None:
        """Packets acknowledged in that interval; `None` if nothing is newly acknowledged."""
    @property
    def sample_lost_packets(self) -> int | None:
        """Packets declared lost in that interval; `None` if nothing is newly acknowledged."""
    @property
    def prior_delivered_packets(self) -> int | None:
        """Packets acknowledged before the transmission of that packet.

        `None` if nothing is newly acknowledged.
        """
    @property
    def sent_in_flight_packets(self) -> int | None:
        """Packets in the network when that packet was sent, itself included.

        `None` if nothing is newly acknowledged.
        """
    @property
    def is_app_limited(self) -> bool:
        """Whether that packet was sent while the application, or the control, held the flow back.

        The rate may then be below what the path carries.
        """
    @property
    def prior_in_flight_packets(self) -> int:
        """Packets in the network before this ACK."""
    @property
    def in_flight_packets(self) -> int:
        """Packets in the network after this ACK, without those newly declared lost."""
    @property
    def acked_packets(self) -> int:
        """Packets newly acknowledged, cumulatively or selectively."""
    @property
    def lost_packets(self) -> int:
        """Packets newly declared lost."""
    @property
    def delivered_packets(self) -> int:
        """Packets acknowledged since the connection began."""
    @property
    def marked_packets(self) -> int:
        """Marks that the receiver has reported since the connection began.

        It is 0 without accurate feedback.
        """
    @property
    def is_cwnd_limited(self) -> bool:
        """Whether the window was full at any time in the last round trip."""
    @property
    def repair(self) -> Literal["none", "fast_recovery", "timeout"]:
        """What is being repaired: `"none"`, `"fast_recovery"` or `"timeout"`."""

@final
class LostPacketEvent:
    """A packet that is newly declared lost."""

    @property
    def now_s(self) -> float:
        """When the sender concludes it, in seconds since the run began."""
    @property
    def cwnd_packets(self) -> float:
        """The window at that moment."""
    @property
    def sequence(self) -> int:
        """Position of the packet in the flow."""
    @property
    def sent_in_flight_packets(self) -> int:
        """Packets in the network when it was sent, itself included."""
    @property
    def lost_packets(self) -> int:
        """Packets lost since it was sent, itself included."""
    @property
    def is_app_limited(self) -> bool:
        """Whether it was sent while the application, or the control, held the flow back."""
    @property
    def delivered_packets(self) -> int:
        """Packets acknowledged since the connection began."""

@final
class RestartEvent:
    """The first packet after a time with nothing to send."""

    @property
    def now_s(self) -> float:
        """When the packet leaves, in seconds since the run began."""
    @property
    def cwnd_packets(self) -> float:
        """The window at that moment."""

@final
class QueuePacket:
    """A packet at a link, about which a discipline decides."""

    @property
    def flow(self) -> int:
        """Number of its flow. A number of a flow that has departed is given to another flow."""
    @property
    def bytes(self) -> int:
        """Size on the wire, in bytes."""
    @property
    def ecn(self) -> Literal["not_ect", "ect0", "ect1", "ce"]:
        """ECN field: `"not_ect"`, `"ect0"`, `"ect1"` or `"ce"`."""
    @property
    def is_ecn_capable(self) -> bool:
        """Whether the packet may be marked."""
    @property
    def fits(self) -> bool:
        """Whether the packet fits into the buffer.

        A packet that does not is dropped at its arrival, whatever a rule decides, unless a
        scheduler makes room for it.
        """
    @property
    def waited_s(self) -> float:
        """How long the packet has waited, in seconds; 0 at its arrival."""
    @property
    def waited_ps(self) -> int:
        """How long the packet has waited, in picoseconds; 0 at its arrival."""

@final
class QueueState:
    """The queue that a packet finds at its arrival, or leaves behind at its departure."""

    @property
    def now_s(self) -> float:
        """Time since the run began, in seconds."""
    @property
    def now_ps(self) -> int:
        """Time since the run began, in picoseconds."""
    @property
    def packets(self) -> int:
        """Number of packets that wait, without this packet and the one in transmission."""
    @property
    def bytes(self) -> int:
        """Number of bytes that wait, without this packet and the one in transmission."""
    @property
    def lists(self) -> dict[int, QueueList]:
        """The lists of a scheduler that hold packets, by ascending number; empty for a rule."""
    @property
    def idle_s(self) -> float | None:
        """How long the link has been idle at the arrival of a packet at a rule, in seconds.

        `None` if it is busy.
        """
    @property
    def idle_ps(self) -> int | None:
        """The same in picoseconds."""

@final
class QueueList:
    """A list of a scheduler that holds packets."""

    @property
    def packets(self) -> int:
        """Number of packets in the list."""
    @property
    def bytes(self) -> int:
        """Sum of the sizes of these packets, in bytes."""
    @property
    def first(self) -> QueuePacket:
        """The packet that leaves the list first."""

@final
class LinkInfo:
    """The link of a discipline, before its first packet."""

    @property
    def name(self) -> str:
        """Name of the link."""
    @property
    def rate_bps(self) -> int:
        """Rate until its first change, or of the shaper, in bit/s."""
    @property
    def bdp_bytes(self) -> float:
        """Bandwidth-delay product in bytes; 0 without flows under congestion control."""
    @property
    def packet_bytes(self) -> int:
        """Size of the largest data packet that crosses the link, in bytes."""
    @property
    def groups(self) -> dict[str, range]:
        """The numbers of the permanent flows of each group that crosses the link, by its name."""
    @property
    def limit_packets(self) -> int | None:
        """Buffer size in packets; `None` if it is counted in bytes."""
    @property
    def limit_bytes(self) -> int | None:
        """Buffer size in bytes; `None` if it is counted in packets."""
    def random(self) -> float:
        """Draws a number from [0, 1).

        The random stream follows from the scenario's seed and the link's name.
        """

@final
class SourceInfo:
    """The flow of a source of packets, or the group of a source of flows."""

    @property
    def name(self) -> str:
        """Name of the flow or of the group."""
    @property
    def packet_bytes(self) -> int:
        """Size of the largest packet, in bytes."""
    def random(self) -> float:
        """Draws a number from [0, 1).

        The random stream follows from the scenario's seed and the name.
        """

@final
class FlowRequest:
    """A flow that a source begins."""

    def __new__(
        cls,
        start_s: float,
        bytes: int,  # noqa: A002
        rtt_s: float | None = None,
        access_rate_bps: int | None = None,
    ) -> FlowRequest: ...
    @property
    def start_s(self) -> float:
        """Seconds after the start of the group, from 0."""
    @property
    def bytes(self) -> int:
        """Payload in bytes, at least 1."""
    @property
    def rtt_s(self) -> float | None:
        """Two-way propagation delay in seconds; `None`: that of the group."""
    @property
    def access_rate_bps(self) -> int | None:
        """Rate of its access link in bit/s; `None`: that of the group."""

@final
class ControlOutput:
    """How a flow sends from now on: what a rate-based control returns."""

    def __new__(
        cls,
        cwnd_packets: float,
        pacing_rate_pps: float,
        send_quantum_packets: int = 1,
        is_app_limited: bool = False,
    ) -> ControlOutput: ...
    @property
    def cwnd_packets(self) -> float:
        """The window, in packets."""
    @property
    def pacing_rate_pps(self) -> float:
        """Rate at which packets leave, in packets/s."""
    @property
    def send_quantum_packets(self) -> int:
        """Number of packets that leave together."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the control holds the flow back.

        Rates measured with what is in flight now then say nothing about the path.
        """

@final
class CongestionEvent:
    """Congestion, as the sender concludes it."""

    @property
    def now_s(self) -> float:
        """When the sender concludes it, in seconds since the run began."""
    @property
    def kind(self) -> Literal["loss", "mark", "timeout"]:
        """Cause of the congestion: lost packets, ECN marks, or a retransmission timeout."""
    @property
    def cwnd_packets(self) -> float:
        """The window at that moment."""
    @property
    def is_slow_start(self) -> bool:
        """Whether the window was below ssthresh."""

def estimate_buffer(measurement: str, idle_rtt_s: float | None = ...) -> str: ...
def f_quantile(numerator: float, denominator: float, probability: float) -> float: ...
def import_capture(path: str | PathLike[str], window_ns: int) -> _Capture: ...
def build() -> str: ...
def profile() -> str: ...
def schema() -> str: ...
def components() -> str: ...
def tables() -> str: ...
def summary_schema() -> str: ...
def quantity(kind: str, text: str) -> float: ...
def meant(name: str, known: list[str]) -> list[str]: ...
def few(name: str, known: list[str]) -> tuple[list[str], int]: ...
def remark(word: str, name: str) -> str | None: ...

DCTCP_THRESHOLD_BDP: float
SQUARE_ROOT_SPREAD: float

def bbr_in_flight_cap(bdp: float, flows: float) -> float: ...
def bbr_loss_based_share(bdp: float, limit: float, flows: float) -> float: ...
def bbr_probing_fraction(link: Any) -> float: ...
def bounds_harmonic_rtt_s(link: Any) -> float: ...
def bounds_loss(link: Any) -> float: ...
def cliff_edge_packets(edge: float, bdp: float, flows: float, burst: float) -> float: ...
def cliff_edges() -> list[tuple[str, float]]: ...
def cliff_hosts(link: Any) -> tuple[str, int, bool]: ...
def cliff_paced_fill(limit: float, window: float, flows: float) -> float: ...
def cliff_train_fill(limit: float, bdp: float, flows: float, burst: float) -> float: ...
def cliff_utilization(link: Any, limit: float) -> float: ...
def dctcp_amplitude(bdp: float, threshold: float, flows: float) -> float: ...
def dctcp_queue_mean(lowest: float, highest: float, bdp: float) -> float: ...
def dctcp_utilization(lowest: float, highest: float, bdp: float) -> float: ...
def decrease_minimum_utilization(link: Any) -> float: ...
def device_equivalents(links: list[Any]) -> str: ...
def equivalents(link: Any) -> str: ...
def need_load_below_one(link: Any) -> float: ...
def need_permanent_flows(link: Any) -> None: ...
def no_window_law(flows: Any) -> str: ...
def permanent_load(link: Any) -> float: ...
def read_measurement(text: str) -> str: ...
def rule_assumptions(name: str, link: Any) -> list[tuple[str, bool, str]]: ...
def rule_prediction(
    name: str, link: Any, utilization: float, loss_fraction: float
) -> dict[str, Any]: ...
def rule_words(name: str) -> tuple[str, str]: ...
def sawtooth_cycle(
    control: Any, count: float, rtt_s: float, capacity_pps: float, limit: float
) -> list[float]: ...
def sawtooth_trough(
    control: Any, count: float, rtt_s: float, capacity_pps: float, limit: float
) -> float: ...
def shared_assumption(name: str, link: Any) -> tuple[str, bool, str]: ...
def size_search_step(question: str) -> str: ...
def square_root_quantile(loss_fraction: float, bdp: float, flows: float) -> float: ...
def square_root_required(target: float, bdp: float, flows: float) -> float: ...
def square_root_utilization(limit: float, bdp: float, flows: float) -> float: ...
def stability_fixed_point(share: float, packets: float) -> tuple[float, float]: ...
def stability_margin(share: float, packets: float) -> float: ...
def stability_window(share: float, packets: float) -> float: ...
def student_quantile(degrees_of_freedom: float, probability: float) -> float: ...
def student_tail(degrees_of_freedom: float, t: float) -> float: ...
def tiny_kept(load: float, packets: float, window: float) -> float: ...
def tiny_required(load: float, share: float, window: float) -> float: ...
