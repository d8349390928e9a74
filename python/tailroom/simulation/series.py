"""Time series as Arrow tables that share their memory with the engine's NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Columns: TypeAlias = Mapping[str, NDArray[Any]]

PACKET_EVENTS = ("arrival", "departure", "drop")
"""What may happen to a packet at a link, in the order of the engine's codes."""

FATES = ("accepted", "marked", "overflow", "early", "head")
"""What may become of a packet at a link, in the order of the engine's codes."""


def link_table(columns: Columns | None, links: Sequence[str]) -> pa.Table | None:
    """One row per sample and link.

    The columns are `time_s link queue_packets utilization drops_packets marks_packets`, then what
    the queue disciplines report of themselves.
    """
    return _table(columns, {"link": links})


def flow_table(columns: Columns | None, flows: Sequence[str]) -> pa.Table | None:
    """One row per sample and flow: `time_s flow cwnd_packets ssthresh_packets srtt_s goodput_bps`.

    A slow-start threshold is infinite before the first reduction, srtt 0 before the first sample.
    """
    return _table(columns, {"flow": flows})


def packet_table(
    columns: Columns | None, links: Sequence[str], flows: Sequence[str]
) -> pa.Table | None:
    """One row per packet event, link by link in the order of time: `time_s link flow event`."""
    return _table(columns, {"link": links, "flow": flows, "event": PACKET_EVENTS})


def arrival_table(
    columns: Columns | None, links: Sequence[str], flows: Sequence[str]
) -> pa.Table | None:
    """One row per arrival, link by link: `time_s link flow bytes queue_packets fate`."""
    return _table(columns, {"link": links, "flow": flows, "fate": FATES})


def flow_count_table(columns: Columns, links: Sequence[str]) -> pa.Table | None:
    """One row per link and number of flows that occurred.

    The columns are `link flows in_progress_fraction bottlenecked_fraction`.
    """
    return _table(columns, {"link": links})


def flow_log_table(columns: Columns | None, groups: Sequence[str]) -> pa.Table | None:
    """One row per flow that came and went: `group start_s bytes completion_time_s slowdown`."""
    return _table(columns, {"group": groups})


def dispersion_table(columns: Columns | None, links: Sequence[str]) -> pa.Table | None:
    """One row per link and time scale: `link scale_s intervals mean_packets index`."""
    return _table(columns, {"link": links})


def _table(columns: Columns | None, names: Mapping[str, Sequence[str]]) -> pa.Table | None:
    """Wraps the columns; those in `names` hold positions in a list of names."""
    if columns is None:
        return None
    import pyarrow as pa  # noqa: PLC0415 - it loads NumPy, and few commands need a table

    return pa.table(
        {
            column: _named(values, names[column]) if column in names else pa.array(values)
            for column, values in columns.items()
        }
    )


def _named(positions: NDArray[Any], names: Sequence[str]) -> pa.DictionaryArray:
    import numpy as np  # noqa: PLC0415 - as in _table
    import pyarrow as pa  # noqa: PLC0415

    # The same bytes read as signed integers: pandas refuses unsigned positions.
    signed = positions.view(np.dtype(f"i{positions.itemsize}"))
    return pa.DictionaryArray.from_arrays(pa.array(signed), pa.array(names, pa.string()))
