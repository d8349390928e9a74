"""What senders did, as traces in qlog: the packets that they sent, and their windows."""

from __future__ import annotations

import heapq
import math
import tomllib
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tailroom._engine import quantity
from tailroom.errors import ArgumentError
from tailroom.export import qlog
from tailroom.simulation import logged_packets, packet_capture
from tailroom.staging import new_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from tailroom.export.headers import Group
    from tailroom.simulation.result_tables import ResultTables

MOST_FLOWS = 1_000
"""Most files in a directory."""
Timed = tuple[float, str, Any]
"""An event: time in seconds, name and data."""


def write(
    series: pa.Table,
    tables: ResultTables,
    scenario: str,
    directory: Path,
    flows: Sequence[str] = (),
) -> None:
    """Writes a file per flow under congestion control; see `write_flow`.

    Args:
        series: Rows of the table `flow_series`.
        tables: The tables of the run, which may have packets.
        scenario: The resolved scenario of the run.
        directory: An empty directory.
        flows: Names of flows or groups; all flows if empty.

    Raises:
        ArgumentError: No such flow was recorded, or more than `MOST_FLOWS`.
        OSError: A file cannot be written.
    """
    for name in _chosen(series["flow"].unique().to_pylist(), flows):
        write_flow(series, tables, scenario, directory / f"{name}{qlog.SUFFIX}", name)


def write_flow(  # noqa: PLR0913 - the tables of a run, and a choice
    series: pa.Table,
    tables: ResultTables,
    scenario: str,
    path: Path,
    name: str,
    *,
    origin_s: float = 0.0,
) -> None:
    """Writes the trace of one flow: the packets and ACKs of its sender, and its metrics.

    Without an `endpoint_log`, the packets are those at the first link of its path. If either is
    recorded, metrics outside its time are left out; those that hold at its beginning are written
    there.

    Args:
        series: Rows of the table `flow_series`.
        tables: The tables of the run, which may have packets.
        scenario: The resolved scenario of the run.
        path: The new file.
        name: Name of the flow.
        origin_s: Time of the run, in seconds, that is 0 in the trace; events before are left out.

    Raises:
        OSError: The file cannot be written.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - it loads NumPy

    groups = packet_capture.groups_of(scenario)
    group_name = name if name in groups else packet_capture.group_of(name)
    group = groups[group_name]
    document = tomllib.loads(scenario)
    links = document["flows"][group_name].get("path", [])
    own = document["flows"][group_name]
    logs = [own.get("endpoint_log")]
    if logs[0] is None:
        logs = [document["links"][link].get("arrival_log") for link in links]
    span = _recorded_span([log for log in logs if log])
    events = [_metrics(series.filter(pc.field("flow") == name), group, *span)]
    packets = logged_packets.with_blocks(tables)
    if packets is not None:
        if "endpoint_log" in own:
            shown = pc.field("link") == f"{name}.sender"
        else:
            is_data = (pc.field("flow") == name) & (pc.field("content") != "ack")
            shown = is_data & pc.field("link").isin(links[:1])
        events.append(_at_sender(packets.filter(shown), group))
    with new_file(path) as file:
        file.write(qlog.beginning(name, "a sender simulated by tailroom"))
        for time_s, event, data in heapq.merge(*events, key=itemgetter(0)):
            if time_s >= origin_s:
                file.write(qlog.event(time_s - origin_s, event, data))


def _chosen(known: list[str], flows: Sequence[str]) -> list[str]:
    for flow in flows:
        if not any(flow in (name, packet_capture.group_of(name)) for name in known):
            raise ArgumentError(
                f"no trace of a flow {flow!r}: only permanent flows under congestion control have "
                f"one; choose among {', '.join(known[:8]) or 'others'}"
            )
    asked = {*flows}
    names = [name for name in known if not flows or {name, packet_capture.group_of(name)} & asked]
    if not 0 < len(names) <= MOST_FLOWS:
        raise ArgumentError(
            f"traces of {len(names)} flows; choose 1 to {MOST_FLOWS} flows under congestion control"
        )
    return names


def _at_sender(packets: pa.Table, group: Group) -> Iterator[Timed]:
    """The packets of a flow, numbered as they are sent, and the ACKs, numbered as they arrive."""
    full = group.payload_bytes(group.packet_bytes)
    sent = acks = 0
    news = _Acknowledged()
    for batch in packets.to_batches(max_chunksize=packet_capture.ROWS_AT_A_TIME):
        for row in batch.to_pylist():
            size, sequence = row["bytes"], row["sequence"]
            if row["content"] == "ack":
                blocks = [(block["start"], block["end"]) for block in row["sack_blocks"]]
                acked = news.take(sequence, blocks)
                yield row["time_s"], qlog.PACKET_RECEIVED, qlog.ack(acks, size, acked)
                acks += 1
                continue
            payload = group.payload_bytes(size)
            if payload:
                before = news.on_sent(sequence, sent)
                if before is not None:
                    yield row["sent_s"], qlog.PACKET_LOST, qlog.lost(before)
            packet = qlog.packet(sent, size, sequence * full, payload)
            yield row["sent_s"], qlog.PACKET_SENT, packet
            sent += 1


class _Acknowledged:
    """Which packets an ACK is the first to acknowledge: it names positions, a trace packets."""

    def __init__(self) -> None:
        self._waiting: dict[int, int] = {}
        """By position that is not acknowledged, the number of the last packet sent."""
        self._lowest = 0
        """No position below waits."""

    def on_sent(self, position: int, number: int) -> int | None:
        """A packet with the data of this position leaves.

        Returns:
            The number of the last packet with these data, if no ACK has covered it: the sender
            takes it for lost, or probes with its data.
        """
        before = self._waiting.get(position)
        self._waiting[position] = number
        return before

    def take(self, cumulative: int, blocks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Returns the packets that no ACK has acknowledged before, as first and last numbers."""
        waiting = self._waiting
        covered = [(self._lowest, cumulative), *blocks]
        positions = {at for start, end in covered for at in range(start, end) if at in waiting}
        self._lowest = max(self._lowest, cumulative)
        return _ranges(sorted(waiting.pop(at) for at in positions))


