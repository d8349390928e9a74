"""Parquet files by path: also paths that are not UTF-8, which Arrow itself cannot open.

What somebody else made is bounded: a file of a few kilobytes can hold a column of a terabyte.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from tailroom.parquet_pages import decompressed_bytes
from tailroom.quoting import quoted
from tailroom.staging import new_file

ALWAYS_BYTES = 500_000_000
"""Size of a table that a file of any size may hold."""
MOST_TIMES = 100
"""A larger table has at most this multiple of the bytes of its file; samples of queues have ten."""
WIDTH_BYTES = 8
"""Largest size of a number."""
ROWS_AT_ONCE = 65_536
PART_BYTES = 32_000_000
"""Size of the texts whose lengths are added at a time."""
_NUMBERS = (pa.types.is_primitive, pa.types.is_dictionary, pa.types.is_null)
"""What has a width; of a dictionary, the numbers of its entries."""


def read_table(path: Path) -> pa.Table:
    """Reads a whole file.

    Args:
        path: The file.

    Raises:
        OSError: The file cannot be read, is no Parquet file, or is as in `check_size`.
    """
    try:
        with path.open("rb") as opened:
            file = pq.ParquetFile(opened)
            check_size(file, opened)
            return file.read(use_threads=False)
    except pa.ArrowException as error:  # its text may quote the content of the file
        raise OSError(quoted(error)) from None


def check_size(
    file: pq.ParquetFile, content: IO[bytes], texts: Sequence[str] | None = None
) -> None:
    """Refuses a table that would be far larger than its file, or has columns of lists.

    Args:
        file: The file.
        content: Its content; the position changes.
        texts: Names of the columns of texts, if the types of all columns have been checked.

    Raises:
        OSError: The table would have more than `ALWAYS_BYTES` and `MOST_TIMES` its file, a column
            holds neither numbers nor texts, or as in `decompressed_bytes`.
    """
    metadata = file.metadata
    most_bytes = max(ALWAYS_BYTES, MOST_TIMES * content.seek(0, 2))
    if texts is None:
        texts = _texts(file.schema_arrow)
    pages = decompressed_bytes(content, file.schema_arrow.names)
    decoded = max(pages, metadata.num_rows * metadata.num_columns * WIDTH_BYTES)
    _refuse_above(most_bytes, decoded)
    # A text that is written once may stand in each row. None is longer than its pages.
    if decoded + metadata.num_rows * pages <= most_bytes:
        return
    rows = max(1, min(ROWS_AT_ONCE, PART_BYTES // max(pages, 1)))
    for batch in file.iter_batches(rows, columns=list(texts), use_threads=False) if texts else ():
        decoded += batch.nbytes
        _refuse_above(most_bytes, decoded)


def _texts(schema: pa.Schema) -> list[str]:
    """The names of the columns of texts.

    Raises:
        OSError: A column holds neither numbers nor texts.
    """
    texts = []
    for field in schema:
        kind = field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            texts.append(field.name)
        elif not any(is_kind(kind) for is_kind in _NUMBERS):
            raise OSError(f"its column `{quoted(field.name)}` holds {quoted(kind)}")
    return texts


def _refuse_above(most_bytes: int, decoded: int) -> None:
    if decoded > most_bytes:
        raise OSError(f"it is a small file of a table with more than {most_bytes // 10**6:,} MB")


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
