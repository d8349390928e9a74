"""The packets of a run: those at links, and all of them with their SACK blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_tables import ResultTables


def at_links(tables: ResultTables) -> pa.Table | None:
    """Returns the rows of `packets` at links; `None` if there is none.

    Args:
        tables: The tables of a run.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - it loads NumPy

    if tables.packets is None:
        return None
    rows = tables.packets.filter(~pc.field("fate").isin(["sent", "received"]))
    return rows if rows.num_rows else None


def with_blocks(tables: ResultTables) -> pa.Table | None:
    """Returns `packets` with a further column `sack_blocks`: `start` and `end` of each block.

    Args:
        tables: The tables of a run.
    """
    import numpy as np  # noqa: PLC0415 - it takes long to load
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    rows = tables.packets
    if rows is None:
        return None
    names, kind = ["start", "end"], pa.uint64()
    blocks = tables.sack_blocks or pa.table(
        {name: pa.array([], kind) for name in ["packet", *names]}
    )
    first = np.searchsorted(blocks["packet"].to_numpy(), np.arange(rows.num_rows + 1))
    ends = [blocks[name].combine_chunks() for name in names]
    lists = pa.ListArray.from_arrays(
        pa.array(first, pa.int32()), pa.StructArray.from_arrays(ends, names)
    )
    return rows.append_column("sack_blocks", lists)
