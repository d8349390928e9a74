"""The result of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tailroom.errors import ArgumentError
from tailroom.export.headers import IP_BYTES
from tailroom.field_docs import with_field_docs
from tailroom.libraries import need
from tailroom.scenario.named_values import nearest
from tailroom.simulation import logged_packets, packet_capture, sender_trace
from tailroom.simulation.action_log import ActionLog
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.result_tables import ResultTables

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from tailroom.simulation.result_types import (
        FlowSummary,
        GroupSummary,
        LinkSummary,
        PoolSummary,
        RunWarning,
        Summary,
        Timing,
    )

MOST_SHOWN = 4
"""Maximum number of links, and of groups, in the representation of a result."""

STATISTICS = ("flows", "links", "pools", "groups")
"""Parts of the summary that are tables, the main one first."""

PlotKind = Literal["windows", "utilization", "dispersion", "arrivals", "memory"]
"""Pictures of a run."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Result(AnyResult, ResultTables):
    """Statistics, tables and the scenario of one run.

    The tables are Arrow tables, which pandas, polars and DuckDB read without copying. A table that
    was not recorded is `None`.

    `table` also knows `flows` (the main table), `links` and `groups`: the statistics, one row per
    permanent flow, link or group, with its name in the column `name` and one column per number or
    text.
    """

    summary: Summary
    """The object that `tailroom run --json` prints. The last word of a key is its unit; fractions
    lie in [0, 1]; `None` if there was nothing to measure."""
    scenario: str
    """The scenario as TOML with every default filled in."""
    actions: ActionLog | None = None
    """Of a run in steps, what changed links and flows between them: with scenario and seed it
    determines the run (`Simulation.replay`)."""
    timing: Timing | None = None
    """How long the run took: what differs between equal runs. `None` of a loaded result whose
    directory has no `timing.json`."""

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same run with the same tables, however long either took.

        A run in steps without actions is the same as one without steps.
        """
        if not isinstance(other, Result):
            return NotImplemented
        return (
            self.scenario == other.scenario
            and _acted(self.actions) == _acted(other.actions)
            and self.summary == other.summary
            and all(_same(getattr(self, name), getattr(other, name)) for name in _recordable())
        )

    def __hash__(self) -> int:
        """Equal runs have equal hashes."""
        return hash((self.scenario, self.summary["seed"]))

    def __repr__(self) -> str:
        """Title and seed, then a line per link and per group."""
        summary = self.summary
        lines = [
            f"{summary['title']}; seed {summary['seed']}, statistics from "
            f"{summary['measured_from_s']:g} s to {summary['measured_to_s']:g} s"
        ]
        lines += _first_lines([_link_line(name, link) for name, link in self.links.items()])
        lines += _first_lines([_group_line(name, group) for name, group in self.groups.items()])
        warnings = [f"{one['kind']} at {one['place']}" for one in summary["warnings"]]
        if warnings:
            lines.append(f"warnings: {', '.join(warnings)}")
        return "<Result: " + "\n  ".join(lines) + ">"

    @property
    def links(self) -> dict[str, LinkSummary]:
        """Statistics of each link, by name, in the order of the scenario."""
        return self.summary["links"]

    @property
    def pools(self) -> dict[str, PoolSummary]:
        """Statistics of the memory that links share, by the name of the pool."""
        return self.summary["pools"]

    @property
    def flows(self) -> list[FlowSummary]:
        """Statistics of each permanent flow, in the order of the scenario."""
        return self.summary["flows"]

    @property
    def groups(self) -> dict[str, GroupSummary]:
        """Statistics of each group of flows, by name, in the order of the scenario."""
        return self.summary["groups"]

    @property
    def warnings(self) -> tuple[RunWarning, ...]:
        """What a reader should know before trusting the result, each kind and place once."""
        return tuple(self.summary["warnings"])

    @property
    def _tables(self) -> Tables:
        statistics = {name: partial(self._statistics, name) for name in STATISTICS}
        return {**statistics, **{name: partial(self._recorded, name) for name in _recordable()}}

    def as_dict(self) -> dict[str, Any]:
        """The result as the command prints it with `--json`: the summary."""
        return {**self.summary}

    def _recorded(self, name: str) -> pa.Table:
        table: pa.Table | None = getattr(self, name)
        if table is None:
            recorded = [known for known in _recordable() if getattr(self, known) is not None]
            raise ArgumentError(
                f"the table {name!r} was not recorded (the reference of results says how to "
                f"record it); choose one of {', '.join([*STATISTICS, *recorded])}"
            )
        return table

    def _statistics(self, name: str) -> pa.Table:
        need("pyarrow")
        import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

        summary: dict[str, Any] = {**self.summary}
        if name == "flows":
            rows = summary[name]
        else:
            rows = [{"name": owner, **values} for owner, values in summary[name].items()]
        columns = [
            key
            for key in (rows[0] if rows else ())
            if not any(isinstance(row[key], dict | list) for row in rows)
        ]
        return pa.table({key: [row[key] for row in rows] for key in columns})

    def series(
        self, quantity: str, *, link: str | None = None, flow: str | None = None
    ) -> pa.Table:
        """Returns one quantity over time.

        Args:
            quantity: Of links: `queue`, `utilization`, `drops`, `marks`, or a quantity that the
                queue discipline reports. Of flows: `cwnd`, `ssthresh`, `srtt` or `goodput`.
            link: Only this link.
            flow: Only this flow.

        Returns:
            One row per sample, and per link or flow if none was chosen. The columns are `time_s`,
            then `link` or `flow` if none was chosen, then the quantity, with its unit as the last
            word of its name. Without a choice no column is copied.

        Raises:
            ArgumentError: There is no such quantity, link or flow, or no series was recorded.
        """
        for owner, table, name in (
            ("link", self.link_series, link),
            ("flow", self.flow_series, flow),
        ):
            column = _column(table, quantity)
            if table is None or column is None:
                continue
            if name is None:
                return table.select(["time_s", owner, column])
            import pyarrow.compute as pc  # noqa: PLC0415 - it loads NumPy

            _check_name(table, owner, name)
            return table.filter(pc.field(owner) == name).select(["time_s", column])
        raise ArgumentError(self._why_missing(quantity))

    def save_pcap(  # noqa: PLR0913 - a choice of packets, and of their headers
        self,
        path: str | PathLike[str],
        *,
        flows: Sequence[str] = (),
        every: int = 1,
        at: Sequence[str] = (),
        direction: str | None = None,
        ip: int = 4,
    ) -> None:
        """Writes the recorded packets as a capture (pcapng), which Wireshark opens.

        They are those of the table `packets`.

        Args:
            path: The new file.
            flows: Only the packets of these flows or groups; all if left out.
            every: Only each n-th packet, 1 or more.
            at: Only these places: links, or ends of flows as `reno.0.sender`; all if left out.
            direction: Only `data` or only `acks`.
            ip: Version of IP of the headers, 4 or 6.

        Raises:
            ArgumentError: No packets were recorded, none of a flow or at a place, or an argument is
                wrong.
            OSError: The file cannot be written.
        """
        if ip not in IP_BYTES:
            raise ArgumentError(f"ip is {ip!r}; give 4 or 6")
        packets = self._chosen_packets(flows, every, at, direction)
        packet_capture.write(packets, self.scenario, Path(path), ip)

    def save_packets(
        self,
        path: str | PathLike[str],
        *,
        flows: Sequence[str] = (),
        every: int = 1,
        at: Sequence[str] = (),
        direction: str | None = None,
    ) -> None:
        """Writes the same packets as a Parquet file: the table `packets` with SACK blocks.

        Args:
            path: The new file.
            flows: Only the packets of these flows or groups; all if left out.
            every: Only each n-th packet, 1 or more.
            at: Only these places: links, or ends of flows as `reno.0.sender`; all if left out.
            direction: Only `data` or only `acks`.

        Raises:
            ArgumentError: No packets were recorded, none of a flow or at a place, or an argument is
                wrong.
            OSError: The file cannot be written.
        """
        packets = self._chosen_packets(flows, every, at, direction)
        from tailroom import parquet_files  # noqa: PLC0415 - it loads Arrow

        parquet_files.write_table(packets, Path(path))

    def save_qlog(self, directory: str | PathLike[str], *, flows: Sequence[str] = ()) -> None:
        """Writes traces of the senders in qlog, a file `FLOW.sqlog` per flow.

        A trace has the window, ssthresh and smoothed RTT at the instants of `flow_series`, and the
        packets and ACKs of the sender in `endpoint_log`, or else the packets of `arrival_log` at
        the first link of the flow. A trace with packets is of the time of their log.

        Args:
            directory: An empty directory.
            flows: Only these flows or groups; all flows under congestion control if left out.

        Raises:
            ArgumentError: No `flow_series` was recorded, or it has no such flow, or over 1,000.
            OSError: A file cannot be written.
        """
        series = self._recorded("flow_series")
        sender_trace.write(series, self, self.scenario, Path(directory), flows=flows)

    def _chosen_packets(
        self, flows: Sequence[str], every: int, at: Sequence[str], direction: str | None
    ) -> pa.Table:
        if every < 1:
            raise ArgumentError(f"every is {every}; give a number from 1")
        if direction not in (None, "data", "acks"):
            raise ArgumentError(f"direction is {direction!r}; give data or acks, or leave it out")
        packets = logged_packets.with_blocks(self)
        if packets is None:
            packets = self._recorded("packets")
        return packet_capture.choose(packets, flows, every, at=at, direction=direction)

    def plot(self, kind: PlotKind = "windows", *, title: bool | None = True) -> Figure:
        """Draws windows and queue, utilization, burstiness, arrivals, or memory of pools.

        Args:
            kind: `windows` (as in Figures 5 and 6 of Barman et al. 2004), `utilization`,
                `dispersion` (index of dispersion of arrivals over the time scale),
                `arrivals` (as in Figure 4 of Auge and Roberts 2006), or `memory` (of each pool, by
                link).
            title: Whether the picture has its title; `None` is no title either.

        Raises:
            ArgumentError: The data of the figure were not recorded, or there is no such figure.
        """
        return self._drawn(kind, title=title)

    def __getstate__(self) -> dict[str, Any]:
        """Makes the tables that have not been read yet, because only tables can be pickled."""
        for field in fields(self):
            getattr(self, field.name)
        return vars(self)

    def _why_missing(self, quantity: str) -> str:
        tables = [table for table in (self.link_series, self.flow_series) if table is not None]
        if not tables:
            return (
                "no series was recorded; give the scenario a series.interval, "
                "or run it with series_samples=500"
            )
        known = [
            _quantity(column)
            for table in tables
            for column in table.column_names
            if column not in ("time_s", "link", "flow")
        ]
        return f"there is no series {quantity!r}; {nearest(quantity, known)}"


def _recordable() -> list[str]:
    """Names of the tables that a run may record."""
    return [field.name for field in fields(ResultTables)]


def _acted(log: ActionLog | None) -> ActionLog | None:
    """Returns a log, unless it holds no action."""
    return log if log and log.actions else None


def _same(table: pa.Table | None, other: pa.Table | None) -> bool:
    """Whether tables have the same values; NaN is the same as NaN."""
    if table is None or other is None or table.column_names != other.column_names:
        return table is other
    return all(
        one.equals(two) or _same_numbers(one, two)
        for one, two in zip(table.columns, other.columns, strict=True)
    )


def _same_numbers(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    import numpy as np  # noqa: PLC0415 - a run may need no table

    return str(one.type) == str(other.type) == "double" and np.array_equal(
        one.to_numpy(), other.to_numpy(), equal_nan=True
    )


def _link_line(name: str, link: LinkSummary) -> str:
    delays = [link["queue_delay_s_mean"], link["queue_delay_s_p99"]]
    mean, p99 = ("-" if delay_s is None else f"{1e3 * delay_s:.3g} ms" for delay_s in delays)
    loss = link["loss_fraction"]
    return (
        f"link {name}: utilization {100 * link['utilization']:.4g} %, "
        f"loss {'-' if loss is None else f'{100 * loss:.3g} %'}, "
        f"queueing delay {mean} (p99 {p99})"
    )


def _group_line(name: str, group: GroupSummary) -> str:
    control = f" {group['congestion']}" if group["congestion"] else ""
    goodput = group["goodput_bps"]
    written = "-" if goodput is None else f"{1e-6 * goodput:.4g} Mbit/s"
    return f"group {name}: {group['flows']:,}{control}, goodput {written}"


def _first_lines(lines: list[str]) -> list[str]:
    """Returns the first lines, and a line with the number of the others."""
    more = len(lines) - MOST_SHOWN
    return [*lines[:MOST_SHOWN], *([f"... and {more:,} more"] if more > 0 else [])]


def _quantity(column: str) -> str:
    """Returns the name of a column without its unit."""
    return column.rsplit("_", 1)[0]


def _column(table: pa.Table | None, quantity: str) -> str | None:
    if table is None:
        return None
    matches = (name for name in table.column_names if quantity in (name, _quantity(name)))
    return next(matches, None)


def _check_name(table: pa.Table, owner: str, name: str) -> None:
    names = table.column(owner).unique().to_pylist()
    if name not in names:
        raise ArgumentError(f"there is no {owner} {name!r}; {nearest(str(name), names)}")
