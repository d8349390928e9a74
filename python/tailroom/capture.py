"""Packet captures as lists of flows."""

from dataclasses import dataclass
from os import PathLike, fspath

import numpy as np
import pyarrow as pa

from tailroom import _engine
from tailroom._engine import CaptureError

WINDOW_S = 0.1
"""Peak rates are over this time unless another is given."""

SHORTEST_WINDOW_S = 1e-6
LONGEST_WINDOW_S = 3600.0


@dataclass(frozen=True)
class Capture:
    """What a capture holds."""

    flows: pa.Table
    """One row for each direction of a connection that carried data, in order of start.

    `start_s`, `bytes`, `rate_bps` and `rtt_s` are those of `tailroom.flow_list`; `flow` is the end
    that opened the connection > the other; `direction` is `forward` for what the former sent.
    """

    packets: int
    """Packets in the capture, skipped ones included."""

    skipped: dict[str, int]
    """How many packets or blocks were left out, by reason."""

    unseen_bytes: int
    """Bytes that were acknowledged but are not in the capture; the flows include them."""

    broken: tuple[int, str] | None
    """Byte offset at which reading ended before the end of the file, and why."""


def import_capture(path: str | PathLike[str], *, window_s: float = WINDOW_S) -> Capture:
    """Reads the TCP flows of a capture (pcap or pcapng).

    Args:
        path: The capture.
        window_s: Peak rates are over this time: 1e-6 to 3600 seconds.

    Raises:
        CaptureError: The file cannot be read, or holds no TCP connection with data.
        ValueError: The window is too short or too long.
    """
    if not SHORTEST_WINDOW_S <= window_s <= LONGEST_WINDOW_S:
        raise ValueError(f"window_s is {window_s:g}; choose from 1e-6 to 3600 seconds")
    try:
        answer = _engine.import_capture(path, round(1e9 * window_s))
    except CaptureError as error:
        raise CaptureError(f"{fspath(path)}: {error}") from None
    columns = answer["columns"]
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
        ),
        packets=answer["packets"],
        skipped=dict(answer["skipped"]),
        unseen_bytes=answer["unseen_bytes"],
        broken=answer["broken"],
    )
    if not capture.flows.num_rows:
        raise CaptureError(f"{fspath(path)}: {_why_no_flows(capture)}")
    return capture


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
    """Writes the reasons with their counts."""
    return ", ".join(f"{count:,} {reason}" for reason, count in capture.skipped.items())
