"""Files of runs: Parquet files, each named by the SHA-256 of its content.

The name shows whether the content is the one that was written: a flipped bit, a file cut short and
a copy under another name all have another digest. A file never changes, and two processes that
write equal content write equal files.
"""

import hashlib
import io
import json
import os
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tailroom.parquet_files import check_size
from tailroom.scenario.json_text import read_json
from tailroom.storage.row_columns import OF_TEXT, TYPES, type_of
from tailroom.storage.run import Row, Run
from tailroom.storage.run_index import NAME_OF_FILE, StoredRow
from tailroom.storage.sweep_record import KEY_OF_RUN
from tailroom.storage.whole_file import write_whole

ENDING = ".parquet"
KEY = "key"
"""Column with the key of a row's run."""
TABLES = b"tailroom_tables"
"""Key in the metadata of a file of rows: the names of the files with further tables of its runs, by
table, as JSON."""
Signature = tuple[int, int]
"""Size in bytes and time of change in ns of a file."""
CACHE_BYTES = 1 << 26
"""Room for the tables that were read last."""


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Returns the rows of runs, which have the same columns, as an Arrow table."""
    first = rows[0]
    if len(rows) == 1 and isinstance(first, StoredRow):
        return first.table
    return pa.table({name: pa.array([row[name] for row in rows], type_of(name)) for name in first})


def _is_of_rows(schema: pa.Schema) -> bool:
    """Whether the columns are those of the rows that `as_run` makes."""
    names = schema.names
    return (
        set(names) >= TYPES.keys()
        and len(names) == len(set(names))
        and all(one.type == type_of(one.name) for one in schema)
    )


def _are_keys(keys: list[str | None]) -> bool:
    """Whether these are keys of runs, each of another one."""
    return len({*keys}) == len(keys) > 0 and all(key and KEY_OF_RUN.fullmatch(key) for key in keys)


def alike(runs: Sequence[Run]) -> list[list[Run]]:
    """Divides runs into groups whose rows and tables have the same columns."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        schemas = tuple((name, str(table.schema)) for name, table in sorted(run.tables.items()))
        groups.setdefault((tuple(run.row), schemas), []).append(run)
    return list(groups.values())


def tables_together(runs: Sequence[Run]) -> dict[str, pa.Table]:
    """Returns each table of runs that are alike, one run after the other, with their keys."""
    keys = pa.array([run.key for run in runs])
    together = {}
    for name in runs[0].tables:
        tables = [run.tables[name] for run in runs]
        numbers = np.repeat(np.arange(len(runs), dtype=np.int32), [one.num_rows for one in tables])
        column = pa.DictionaryArray.from_arrays(pa.array(numbers), keys)
        whole = pa.concat_tables(tables).replace_schema_metadata(None)
        together[name] = whole.add_column(0, KEY, column).unify_dictionaries()
    return together


def part_of(table: pa.Table, key: str) -> pa.Table:
    """Returns the rows of a run in a table that `tables_together` made, without the key."""
    column = table[KEY].unify_dictionaries().combine_chunks()
    known = column.dictionary.to_pylist()
    number = known.index(key) if key in known else -1
    places = np.flatnonzero(column.indices.to_numpy(zero_copy_only=False) == number)
    start = int(places[0]) if places.size else 0
    return table.slice(start, places.size).drop_columns([KEY]).replace_schema_metadata(None)


def write(directory: Path, table: pa.Table, tables: Mapping[str, str] | None = None) -> str:
    """Writes a table into a file, and returns the name of the file.

    Args:
        directory: Directory of the file.
        table: The table.
        tables: For rows of runs: the names of the files with their further tables, by table.

    Raises:
        NotWrittenError: The file cannot be written.
    """
    metadata = {} if tables is None else {TABLES: json.dumps(dict(tables)).encode()}
    # The table is encoded in memory: its digest is the file's name, and Parquet's writer does not
    # close its file when the disk is full.
    memory = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata(metadata),
        memory,
        write_statistics=False,
        **(_encoding_of_series() if tables is None else _encoding_of_rows(table)),
    )
    content = memory.getvalue()
    name = hashlib.sha256(content).hexdigest()
    write_whole(directory / f"{name}{ENDING}", content)
    return name


def _encoding_of_series() -> dict[str, Any]:
    return {"compression": "zstd"}


