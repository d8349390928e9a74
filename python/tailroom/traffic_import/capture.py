"""Packet captures as lists of flows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tailroom import _engine
from tailroom.arguments import Limits
from tailroom.errors import CaptureError
from tailroom.field_docs import with_field_docs
from tailroom.given_files import answer_of
from tailroom.traffic_import.capture_directions import (
    MOST_NAMED,
    Directions,
    Network,
    find_directions,
    parse_prefixes,
    within,
)

_Value = TypeVar("_Value")

WINDOW_S = 0.1
"""Default time window of peak rates, in seconds."""

WINDOW = Limits(1e-6, 3600, is_whole=False)
"""Time windows of peak rates, in seconds."""


@with_field_docs
@dataclass(frozen=True)
class Capture:
    """The TCP flows of a capture."""

    flows: pa.Table
    """One row per direction of a connection that carried data, in the order of the starts.

    `start_s` (first data, since the first packet of the capture), `bytes` (payload), `rate_bps`
    (rate in the busiest window, headers included, or null) and `rtt_s` (round-trip time of the
    handshake, or null) are the columns of a flow list (docs/guide/import.md).
    `flow` names the connection as "opening end > other end"; `direction` is `forward` for data
    from the opening end and `reverse` for data to it.
    """

    packets: int
    """Number of packets in the capture, including skipped packets."""

    skipped: dict[str, int]
    """Number of packets or blocks that were left out, by reason."""

    unseen_bytes: int
    """Number of bytes that were acknowledged but are not in the capture; the flows include them."""

    broken: tuple[int, str] | None
    """Byte offset at which reading ended before the end of the file, and the reason; `None` if the
    whole file was read."""

    directions: Directions | None
    """Number of flows in each direction; `None` if all flows go in one direction. A link of a
    scenario carries one direction."""

    def __repr__(self) -> str:
        """Numbers of packets, flows, bytes and skipped packets."""
        size = sum(self.flows.column("bytes").to_pylist())
        notes = [f"skipped {skipped_text(self)}"] if self.skipped else []
        if self.broken:
            notes.append(f"broken at byte {self.broken[0]:,}: {self.broken[1]}")
        rest = "".join(f"; {note}" for note in notes)
        return (
            f"<Capture: {self.packets:,} packets, {self.flows.num_rows:,} flows "
            f"with {size:,} bytes{rest}>"
        )


def import_capture(
    path: str | PathLike[str],
    *,
    window_s: float = WINDOW_S,
    to: str | Iterable[str] = (),
    from_: str | Iterable[str] = (),
) -> Capture:
    """Reads the TCP flows of a capture (pcap or pcapng).

    Args:
        path: File of the capture.
        window_s: Time window over which peak rates are measured, 1e-6 to 3600 seconds.
        to: Keep only flows whose receiver is in one of these prefixes: `"192.0.2.0/24"`,
            `"2001:db8::/32"`, or an address.
        from_: Keep only flows whose sender is in one of these prefixes.

    Returns:
        The flows, and the numbers of packets that were read and skipped.

    Raises:
        CaptureError: The file cannot be read, has no TCP connection with data, or has none from
            and to these prefixes.
        ArgumentError: The window is out of range, or a text is not a prefix.
    """
    receiving, sending = parse_prefixes(to, "to"), parse_prefixes(from_, "from_")
    WINDOW.check("window_s", window_s)
    try:
        answer = answer_of(path, lambda: _engine.import_capture(path, round(1e9 * window_s)))
    except CaptureError as error:
        raise CaptureError(f"{fspath(path)}: {error}") from None
    columns = answer["columns"]
    senders, receivers = answer["sender"], answer["receiver"]
    received = within(receivers, receiving)
    kept = np.logical_and(received, within(senders, sending))
    sizes = columns["bytes"].tolist()
    capture = Capture(
        flows=pa.table(
            {
                "start_s": columns["start_s"],
                "bytes": columns["bytes"],
                "rate_bps": pa.array(columns["rate_bps"], from_pandas=True),
                "rtt_s": pa.array(columns["rtt_s"], from_pandas=True),
                "flow": pa.array(answer["flow"], pa.string()),
                "direction": pa.array(np.where(columns["forward"], "forward", "reverse")),
            }
        ).filter(pa.array(kept)),
        packets=answer["packets"],
        skipped=dict(answer["skipped"]),
        unseen_bytes=answer["unseen_bytes"],
        broken=answer["broken"],
        directions=find_directions(
            _only(senders, kept), _only(receivers, kept), _only(sizes, kept)
        ),
    )
    if not senders:
        raise CaptureError(f"{fspath(path)}: {_why_no_flows(capture)}")
    if not capture.flows.num_rows:
        wanted = _wanted(receiving, sending)
        both_ways = directions_text(find_directions(senders, receivers, sizes))
        directions = both_ways or f"from {senders[0]} to {receivers[0]}, for instance"
        raise CaptureError(
            f"{fspath(path)}: none of the {len(senders):,} flows goes {wanted}; "
            f"they go {directions}"
        )
    return capture


def _only(values: Sequence[_Value], kept: NDArray[np.bool_]) -> list[_Value]:
    return [value for value, keep in zip(values, kept.tolist(), strict=True) if keep]


def _wanted(to: Sequence[Network], from_: Sequence[Network]) -> str:
    sides = (("from", from_), ("to", to))
    return " ".join(f"{word} {' or '.join(map(str, nets))}" for word, nets in sides if nets)


def directions_text(directions: Directions | None) -> str:
    """Returns the number of flows per direction in words; empty if there is one direction."""
    if directions is None:
        return ""
    side = ", ".join(directions.side[:MOST_NAMED])
    more = len(directions.side) - MOST_NAMED
    others = f" and {more} more" if more > 0 else ""
    neither = (
        f", {directions.other_flows:,} between other addresses" if directions.other_flows else ""
    )
    return (
        f"{directions.to_flows:,} to {side}{others} ({directions.to_bytes:,} bytes), "
        f"{directions.from_flows:,} from there ({directions.from_bytes:,} bytes){neither}"
    )


def _why_no_flows(capture: Capture) -> str:
    if capture.broken:
        offset, why = capture.broken
        return f"broken at byte {offset:,}: {why}; no TCP data comes before; capture it anew"
    if not capture.packets:
        return "holds no packets; capture some, for example with tcpdump -w FILE tcp"
    skipped = f" (skipped: {skipped_text(capture)})" if capture.skipped else ""
    return (
        f"no TCP connection carries data in {capture.packets:,} packets{skipped}; "
        "give a capture of TCP traffic"
    )


def skipped_text(capture: Capture) -> str:
    """Returns the reasons of skipped packets with their counts."""
    return ", ".join(f"{count:,} {reason}" for reason, count in capture.skipped.items())
