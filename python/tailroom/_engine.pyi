"""The engine, as compiled from crates/tailroom-python."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, final, type_check_only

from numpy.typing import NDArray

__all__ = [
    "AckEvent",
    "CaptureError",
    "Columns",
    "CongestionEvent",
    "ControlError",
    "RoundEvent",
    "RunError",
    "ScenarioError",
    "build",
    "components",
    "import_capture",
    "outline",
    "quantity",
    "resolve",
    "run",
    "schema",
]

_FindControl: TypeAlias = Callable[[str, str], Callable[[], object] | None]

@type_check_only
class _Answer(TypedDict):
    summary: str
    scenario: str
    link_series: Columns | None
    flow_series: Columns | None
    packet_log: Columns | None
    arrival_log: Columns | None
    flow_counts: Columns
    flow_log: Columns | None
    arrival_dispersion: Columns | None

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
    """Columns of equal length that are still the engine's."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Hands the columns over as NumPy arrays by name, without copying; once."""

class CaptureError(ValueError): ...
class ScenarioError(ValueError): ...
class RunError(RuntimeError): ...
class ControlError(RunError): ...

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
class CongestionEvent:
    """Congestion, as the sender concludes it."""

    @property
    def now_s(self) -> float:
        """When the sender concludes it, in seconds since the run began."""
    @property
    def kind(self) -> Literal["loss", "mark", "timeout"]:
        """What from: lost packets, ECN marks, or a retransmission timeout."""
    @property
    def cwnd_packets(self) -> float:
        """The window at that moment."""
    @property
    def is_slow_start(self) -> bool:
        """Whether the window was below ssthresh."""

def run(
    text: str,
    base_directory: str | PathLike[str],
    overrides: Sequence[tuple[str, str]],
    seed: int | None = None,
    progress: Callable[[float, float], object] | None = None,
    find_control: _FindControl | None = None,
) -> _Answer: ...
def import_capture(path: str | PathLike[str], window_ns: int) -> _Capture: ...
def outline(
    text: str,
    base_directory: str | PathLike[str],
    overrides: Sequence[tuple[str, str]],
    seed: int | None = None,
    find_control: _FindControl | None = None,
) -> str: ...
def resolve(
    text: str,
    base_directory: str | PathLike[str],
    overrides: Sequence[tuple[str, str]],
    seed: int | None = None,
    find_control: _FindControl | None = None,
) -> str: ...
def build() -> str: ...
def schema() -> str: ...
def components() -> str: ...
def quantity(kind: str, text: str) -> float: ...
