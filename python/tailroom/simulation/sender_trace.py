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
from tailroom.simulation import packet_capture
from tailroom.staging import new_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from tailroom.export.headers import Group

MOST_FLOWS = 1_000
"""Most files in a directory."""
Timed = tuple[float, str, Any]
"""An event: time in seconds, name and data."""


def write(
    series: pa.Table,
    arrivals: pa.Table | None,
    scenario: str,
    directory: Path,
    flows: Sequence[str] = (),
) -> None:
    """Writes a file per flow under congestion control; see `write_flow`.

    Args:
        series: Rows of the table `flow_series`.
        arrivals: Rows of the table `arrival_log`, if there are any.
        scenario: The resolved scenario of the run.
        directory: An empty directory.
        flows: Names of flows or groups; all flows if empty.

    Raises:
        ArgumentError: No such flow was recorded, or more than `MOST_FLOWS`.
        OSError: A file cannot be written.
    """
    for name in _chosen(series["flow"].unique().to_pylist(), flows):
        write_flow(series, arrivals, scenario, directory / f"{name}{qlog.SUFFIX}", name)


def write_flow(  # noqa: PLR0913 - the tables of a run, and a choice
    series: pa.Table,
    arrivals: pa.Table | None,
    scenario: str,
    path: Path,
    name: str,
    *,
    origin_s: float = 0.0,
) -> None:
    """Writes the trace of one flow: its packets at the first link of its path, and its metrics.

    If a link of the path has an `arrival_log`, metrics outside its time are left out; those that
    hold at its beginning are written there.

    Args:
        series: Rows of the table `flow_series`.
        arrivals: Rows of the table `arrival_log`, if there are any.
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
    span = _recorded_span([document["links"][link] for link in links])
    events = [_metrics(series.filter(pc.field("flow") == name), group, *span)]
    if arrivals is not None:
        is_data = (pc.field("flow") == name) & (pc.field("content") != "ack")
        is_first = pc.field("link").isin(links[:1])
        events.append(_packets(arrivals.filter(is_data & is_first), group))
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


def _packets(arrivals: pa.Table, group: Group) -> Iterator[Timed]:
    """The packets of a flow, numbered as they are sent."""
    number, full = 0, group.payload_bytes(group.packet_bytes)
    for batch in arrivals.to_batches(max_chunksize=packet_capture.ROWS_AT_A_TIME):
        for row in batch.to_pylist():
            payload = group.payload_bytes(row["bytes"])
            offset = row["sequence"] * full
            yield (
                row["sent_s"],
                qlog.PACKET_SENT,
                qlog.packet(number, row["bytes"], offset, payload),
            )
            number += 1


def _recorded_span(links: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """When the first of these links begins to record arrivals, and the last one ends, in seconds.

    All times, if none records them.
    """
    logs = [link["arrival_log"] for link in links if "arrival_log" in link]
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
