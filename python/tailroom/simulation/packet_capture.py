"""The packets at links and at the ends of flows as a capture, which Wireshark opens."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tailroom.errors import ArgumentError
from tailroom.export import headers, pcapng
from tailroom.staging import new_file

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

ENDS = ("sender", "receiver")
"""The ends of a flow."""
_DIRECTIONS = {"received": 1, "sent": 2}
"""By fate at an end of a flow, the direction in pcapng."""
ROWS_AT_A_TIME = 1 << 14
"""Rows that are Python objects at the same time."""


def write(arrivals: pa.Table, scenario: str, path: Path, ip: int = 4) -> None:
    """Writes a new file in pcapng, with an interface per link and per end of a flow.

    Args:
        arrivals: Packets, as of `logged_packets.with_blocks`.
        scenario: The resolved scenario of the run.
        path: The file.
        ip: Version of IP, 4 or 6.

    Raises:
        OSError: The file cannot be written.
    """
    groups = groups_of(scenario, ip)
    links = arrivals["link"].unique().to_pylist()
    interfaces = {link: index for index, link in enumerate(links)}
    ordered = arrivals.sort_by("time_s") if len(links) > 1 else arrivals
    with new_file(path) as file:
        file.write(pcapng.beginning(links))
        flows = _Flows(groups)
        for batch in ordered.to_batches(max_chunksize=ROWS_AT_A_TIME):
            file.write(b"".join(_packets(batch.to_pylist(), flows, interfaces)))


def choose(
    arrivals: pa.Table,
    flows: Sequence[str] = (),
    every: int = 1,
    *,
    at: Sequence[str] = (),
    direction: str | None = None,
) -> pa.Table:
    """Returns the packets of some flows, places and directions, or some of them.

    Args:
        arrivals: Packets, as of `logged_packets.with_blocks`.
        flows: Names of flows or groups; all flows if empty.
        every: Keep each row whose number is a multiple of this, 1 or more.
        at: Names of links, or of flows or groups with `.sender` or `.receiver`; all if empty.
        direction: `data`, `acks`, or both.

    Raises:
        ArgumentError: A flow has no packet among the arrivals, or nothing was recorded at a place.
    """
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy
    import pyarrow.compute as pc  # noqa: PLC0415

    if at:
        names = arrivals["link"].cast(pa.string())
        arrivals = arrivals.filter(pc.is_in(names, pa.array(_places(arrivals, at))))
    if direction:
        is_ack = pc.equal(arrivals["content"].cast(pa.string()), "ack")
        arrivals = arrivals.filter(is_ack if direction == "acks" else pc.invert(is_ack))

    if flows:
        known = arrivals["flow"].unique().to_pylist()
        chosen = [name for name in known if {name, group_of(name)} & set(flows)]
        for flow in flows:
            if not any(flow in (name, group_of(name)) for name in chosen):
                raise ArgumentError(
                    f"no packet of a flow {flow!r} arrived; choose among {', '.join(known[:8])}"
                )
        names = arrivals["flow"].cast(pa.string())
        arrivals = arrivals.filter(pc.is_in(names, pa.array(chosen)))
    return arrivals if every == 1 else arrivals.take(list(range(0, arrivals.num_rows, every)))


def _places(arrivals: pa.Table, at: Sequence[str]) -> list[str]:
    """The values of `link` that are meant by names of links, or of flows or groups with an end.

    Raises:
        ArgumentError: Nothing was recorded at a place.
    """
    known = arrivals["link"].unique().to_pylist()
    found = []
    for place in at:
        flow, _, end = place.removeprefix("flows.").rpartition(".")
        link = place.removeprefix("links.")
        ends = [f"{name}.{end}" for name in _flows(known) if flow in (name, group_of(name))]
        meant = [name for name in known if name == link or (end in ENDS and name in ends)]
        if not meant:
            raise ArgumentError(
                f"no packet was recorded at {place!r}; choose among {', '.join(known[:8])}"
            )
        found += meant
    return found


def _flows(places: Sequence[str]) -> Iterator[str]:
    """The flows of the places that are ends."""
    for place in places:
        flow, _, end = place.rpartition(".")
        if end in ENDS:
            yield flow


def groups_of(scenario: str, ip: int = 4) -> dict[str, headers.Group]:
    """Returns what is equal for all packets of each group.

    Args:
        scenario: The resolved scenario of a run.
        ip: Version of IP.
    """
    document = tomllib.loads(scenario)
    return {
        name: headers.Group(
            is_tcp="congestion" in group,
            header_bytes=_bytes(group["header_size"]),
            packet_bytes=_bytes(group["packet_size"]),
            has_sack=group.get("recovery") in ("sack", "rack"),
            is_opened=group.get("handshake") is True,
            ecn=group.get("ecn", "off"),
            ip=ip,
        )
        for name, group in document["flows"].items()
    }


def _bytes(size: str) -> int:
    """A size in the resolved scenario, which is in bytes."""
    return int(size.removesuffix(" B"))


def group_of(flow: str) -> str:
    """Returns the group of a flow.

    Args:
        flow: Name of the flow: that of its group, with a number behind it if it has several.
    """
    return flow.rpartition(".")[0] or flow


class _Flows:
    """What is known of flows, and of the connections so far."""

    def __init__(self, groups: dict[str, headers.Group]) -> None:
        self._groups = groups
        self._ends: dict[int, tuple[int, int]] = {}
        """By connection, the number of a last packet that is not full, and the bytes to its end."""
        self.opening_ecn: dict[int, str] = {}
        """By connection, the ECN field that its last SYN has had so far."""

    def group(self, flow: str) -> headers.Group:
        """The group of a flow."""
        return self._groups[flow] if flow in self._groups else self._groups[group_of(flow)]

    def note_end(self, connection: int, sequence: int, end: int) -> None:
        """A packet is not full, as only the last one is."""
        self._ends[connection] = sequence, end

    def offset(self, connection: int, sequence: int, payload: int) -> int:
        """Bytes of a connection before the packet of this number; of all, if there is none."""
        last, end = self._ends.get(connection, (sequence, 0))
        return end if sequence > last else sequence * payload


def _packets(
    rows: list[dict[str, Any]], flows: _Flows, interfaces: dict[str, int]
) -> Iterator[bytes]:
    """The blocks of some rows."""
    for row in rows:
        yield pcapng.packet(
            interfaces[row["link"]],
            round(row["time_s"] * 1e9),
            *_captured(row, flows),
            comment=_comment(row),
            direction=_DIRECTIONS.get(row["fate"], 0),
        )


def _captured(row: dict[str, Any], flows: _Flows) -> tuple[bytes, int]:
    """The headers of a packet, and its size on the wire, which has room for the headers."""
    group, connection, size = flows.group(row["flow"]), row["connection"], row["bytes"]
    full, sequence = group.payload_bytes(group.packet_bytes), row["sequence"]
    stamps = headers.Timestamps(row["timestamp_ms"], row["echo_ms"])
    feedback = headers.Feedback(bool(row["ece"]), bool(row["cwr"]), row["marked_packets"])
    if row["content"] == "ack":
        place = partial(flows.offset, connection, payload=full)
        blocks = [(place(block["start"]), place(block["end"])) for block in row["sack_blocks"]]
        captured = headers.ack(
            connection,
            group,
            offset=place(sequence),
            stamps=stamps,
            blocks=blocks,
            feedback=feedback,
            opening_ecn=flows.opening_ecn.get(connection, "not_ect"),
        )
    else:
        payload, offset = group.payload_bytes(size), sequence * full
        if 0 < payload < full:
            flows.note_end(connection, sequence, offset + payload)
        elif not payload:
            flows.opening_ecn[connection] = "ce" if row["fate"] == "marked" else row["ecn"]
        captured = headers.data(
            connection,
            group,
            offset=offset,
            payload=payload,
            stamps=stamps,
            ecn=row["ecn"],
            feedback=feedback,
        )
    return captured, max(size, len(captured))


def _comment(row: dict[str, Any]) -> str:
    """What the link does to a packet, unless it only forwards the packet."""
    fate = row["fate"]
    if fate in ("accepted", *_DIRECTIONS):
        return ""
    done = "marked" if fate == "marked" else f"dropped ({fate})"
    return f"{done} by link {row['link']}; {row['queue_packets']} packets were waiting"
