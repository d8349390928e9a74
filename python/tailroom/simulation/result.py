"""What a run returns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from tailroom.simulation import frames
from tailroom.simulation.result_tables import ResultTables

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from tailroom.simulation.result_types import (
        FlowSummary,
        GroupSummary,
        LinkSummary,
        Summary,
    )

MOST_SHOWN = 4
"""Links, and groups, that the representation of a result has a line for."""

STATISTICS = ("links", "flows", "groups")
"""Parts of the summary that are tables."""

PlotKind = Literal["windows", "utilization", "dispersion", "arrivals"]


@dataclass(frozen=True, eq=False)
class Result(ResultTables):
    """Statistics, tables and the scenario of one run.

    The tables hold NumPy-compatible columns that pandas, polars and DuckDB read without copying. A
    table that the scenario does not ask for is `None`.
    """

    summary: Summary
    """The object that `tailroom run --json` prints; units are in the last word of each name."""
    scenario: str
    """The scenario as TOML with every default filled in."""

    def __repr__(self) -> str:
        """Title and seed, then a line per link and per group."""
        summary = self.summary
        lines = [
            f"{summary['title']}; seed {summary['seed']}, statistics from "
            f"{summary['measured_from_s']:g} s to {summary['measured_to_s']:g} s"
        ]
        lines += _some([_link_line(name, link) for name, link in self.links.items()])
        lines += _some([_group_line(name, group) for name, group in self.groups.items()])
        return "<Result: " + "\n  ".join(lines) + ">"

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        from tailroom.reports.notebook import result_html  # noqa: PLC0415 - matplotlib takes a second

        return result_html(self)

    @property
    def links(self) -> dict[str, LinkSummary]:
        """Statistics of each link, by name, in the order of the scenario."""
        return self.summary["links"]

    @property
    def flows(self) -> list[FlowSummary]:
        """Statistics of each permanent flow, in the order of the scenario."""
        return self.summary["flows"]

    @property
    def groups(self) -> dict[str, GroupSummary]:
        """Statistics of each group of flows, by name.

        Among them, in seconds: `queue_delay_s_mean` and `queue_delay_s_p99`, what packets wait at
        all links of their path together; `one_way_delay_s_mean`, `one_way_delay_s_p99` and
        `jitter_s_mean` (RFC 3550, section 6.4.1) of sources without congestion control. `None`
        where there is nothing to measure.
        """
        return self.summary["groups"]

    def table(self, name: str) -> pa.Table:
        """A table by its name.

        Args:
            name: `links`, `flows` or `groups`: the statistics, with one row per link, permanent
                flow or group and one column per number or text, and the name in the column
                `name`; or a table of the run, such as `link_series` or `flow_log`.

        Raises:
            ValueError: There is no such table, or it was not recorded.
        """
        if name in STATISTICS:
            return self._statistics(name)
        tables = [one.name for one in fields(ResultTables)]
        if name not in tables:
            known = ", ".join([*STATISTICS, *tables])
            raise ValueError(f"there is no table {name!r}; choose one of {known}")
        table: pa.Table | None = getattr(self, name)
        if table is None:
            recorded = [one for one in tables if getattr(self, one) is not None]
            raise ValueError(
                f"the table {name!r} was not recorded (docs/reference/results.md says what records "
                f"it); choose one of {', '.join([*STATISTICS, *recorded])}"
            )
        return table

    def to_pandas(self, table: str = "flows") -> pd.DataFrame:
        """A table as a pandas data frame; arguments and errors are those of `table`.

        Raises:
            MissingLibraryError: pandas is not installed (`pip install 'tailroom[frames]'`).
        """
        return frames.to_pandas(self.table(table))

    def to_polars(self, table: str = "flows") -> pl.DataFrame:
        """A table as a polars data frame; arguments and errors are those of `table`.

        Raises:
            MissingLibraryError: polars is not installed (`pip install 'tailroom[frames]'`).
        """
        return frames.to_polars(self.table(table))

    def _statistics(self, name: str) -> pa.Table:
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
        """One quantity over time.

        Args:
            quantity: `queue`, `utilization`, `drops`, `marks` or what the discipline reports of
                links; `cwnd`, `ssthresh`, `srtt` or `goodput` of flows. The column's name carries
                the unit.
            link: Only this link.
            flow: Only this flow.

        Returns:
            The columns `time_s`, `link` or `flow` if none was chosen, and the quantity. Without a
            choice the columns are those of the whole table, not copies.

        Raises:
            ValueError: There is no such quantity, link or flow, or no series was recorded.
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
        raise ValueError(self._why_missing(quantity))

    def plot(self, kind: PlotKind = "windows") -> Figure:
        """Draws windows and queue over time, utilization over time, burstiness or arrivals.

        Args:
            kind: `windows` as in Figures 5 and 6 of Barman et al. (2004), `utilization`,
                `dispersion` (burstiness by time scale), or `arrivals` as in Figure 4 of Auge and
                Roberts (2006).

        Raises:
            ValueError: What it shows was not recorded.
        """
        from tailroom import plots  # noqa: PLC0415 - matplotlib takes a second to load

        return plots.draw(self, kind)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes scenario, summary, series and pictures into a new directory, or nothing at all.

        Raises:
            OutputDirectoryError: The directory holds something already or cannot be written.
        """
        from tailroom.storage import result_directory as result_files  # noqa: PLC0415 - it needs this module

        result_files.save(self, directory)

    def __getstate__(self) -> dict[str, Any]:
        """Makes the tables that nobody has read yet, since only tables can be pickled."""
        for one in fields(self):
            getattr(self, one.name)
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
        return f"there is no series {quantity!r}; choose one of {', '.join(known)}"


def _link_line(name: str, link: LinkSummary) -> str:
    delays = [link["queue_delay_s_mean"], link["queue_delay_s_p99"]]
    mean, p99 = ("-" if one is None else f"{1e3 * one:.3g} ms" for one in delays)
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


def _some(lines: list[str]) -> list[str]:
    """The first lines, and how many are left out."""
    left = len(lines) - MOST_SHOWN
    return [*lines[:MOST_SHOWN], *([f"... and {left:,} more"] if left > 0 else [])]


def _quantity(column: str) -> str:
    """The name of a column without its unit."""
    return column.rsplit("_", 1)[0]


def _column(table: pa.Table | None, quantity: str) -> str | None:
    if table is None:
        return None
    matches = (name for name in table.column_names if quantity in (name, _quantity(name)))
    return next(matches, None)


def _check_name(table: pa.Table, owner: str, name: str) -> None:
    names = table.column(owner).unique().to_pylist()
    if name not in names:
        some = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise ValueError(f"there is no {owner} {name!r}; choose one of {some}")
