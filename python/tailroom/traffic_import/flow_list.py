"""Lists of flows in CSV or Parquet; docs/guide/import.md describes the format."""

import io
import os
from pathlib import Path
from typing import IO, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from tailroom.errors import FlowListError
from tailroom.parquet_pages import decompressed_bytes
from tailroom.quoting import quoted
from tailroom.staging import remove, staging_place

PARQUET = ".parquet"
"""Suffix of Parquet files; a file with any other suffix is CSV."""

FORMATS = {"start_s": "{:.9f}", "rate_bps": "{:.0f}", "rtt_s": "{:.9f}"}
"""Number formats of columns in CSV: times to the nanosecond, rates to 1 bit/s."""

COLUMNS = {
    "start_s": pa.float64(),
    "bytes": pa.int64(),
    "rate_bps": pa.float64(),
    "rtt_s": pa.float64(),
}
"""Columns that the engine reads; the last two are optional."""

ROWS_AT_ONCE = 65_536

FEWEST_BYTES_A_ROW = len("0.000000000,")


def write(flows: pa.Table, path: Path) -> None:
    """Writes a list of flows to a new file; if that fails, no file is left.

    Args:
        flows: The flows, with the columns of a flow list and possibly others.
        path: The new file; its suffix decides the format.

    Raises:
        FlowListError: The file exists, or its directory cannot be written.
    """
    check_free(path)
    staging = staging_place(path, path.parent)
    try:
        if path.suffix == PARQUET:
            pq.write_table(flows, staging, compression="zstd")
        else:
            with staging.open("x", encoding="utf-8") as file:
                write_csv(flows, file)
        check_free(path)
        staging.replace(path)
    finally:
        remove(staging)


def check_free(path: Path) -> None:
    """Checks that a new file can be written.

    Raises:
        FlowListError: The file exists, or its directory cannot be written.
    """
    if path.exists():
        raise FlowListError(f"{path}: exists already; choose another file, or remove this file")
    if not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise FlowListError(
            f"{path}: cannot be written; choose a file in a directory that you may write"
        )


def write_csv(flows: pa.Table, file: TextIO) -> None:
    """Writes a list of flows as CSV: a line with the names of columns, then one line per flow."""
    file.write(",".join(flows.column_names) + "\n")
    write_rows(flows, file)


def write_rows(flows: pa.Table, file: TextIO) -> None:
    """Writes the rows of a list of flows as CSV, a line per flow."""
    layouts = [FORMATS.get(name, "{}") for name in flows.column_names]
    for batch in flows.to_batches(max_chunksize=ROWS_AT_ONCE):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            cells = (
                "" if cell is None else layout.format(cell)
                for layout, cell in zip(layouts, row, strict=True)
            )
            file.write(",".join(cells) + "\n")


def csv_of_parquet(path: str | os.PathLike[str], most_bytes: int) -> str | None:
    """Reads a list of flows in Parquet, and returns the columns that the engine reads as CSV.

    Args:
        path: The file.
        most_bytes: Largest size of the CSV. A file of half a megabyte can hold 60 million rows.

    Returns:
        The CSV; `None` if it would be larger.

    Raises:
        FlowListError: The file cannot be read, or a column does not hold numbers.
    """
    text = io.StringIO()
    try:
        with open(path, "rb") as content, pq.ParquetFile(content) as file:
            names = [name for name in COLUMNS if name in file.schema_arrow.names]
            for name in names:
                _check_numbers(name, file.schema_arrow.field(name).type)
            if _least_bytes(file, content, names) > most_bytes:
                return None
            text.write(",".join(names) + "\n")
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=names):
                flows = pa.table({name: batch[name].cast(COLUMNS[name]) for name in names})
                write_rows(flows, text)
                if text.tell() > most_bytes:
                    return None
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise FlowListError(f"it is not a list of flows in Parquet: {reason}") from None
    except pa.ArrowException:  # its text may quote the content of the file
        raise FlowListError(
            "it is not a list of flows in Parquet: it is damaged, or a value is out of range"
        ) from None
    return text.getvalue()


def _check_numbers(name: str, kind: pa.DataType) -> None:
    """Refuses what a few bytes of the file could make large: lists, texts, tables.

    Raises:
        FlowListError: The column does not hold numbers.
    """
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise FlowListError(
            f"its column `{name}` holds {quoted(kind)}; write whole or floating-point numbers"
        )


def _least_bytes(file: pq.ParquetFile, content: IO[bytes], names: list[str]) -> int:
    """The least that a file takes once it is read: its pages without compression, or as CSV."""
    rows = int(file.metadata.num_rows)
    return max(decompressed_bytes(content, names), rows * FEWEST_BYTES_A_ROW)
