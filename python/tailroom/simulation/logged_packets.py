"""The packets of `arrival_log` and `endpoint_log` with what their headers carry, as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_tables import ResultTables

FEEDBACK = ("ece", "cwr", "marked_packets")
"""Columns on ECN in TCP headers."""


def arrivals(tables: ResultTables) -> pa.Table | None:
    """Returns the packets at links with timestamps, SACK blocks and ECN as further columns.

    Args:
        tables: The tables of a run. Where a packet has no such option, the columns have 0, and the
            column `sack_blocks` an empty list; else `start` and `end` of each block.
    """
    if tables.arrival_log is None:
        return None
    rows = tables.arrival_log
    for names, optional in (
        (("timestamp_ms", "echo_ms"), tables.arrival_timestamps),
        (FEEDBACK, tables.arrival_ecn),
    ):
        for name in names:
            rows = rows.append_column(name, optional[name] if optional else _zeros(rows.num_rows))
    return _with_blocks(rows, tables.sack_blocks)


def passages(tables: ResultTables) -> pa.Table | None:
    """Returns the packets at the ends of flows in the columns of `arrivals`.

    Args:
        tables: The tables of a run. The column `link` has the flow and its end, as in
            `reno.0.sender`, and `fate` is `sent` or `received`.
    """
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy
    import pyarrow.compute as pc  # noqa: PLC0415 - it loads NumPy

    if tables.endpoint_log is None:
        return None
    rows = tables.endpoint_log
    flow, end, content = (rows[name].cast(pa.string()) for name in ("flow", "end", "content"))
    is_sent = pc.xor(pc.equal(end, "receiver"), pc.not_equal(content, "ack"))
    derived = {
        "link": pc.binary_join_element_wise(flow, end, "."),
        "queue_packets": _zeros(rows.num_rows),
        "fate": pc.if_else(is_sent, "sent", "received"),
    }
    for name, column in derived.items():
        rows = rows.append_column(name, column)
    return _with_blocks(rows.drop_columns(["end"]), tables.endpoint_sack_blocks)


def joined(tables: ResultTables) -> pa.Table | None:
    """Returns the packets at links, and behind them those at the ends of flows.

    Args:
        tables: The tables of a run.
    """
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    at_links, at_ends = arrivals(tables), passages(tables)
    if at_links is None or at_ends is None:
        return at_links if at_ends is None else at_ends
    plain = [_without_labels(table) for table in (at_links, at_ends)]
    return pa.concat_tables([plain[0], plain[1].select(plain[0].column_names)])


def _without_labels(rows: pa.Table) -> pa.Table:
    """The same with texts in place of positions in lists, which the tables do not share."""
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    for index, name in enumerate(rows.column_names):
        if pa.types.is_dictionary(rows.schema.field(name).type):
            rows = rows.set_column(index, name, rows[name].cast(pa.string()))
    return rows


def _zeros(rows: int) -> pa.Array:
    import numpy as np  # noqa: PLC0415 - it takes long to load
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    return pa.array(np.zeros(rows, np.uint32))


def _with_blocks(rows: pa.Table, blocks: pa.Table | None) -> pa.Table:
    """Appends `sack_blocks`: for each row, the start and end of each block."""
    import numpy as np  # noqa: PLC0415 - it takes long to load
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    names, kind = ["start", "end"], pa.uint64()
    blocks = blocks or pa.table({name: pa.array([], kind) for name in ["arrival", *names]})
    first = np.searchsorted(blocks["arrival"].to_numpy(), np.arange(rows.num_rows + 1))
    ends = [blocks[name].combine_chunks() for name in names]
    lists = pa.ListArray.from_arrays(
        pa.array(first, pa.int32()), pa.StructArray.from_arrays(ends, names)
    )
    return rows.append_column("sack_blocks", lists)