def _encoding_of_rows(table: pa.Table) -> dict[str, Any]:
    """Many columns, each with few numbers: dictionaries and compression would only cost time.

    Texts repeat each other, and shrink to a fortieth.
    """
    compression = {
        column.name: "zstd" if pa.types.is_string(column.type) else "none"
        for column in table.schema
    }
    return {"use_dictionary": False, "compression": compression}


def rows_in(content: bytes, name: str, *, without_metrics: bool = False) -> pa.Table | None:
    """Returns the rows in a file; `None` if the file is damaged, or has no rows of runs.

    Args:
        content: The content of the file.
        name: Its name without the ending.
        without_metrics: Leave out the metrics, which are most of the columns.
    """
    with _read_errors():
        file = _opened(content, name)
        if file is not None and _is_of_rows(file.schema_arrow):
            check_size(file, io.BytesIO(content), OF_TEXT)
            rows = file.read(list(TYPES) if without_metrics else None, use_threads=False)
            return rows if _are_keys(rows[KEY].to_pylist()) else None
    return None


def series_in(content: bytes, name: str) -> pa.Table | None:
    """Returns the table of several runs in a file; `None` if the file is damaged, or has none.

    Args:
        content: The content of the file.
        name: Its name without the ending.
    """
    with _read_errors():
        file = _opened(content, name)
        if file is not None:
            check_size(file, io.BytesIO(content))
            table = file.read(use_threads=False)
            is_named = KEY in table.column_names
            return table if is_named and pa.types.is_dictionary(table[KEY].type) else None
    return None


def _opened(content: bytes, name: str) -> pq.ParquetFile | None:
    is_whole = hashlib.sha256(content).hexdigest() == name
    return pq.ParquetFile(pa.BufferReader(content)) if is_whole else None


def _read_errors() -> suppress:
    """Passes over what Arrow raises for a file that another program wrote."""
    return suppress(OSError, TypeError, ValueError, pa.ArrowException)


def tables_text(rows: pa.Table) -> str:
    """Returns the names of the files with further tables of these runs, by table, as JSON."""
    text: bytes = (rows.schema.metadata or {}).get(TABLES, b"{}")
    return text.decode(errors="replace")


@lru_cache(maxsize=256)
def further_tables(text: str) -> Mapping[str, str]:
    """Reads what `tables_text` returns; leaves out what is no name of a file."""
    try:
        names = read_json(text)
    except ValueError:
        return {}
    if not isinstance(names, dict):
        return {}
    return MappingProxyType(
        {
            table: name
            for table, name in names.items()
            if isinstance(name, str) and NAME_OF_FILE.fullmatch(name)
        }
    )


def listed(directory: Path) -> dict[str, Signature]:
    """Returns the signature of each file of runs in a directory, by name.

    Other files are left alone: file managers and services that synchronise directories put files
    of their own next to those of the store, such as `._NAME.parquet`.

    Raises:
        OSError: The directory cannot be read.
    """
    files = {}
    try:
        entries = list(os.scandir(directory))
    except FileNotFoundError:
        return {}
    for entry in entries:
        name = entry.name.removesuffix(ENDING)
        if name != entry.name and NAME_OF_FILE.fullmatch(name):
            found = signature(entry.path)
            if found:  # else another process has removed it, or it is a link that leads nowhere
                files[name] = found
    return files


def signature(path: str) -> Signature | None:
    """Returns size and time of change of a file; `None` if it is not there."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


class TableCache:
    """The tables that were read last: many questions ask for the runs of a file one by one."""

    def __init__(self) -> None:
        """Begins empty."""
        self._tables: OrderedDict[Hashable, pa.Table] = OrderedDict()
        self._bytes = 0

    def get(self, name: Hashable) -> pa.Table | None:
        """Returns a table; `None` if it is not among those read last."""
        table = self._tables.get(name)
        if table is not None:
            self._tables.move_to_end(name)
        return table

    def add(self, name: Hashable, table: pa.Table) -> None:
        """Keeps a table, and forgets the oldest ones if there is no room."""
        self._tables[name] = table
        self._bytes += table.nbytes
        while self._bytes > CACHE_BYTES and len(self._tables) > 1:
            _, oldest = self._tables.popitem(last=False)
            self._bytes -= oldest.nbytes
