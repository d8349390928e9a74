"""Traces in qlog, as a sequence of JSON texts (RFC 7464).

The version is 0.3 (draft-ietf-quic-qlog-main-schema-05, draft-ietf-quic-qlog-quic-events-04), the
newest that qvis reads; later drafts renamed the events.
"""

import json
from collections.abc import Mapping, Sequence

SUFFIX = ".sqlog"
"""draft-ietf-quic-qlog-main-schema, section on JSON Text Sequences."""
PACKET_SENT = "transport:packet_sent"
PACKET_RECEIVED = "transport:packet_received"
PACKET_LOST = "recovery:packet_lost"
METRICS_UPDATED = "recovery:metrics_updated"


def beginning(title: str, description: str) -> bytes:
    """Returns the first record: a trace of the sender, with times in ms since the run began.

    Args:
        title: Name of the flow.
        description: What the trace is of.
    """
    return _record(
        {
            "qlog_format": "JSON-SEQ",
            "qlog_version": "0.3",
            "title": title,
            "trace": {
                "title": title,
                "description": description,
                "common_fields": {"time_format": "relative", "reference_time": 0},
                "vantage_point": {"name": title, "type": "server"},
            },
        }
    )


def packet(number: int, size: int, offset: int, payload: int) -> Mapping[str, object]:
    """Returns the data of a `PACKET_SENT` with data of one stream.

    Args:
        number: Number of the packet, from 0, in the order of sending.
        size: Bytes on the wire.
        offset: Position of the first byte in the stream.
        payload: Bytes of the stream; the packet has no frame if 0.
    """
    stream = {"frame_type": "stream", "stream_id": 0, "offset": offset, "length": payload}
    frames = [stream] if payload else []
    return {"header": _header(number), "frames": frames, "raw": {"length": size}}


def lost(number: int) -> Mapping[str, object]:
    """Returns the data of a `PACKET_LOST`.

    Args:
        number: Number of the packet.
    """
    return {"header": _header(number)}


def ack(number: int, size: int, acked: Sequence[tuple[int, int]]) -> Mapping[str, object]:
    """Returns the data of a `PACKET_RECEIVED` with an ACK.

    Args:
        number: Number of the ACK, from 0, in the order of arrival.
        size: Bytes on the wire.
        acked: The packets that it acknowledges and no ACK before, as first and last numbers.
    """
    ranges = [[first, last] if first < last else [first] for first, last in acked]
    frame: dict[str, object] = {"frame_type": "ack"}
    if ranges:
        frame["acked_ranges"] = ranges
    return {"header": _header(number), "frames": [frame], "raw": {"length": size}}


def event(time_s: float, name: str, data: Mapping[str, object]) -> bytes:
    """Returns the record of an event.

    Args:
        time_s: Time in seconds.
        name: `PACKET_SENT`, `PACKET_RECEIVED`, `PACKET_LOST` or `METRICS_UPDATED`.
        data: What `packet`, `ack` or `lost` returns; or by field what has changed, `smoothed_rtt`
            in ms, `congestion_window` and `ssthresh` in bytes.
    """
    return _record({"time": round(1e3 * time_s, 9), "name": name, "data": data})


def _header(number: int) -> Mapping[str, object]:
    return {"packet_type": "1RTT", "packet_number": number}


def _record(table: Mapping[str, object]) -> bytes:
    return b"\x1e" + json.dumps(table, separators=(",", ":"), allow_nan=False).encode() + b"\n"
