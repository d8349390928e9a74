"""Sizes of the pages of a Parquet file, and files whose footer states others."""

import hashlib
import io
import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tailroom.parquet_pages import DEEPEST, _header, decompressed_bytes

ROWS = 20_000
OPTIONS = [*itertools.product(("zstd", "none"), ("1.0", "2.0"), (True, False), (None, 7_777))]
MOST_MB = 120
"""Memory that a refusal takes; each file takes 300 MB or more if its footer is believed."""
READ = """
import resource, sys
from pathlib import Path
from tailroom.parquet_files import read_table
from tailroom.storage.run_files import series_in
from tailroom.traffic_import.flow_list import csv_of_parquet
import pyarrow.compute
path = Path(sys.argv[2])
read = {
    "table": read_table,
    "store": lambda path: series_in(path.read_bytes(), path.stem),
    "flows": lambda path: csv_of_parquet(path, 50_000_000),
}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    print(read[sys.argv[1]](path))
except (OSError, ValueError) as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
"""Reads a file, and prints how it ended and by how many MB the memory has grown."""


@pytest.mark.parametrize(("codec", "version", "dictionary", "rows"), OPTIONS)
def test_the_headers_of_pages_have_the_sizes_that_an_honest_footer_states(
    codec: str, version: str, rows: int | None, *, dictionary: bool
) -> None:
    numbers = np.arange(ROWS)
    table = pa.table(
        {
            "whole": numbers,
            "drawn": np.random.default_rng(1).random(ROWS),
            "few": pa.array([f"text {one % 100}" if one % 3 else None for one in numbers]),
            "texts": pa.array(["x" * (one % 50) for one in numbers]),
            "truth": numbers % 2 == 0,
            "nothing": pa.nulls(ROWS),
        }
    )
    memory = io.BytesIO()
    options = {"compression": codec, "data_page_version": version, "use_dictionary": dictionary}
    pq.write_table(table, memory, row_group_size=rows, **options)
    metadata = pq.read_metadata(memory)
    stated = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    assert decompressed_bytes(memory, table.column_names) == stated


def _varint(number: int) -> bytes:
    """A positive number in the footer."""
    digits, left = bytearray(), number << 1
    while left > 127:
        digits.append(left & 127 | 128)
        left >>= 7
    return bytes([*digits, left])


def _state_less(path: Path, *numbers: int) -> None:
    """Lets the footer state 8 where it has one of the numbers, in as many bytes."""
    data = path.read_bytes()
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[begin:]
    for number in numbers:
        right = _varint(number)
        assert right in footer
        footer = footer.replace(right, b"\x90" + b"\x80" * (len(right) - 2) + b"\x00")
    path.write_bytes(data[:begin] + footer)


def _sizes(path: Path) -> set[int]:
    group = pq.read_metadata(path).row_group(0)
    columns = (group.column(at).total_uncompressed_size for at in range(group.num_columns))
    return {group.total_byte_size, *columns}


def _repeated_text(path: Path) -> None:
    """A thousand rows with the same text of a megabyte."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000), pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"key": text}), path, compression="zstd", store_schema=False)
    _state_less(path, *_sizes(path))


def _one_page(path: Path) -> None:
    """A page of 320 MB, of which the footer knows eight values."""
    rows = 40_000_000
    zeros = pa.array(np.zeros(rows))
    whole = {"data_page_size": 1 << 30, "max_rows_per_page": rows, "write_batch_size": rows}
    pq.write_table(
        pa.table({"start_s": zeros}),
        path,
        compression="zstd",
        use_dictionary=False,
        row_group_size=rows,
        write_statistics=False,
        store_schema=False,
        **whole,
    )
    _state_less(path, rows, *_sizes(path))


@pytest.mark.parametrize(
    ("reader", "make", "answer"),
    [
        ("table", _repeated_text, "it is a small file of a table with more than 500 MB"),
        ("store", _repeated_text, "None"),
        ("table", _one_page, "its footer and its pages contradict each other"),
        ("flows", _one_page, "it is damaged"),
    ],
)
def test_a_footer_that_lies_is_not_believed(
    tmp_path: Path, reader: str, make: Callable[[Path], None], answer: str
) -> None:
    made = tmp_path / "made.parquet"
    make(made)
    assert made.stat().st_size < 100_000
    path = made.rename(tmp_path / f"{hashlib.sha256(made.read_bytes()).hexdigest()}.parquet")
    command = [sys.executable, "-c", READ, reader, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    *said, grown_mb = ended.stdout.splitlines()
    assert int(grown_mb) < MOST_MB
    assert answer in said[0]


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\x15",
        b"\x15" + b"\xff" * 20 + b"\x00",
        b"\x15\x02\x05\x02\x02\x00",
        b"\x1c" * (DEEPEST + 2) + b"\x00" * (DEEPEST + 3),
        b"\x19\xf9" + b"\xff" * 8 + b"\x00",
        b"\x19\xf7\xff\xff\xff\xff\x0f\x00",
        b"\x18\xff\xff\xff\x0f\x00",
    ],
    ids=["empty", "cut", "digits", "twice", "depth", "lists", "a long list", "a long text"],
)
def test_the_header_of_a_page_that_is_damaged_is_refused(header: bytes) -> None:
    with pytest.raises(OSError, match="damaged"):
        _header(header)
