"""The samples of a measurement, in one form for all tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tailroom.field_docs import with_field_docs
from tailroom.quoting import quoted

Values: TypeAlias = NDArray[np.float64]
"""Numbers in one dimension."""
Direction = Literal["upload", "download", "both", "none"]
"""Direction of a load, seen from the client; `none` without load."""

SERIES = ("rtt_time_s", "rtt_s", "idle_rtts_s", "throughput_time_s", "throughput_bps")
"""The fields of a measurement that are arrays."""
NAMES = ("tool", "congestion")
"""Those that may repeat a text of the file."""


@with_field_docs
@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement:
    """What a tool measured on a path, idle and under load."""

    tool: str
    """Tool and kind of test: `flent tcp_8up`, `iperf3`, `ss`."""
    direction: Direction
    """Direction of the load, seen from the client (`ss`: from the host); `none` without load."""
    probe: Literal["ping", "tcp"]
    """Whether RTTs are those of pings or those that TCP measured."""
    rtt_time_s: Values
    """Times of the RTTs under load, in seconds, ascending."""
    rtt_s: Values
    """RTTs under load. Of TCP connections that were sampled at the same time, the smallest: after
    a loss, RTTs of TCP include the wait for the repaired packet."""
    idle_rtts_s: Values
    """RTTs without load: pings before the load, or the smallest RTT of TCP; may be empty."""
    throughput_time_s: Values
    """Ends of the intervals of `throughput_bps`, in seconds, ascending."""
    throughput_bps: Values
    """Payload of all connections in the direction of the load, in bit/s; of a load in both
    directions, that of the upload."""
    download_bps: float | None = None
    """Mean payload of the download, in bit/s, if the load goes in both directions."""
    over_stated: float | None = None
    """Mean of the series of throughput over the mean that the file states; `None` if it states
    none."""
    congestion: str | None = None
    """Congestion control of the load, by Linux's name; `None` if the file does not tell."""
    retransmissions: int | None = None
    """Number of retransmitted packets; `None` if the file does not tell."""
    payload_bytes: int
    """Payload of a full packet."""
    packet_bytes: int
    """IP packet that carries it."""

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Measurement":
        """A measurement from its fields; of long names, only the beginning.

        Args:
            fields: Each field by its name, series as lists.
        """
        names = {name: fields[name] and quoted(fields[name]) for name in NAMES}
        return cls(**{**fields, **names, **{name: values(fields[name]) for name in SERIES}})

    @property
    def fields(self) -> dict[str, Any]:
        """The fields, their series as lists."""
        return {
            name: value.tolist() if name in SERIES else value for name, value in vars(self).items()
        }

    @property
    def idle_rtt_s(self) -> float | None:
        """Median RTT of the idle path; `None` if it was not measured."""
        return float(np.median(self.idle_rtts_s)) if len(self.idle_rtts_s) else None

    @property
    def mean_throughput_bps(self) -> float | None:
        """Mean payload rate under load, in bit/s; `None` if it was not measured."""
        return float(np.mean(self.throughput_bps)) if len(self.throughput_bps) else None

    @property
    def retransmitted_fraction(self) -> float | None:
        """Retransmissions as a fraction of the packets with new data; `None` if unknown."""
        if self.retransmissions is None or len(self.throughput_bps) < 2:
            return None
        times = self.throughput_time_s
        lengths_s = np.diff(times, prepend=2 * times[0] - times[1])
        packets = float(np.dot(self.throughput_bps, lengths_s)) / (8 * self.payload_bytes)
        return self.retransmissions / packets if packets > 0 else None

    def rtt_s_percentile(self, percent: float) -> float | None:
        """Returns a percentile of the RTTs under load.

        Args:
            percent: From 0 to 100.
        """
        return float(np.percentile(self.rtt_s, percent)) if len(self.rtt_s) else None


def values(numbers: list[float]) -> Values:
    """Returns numbers as an array, also if there are none."""
    return np.array(numbers, dtype=np.float64)