def _ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of consecutive numbers, as first and last."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    return ranges


def _recorded_span(logs: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """From when to when one of these logs records, in seconds; without a log, all times."""
    if not logs:
        return -math.inf, math.inf
    return (
        min(quantity("duration", log["from"]) for log in logs),
        max(quantity("duration", log["to"]) for log in logs),
    )


def _metrics(series: pa.Table, group: Group, start_s: float, end_s: float) -> Iterator[Timed]:
    """The metrics of a flow from start to end: those at the start, and where they change."""
    held: dict[str, float] = {}
    is_before = True
    for time_s, event, changed in _changes(series, group):
        if is_before and time_s > start_s:
            is_before = False
            if held:
                yield start_s, event, held
        if is_before:
            held |= changed
        elif time_s <= end_s:
            yield time_s, event, changed
    if is_before and held:
        yield start_s, qlog.METRICS_UPDATED, held


def _changes(series: pa.Table, group: Group) -> Iterator[Timed]:
    """The metrics of a flow, where they change."""
    payload = group.payload_bytes(group.packet_bytes)
    before: dict[str, float] = {}
    for row in series.to_pylist():
        now: dict[str, float] = {"congestion_window": round(payload * row["cwnd_packets"])}
        if math.isfinite(row["ssthresh_packets"]):
            now["ssthresh"] = round(payload * row["ssthresh_packets"])
        if row["srtt_s"] > 0:
            now["smoothed_rtt"] = round(1e3 * row["srtt_s"], 9)
        changed = {name: value for name, value in now.items() if before.get(name) != value}
        if changed:
            yield row["time_s"], qlog.METRICS_UPDATED, changed
        before = now
