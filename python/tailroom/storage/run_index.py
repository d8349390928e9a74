"""The columns of a store's runs, without reading the files of the runs.

    STORE/index.arrow       the row of every run, without the scenario and the summary
                            (see `plain_tables`)

The index is a copy; the files of the runs decide. The entries of a file are used only while the
file is there and has the size that it had when it was read; its content cannot change, since its
name is the digest of its content. An index that is old or was written by another process therefore
costs time, but gives no wrong value. The last line of the index has a digest of what precedes it.

A run may be in several files: two processes have performed it at the same time, or it was repeated
to keep a table. The file that was written last decides.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from tailroom.simulation.lower_bounds import columns_of, values_of
from tailroom.simulation.metric_catalogue import IS_LOWER_BOUND
from tailroom.simulation.metrics import names_of
from tailroom.storage import plain_tables, row_columns
from tailroom.storage.run import TEXTS

FILE = "index.arrow"
MAGIC = b"\ntailroom-index-3 "
LAST_LINE_BYTES = len(MAGIC) + 65
NAME_OF_FILE = re.compile(r"[0-9a-f]{64}")
"""Form of the name of a run's file without its ending."""
NAME, SIZE, CHANGED, TABLES = (f"index.{name}" for name in ("file", "size", "changed_ns", "tables"))
"""Columns of the index: name of the run's file, and the fields of its `RunFile`."""
OF_FILES = {NAME: pa.string(), SIZE: pa.int64(), CHANGED: pa.int64(), TABLES: pa.string()}
"""Types of these columns."""


@dataclass(frozen=True)
class RunFile:
    """What the index knows of a file of runs."""

    size: int
    """Size in bytes when it was read."""
    changed_ns: int
    """Time of its last change in ns."""
    tables: str
    """The names of the files with further tables of the same runs, by table, as JSON."""


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
        places: dict[str, tuple[int, int]] = {}
        for number, table in enumerate(self.tables):
            for row, key in enumerate(table["key"].to_pylist()):
                earlier = places.get(key)
                if earlier is None or self._rank(number, row) > self._rank(*earlier):
                    places[key] = (number, row)
        return places

    def _rank(self, number: int, row: int) -> tuple[int, str]:
        """Time of change and name of a row's file."""
        table = self.tables[number]
        return table[CHANGED][row].as_py(), table[NAME][row].as_py()

    @cached_property
    def files(self) -> dict[str, RunFile]:
        """The files that were read, by name."""
        columns = (NAME, SIZE, CHANGED, TABLES)
        rows = {
            row[0]: row[1:]
            for table in self.tables
            for row in zip(*(table[name].to_pylist() for name in columns), strict=True)
        }
        return {name: RunFile(*row) for name, row in rows.items()}

    @property
    def keys(self) -> KeysView[str]:
        """Keys of the finished runs."""
        return self._places.keys()

    @cached_property
    def _files_of_runs(self) -> dict[str, list[tuple[int, str]]]:
        """Time of change and name of the files with a run, by the key of the run."""
        files: dict[str, list[tuple[int, str]]] = {}
        for table in self.tables:
            columns = (table[name].to_pylist() for name in ("key", CHANGED, NAME))
            for key, changed, name in zip(*columns, strict=True):
                files.setdefault(key, []).append((changed, name))
        return files

    def files_of(self, key: str) -> list[str]:
        """Names of the files with a run, the newest first."""
        return [name for _, name in sorted(self._files_of_runs.get(key, ()), reverse=True)]

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

        If some are only lower bounds, they know what they are at most (`Values`).

        Args:
            metric: Full name of the metric.
            keys: Keys of the runs.
        """
        defined = [key for key in keys if self._value(metric, key) is not None]
        is_lower_bound = f"{metric}{IS_LOWER_BOUND}"
        is_bounded = any(self._value(is_lower_bound, key) for key in defined)
        read = columns_of(metric) if is_bounded else (metric,)
        rows = [{name: self._value(name, key) for name in read} for key in defined]
        return values_of(metric, rows)

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
        return [table.drop_columns([NAME, SIZE, CHANGED, TABLES]) for table in self.tables]

    def updated(
        self, kept: Collection[str], added: Mapping[str, tuple[RunFile, pa.Table]]
    ) -> "RunIndex":
        """Returns an index of other files.

        Args:
            kept: Names of the files of this index whose runs stay.
            added: Each file that is added, by name, with its rows without texts.
        """
        groups: dict[tuple[str, ...], list[pa.Table]] = {}
        wanted = frozenset(kept)
        everything = self.files.keys() <= wanted
        for table in self.tables:
            remaining = table if everything else _of_files(table, wanted)
            if remaining.num_rows:
                groups.setdefault(tuple(remaining.column_names), []).append(remaining)
        for name, (file, rows) in added.items():
            named = rows
            values = (name, file.size, file.changed_ns, file.tables)
            for column, value in zip((NAME, SIZE, CHANGED, TABLES), values, strict=True):
                named = named.append_column(column, pa.array([value] * rows.num_rows))
            groups.setdefault(tuple(named.column_names), []).append(named)
        return RunIndex(
            tuple(pa.concat_tables(tables).combine_chunks() for tables in groups.values())
        )

    def to_bytes(self) -> bytes:
        """The content of the index file."""
        content = plain_tables.to_bytes(self.tables)
        return content + _last_line(content)

    @classmethod
    def from_bytes(cls, content: bytes) -> "RunIndex":
        """Reads the content of an index file; returns an empty index if it cannot be read."""
        rest = memoryview(content)[:-LAST_LINE_BYTES]
        if content[-LAST_LINE_BYTES:] != _last_line(rest):
            return cls()
        try:
            index = cls(tuple(plain_tables.from_bytes(content, _type_of)))
            return index if index._is_sound() else cls()
        except (KeyError, TypeError, ValueError):  # another program wrote it
            return cls()

    def _is_sound(self) -> bool:
        """Whether each row has a key and a file, whose name is not a path.

        Raises:
            KeyError: A table lacks a column.
        """
        needed = ("key", *OF_FILES)
        lacks = any(table[name].null_count for table in self.tables for name in needed)
        return not lacks and all(map(NAME_OF_FILE.fullmatch, self.files))


def _type_of(name: str) -> pa.DataType:
    return OF_FILES.get(name) or row_columns.type_of(name)


def _of_files(table: pa.Table, names: Collection[str]) -> pa.Table:
    """Returns the rows of these files."""
    return table.filter(pa.array([name in names for name in table[NAME].to_pylist()], pa.bool_()))


def without_texts(table: pa.Table) -> pa.Table:
    """Returns rows of runs without the columns in `TEXTS`."""
    return table.drop_columns([name for name in TEXTS if name in table.column_names])


def _last_line(content: bytes | memoryview) -> bytes:
    return MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n"
