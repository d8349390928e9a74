"""The packets of `arrival_log` with the options that their headers carry, as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def joined(
    arrivals: pa.Table, timestamps: pa.Table | None, sack_blocks: pa.Table | None
) -> pa.Table:
    """Returns the packets with `timestamp_ms`, `echo_ms` and `sack_blocks` as further columns.

    Args:
        arrivals: The table `arrival_log`.
        timestamps: The table `arrival_timestamps`, with as many rows; 0 where there is none.
        sack_blocks: The table `sack_blocks`. The column has a list per packet, of `start` and `end`
            of each block.
    """
    import numpy as np  # noqa: PLC0415 - it takes long to load
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy

    rows = arrivals.num_rows
    for name in ("timestamp_ms", "echo_ms"):
        column = timestamps[name] if timestamps else pa.array(np.zeros(rows, np.uint32))
        arrivals = arrivals.append_column(name, column)
    names, kind = ["start", "end"], pa.uint64()
    blocks = sack_blocks or pa.table({name: pa.array([], kind) for name in ["arrival", *names]})
    first = np.searchsorted(blocks["arrival"].to_numpy(), np.arange(rows + 1))
    ends = [blocks[name].combine_chunks() for name in names]
    lists = pa.ListArray.from_arrays(
        pa.array(first, pa.int32()), pa.StructArray.from_arrays(ends, names)
    )
    return arrivals.append_column("sack_blocks", lists)
