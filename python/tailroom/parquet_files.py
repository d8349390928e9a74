"""Parquet files by path: also paths that are not UTF-8, which Arrow itself cannot open."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tailroom.staging import new_file


def read_table(path: Path, **options: Any) -> pa.Table:
    """Reads a whole file.

    Args:
        path: The file.
        options: Those of `pyarrow.parquet.ParquetFile`.

    Raises:
        OSError: The file cannot be read, or is no Parquet file.
    """
    with path.open("rb") as file:
        return pq.ParquetFile(file, **options).read(use_threads=False)


def write_table(table: pa.Table, path: Path) -> None:
    """Writes a new file, compressed.

    Args:
        table: The table.
        path: The file.

    Raises:
        OSError: The file cannot be written.
    """
    with new_file(path) as file:
        pq.write_table(table, file, compression="zstd")
