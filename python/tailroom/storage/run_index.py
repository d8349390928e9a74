"""The columns of a store's runs, without reading the file of every run.

    STORE/index.arrow       the row of every run, without the scenario and the summary

The index is a copy; the files of the runs decide. An entry of the index is used only if the file of
its run still has the size and the time of change that it had when it was read. An index that is old
or was written by another process therefore costs time, but gives no wrong value. The first line of
the file is a digest of the rest.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from tailroom.simulation.metrics import names_of
from tailroom.storage.run import TEXTS

FILE = "index.arrow"
MAGIC = b"tailroom-index-1 "
SIZE, CHANGED = "index.file_size", "index.file_changed_ns"
"""Columns of the index: size of the run's file in bytes, and time of its last change in ns."""
RECENT_NS = 2_000_000_000
"""File systems round times of change, at most to 2 s (FAT). If a file changed less than 2 s before
it was indexed, a later change may have the same time."""

Signature = tuple[int, int]
"""Size in bytes and time of change in ns of a run's file."""


class StoredRow(Mapping[str, Any]):
    """A row of a run that is one row of an Arrow table; a value is read when it is asked for."""

    def __init__(self, table: pa.Table) -> None:
        """Takes a table of one row."""
        self.table = table

    def __getitem__(self, name: str) -> Any:
        """Returns a value.

        Raises:
            KeyError: The run has no such column.
        """
        return self.table[name][0].as_py()

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of the columns."""
        return iter(self.table.column_names)

    def __len__(self) -> int:
        """Returns the number of columns."""
        return int(self.table.num_columns)


@dataclass(frozen=True, eq=False)
class RunIndex:
    """Columns of the finished runs without the texts, by the key of a run."""

    tables: tuple[pa.Table, ...] = ()
    """One table per set of columns, one row per run."""
    _lists: dict[tuple[int, str], list[float | None]] = field(default_factory=dict, repr=False)

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """Number of the table, and row in that table, of each run."""
        return {
            key: (number, row)
            for number, table in enumerate(self.tables)
            for row, key in enumerate(table["key"].to_pylist())
        }

    @cached_property
    def signatures(self) -> dict[str, Signature]:
        """Signature of each run's file when it was read."""
        return {
            key: (size, changed)
            for table in self.tables
            for key, size, changed in zip(
                *(table[name].to_pylist() for name in ("key", SIZE, CHANGED)), strict=True
            )
        }

    def __contains__(self, key: str) -> bool:
        """Whether the run is finished."""
        return key in self._places

    def present(self, keys: Iterable[str]) -> list[str]:
        """Returns the finished runs among these, in their order."""
        return [key for key in keys if key in self._places]

    def metrics(self, keys: Iterable[str]) -> list[str]:
        """Full names of the metrics that these runs have, in the order of their columns."""
        numbers = dict.fromkeys(self._places[key][0] for key in keys if key in self._places)
        names = (name for number in numbers for name in names_of(self.tables[number]))
        return list(dict.fromkeys(names))

    def values(self, metric: str, keys: Iterable[str]) -> list[float]:
        """Values of a metric in the runs that define it, in the order of `keys`.

        Args:
            metric: Full name of the metric.
            keys: Keys of the runs.
        """
        values = (self._value(metric, key) for key in keys)
        return [value for value in values if value is not None]

    def _value(self, metric: str, key: str) -> float | None:
        if key not in self._places:
            return None
        number, row = self._places[key]
        column = self._lists.get((number, metric))
        if column is None:
            table = self.tables[number]
            is_column = metric in table.column_names
            column = table[metric].to_pylist() if is_column else [None] * table.num_rows
            self._lists[number, metric] = column
        return column[row]

    def row(self, key: str) -> StoredRow:
        """Returns the row of a finished run, without the texts.

        Raises:
            KeyError: The run is not finished.
        """
        number, row = self._places[key]
        return StoredRow(self._bare[number].slice(row, 1))

    def rows(self, keys: Sequence[str]) -> pa.Table:
        """Returns one row per finished run among these; a metric that a run lacks is null."""
        places = [self._places[key] for key in keys if key in self._places]
        numbers = list(dict.fromkeys(number for number, _ in places))
        if not numbers:
            return pa.table({"key": pa.array([], pa.string())})
        starts, start = {}, 0
        for number in numbers:
            starts[number] = start
            start += self.tables[number].num_rows
        together = pa.concat_tables(
            [self._bare[number] for number in numbers], promote_options="default"
        )
        return together.take(pa.array([starts[number] + row for number, row in places]))

    @cached_property
    def _bare(self) -> list[pa.Table]:
        """The tables without the columns of the files."""
        return [table.drop_columns([SIZE, CHANGED]) for table in self.tables]

    def updated(
        self, kept: Iterable[str], added: Mapping[str, tuple[Signature, pa.Table]]
    ) -> "RunIndex":
        """Returns an index of other runs.

        Args:
            kept: Keys of the runs of this index that stay.
            added: Signature of the file, and row, of each run that is added.
        """
        groups: dict[tuple[str, ...], list[pa.Table]] = {}
        wanted = set(kept)
        for table in self.tables:
            mask = [key in wanted for key in table["key"].to_pylist()]
            remaining = table if all(mask) else table.filter(pa.array(mask, pa.bool_()))
            if remaining.num_rows:
                groups.setdefault(tuple(remaining.column_names), []).append(remaining)
        for (size, changed), row in added.values():
            bare = without_texts(row)
            signed = bare.append_column(SIZE, pa.array([size], pa.int64())).append_column(
                CHANGED, pa.array([changed], pa.int64())
            )
            groups.setdefault(tuple(signed.column_names), []).append(signed)
        return RunIndex(
            tuple(pa.concat_tables(tables).combine_chunks() for tables in groups.values())
        )

    def to_bytes(self) -> bytes:
        """The content of the index file, without the runs whose files changed in the last 2 s."""
        latest = time.time_ns() - RECENT_NS
        sink = pa.BufferOutputStream()
        for table in self.tables:
            old = table.filter(
                pa.array([changed < latest for changed in table[CHANGED].to_pylist()])
            )
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(old)
        content: bytes = sink.getvalue().to_pybytes()
        return MAGIC + _digest(content) + b"\n" + content

    @classmethod
    def from_bytes(cls, content: bytes) -> "RunIndex":
        """Reads the content of an index file; returns an empty index if it cannot be read."""
        head, newline, rest = content.partition(b"\n")
        if not newline or head != MAGIC + _digest(rest):
            return cls()
        reader = pa.BufferReader(rest)
        tables = []
        try:
            while reader.tell() < reader.size():
                with pa.ipc.open_stream(reader) as stream:
                    tables.append(stream.read_all())
        except pa.ArrowException:  # another version wrote it
            return cls()
        are_known = all({"key", SIZE, CHANGED} <= set(table.column_names) for table in tables)
        return cls(tuple(table for table in tables if table.num_rows)) if are_known else cls()


def without_texts(table: pa.Table) -> pa.Table:
    """Returns rows of runs without the columns in `TEXTS`."""
    return table.drop_columns([name for name in TEXTS if name in table.column_names])


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
