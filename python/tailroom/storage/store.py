"""The store of results: a directory of Parquet files, one per run, none of them half-written.

    STORE/tailroom-store.json      says that it is a store, and in which format
    STORE/runs/KEY.parquet         one row: scenario, seed, engine, every metric, the whole summary
    STORE/TABLE/KEY.parquet        a table of that run, such as `link_series`, if it was asked for
    STORE/sweeps/ID.json           which points a sweep has, and which runs belong to each
    STORE/index.arrow              copies of the rows, as `run_index` describes

A key is a hash of all that a run depends on, so a finished run is found again from any sweep, and
two sweeps that work on one store at a time only ever write the same content under the same name. A
file appears by renaming, whole or not at all, and carries a digest of its content: Parquet's own
checksums leave out the names and types of columns.
"""

import hashlib
import itertools
import json
import os
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tailroom.errors import NotWrittenError, RunError, StoreError
from tailroom.scenario.named_values import NamedValues
from tailroom.simulation.metrics import metrics_of
from tailroom.simulation.result import Result
from tailroom.storage.run_index import FILE as INDEX_FILE
from tailroom.storage.run_index import RunIndex, Signature, without_texts

FORMAT = 1
MARKER = "tailroom-store.json"
PARTIAL = ".partial"
DIGEST = b"tailroom_digest"
"""Key of the digest in a file's metadata."""
ABANDONED_AFTER_S = 3600.0
"""Age after which an unfinished file counts as left by a process that was killed."""

WORTH_INDEXING = 100
"""The index file is rewritten if it lacks at least this number of runs."""
MOST_RECENT = 500
"""Rows are moved into the index in batches of this size: a table of one row takes about 100 kB of
memory."""

_counter = itertools.count()


@dataclass(frozen=True)
class Run:
    """A finished run as the store keeps it."""

    key: str
    row: pa.Table
    """One row."""
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    """The tables of the result that the study keeps, by name."""


@dataclass
class SweepRecord:
    """Which runs make up a sweep."""

    id: str
    title: str
    scenario: str
    """Path of the scenario file, or "scenario" for one built in Python."""
    axes: dict[str, list[object]]
    """Keys with their values as the user gave them."""
    points: list[dict[str, Any]] = field(default_factory=list)
    """Each with `settings` (key to value), `runs` (keys of its runs) and, if phases were checked,
    `shifted_runs` (keys of its runs with shifted RTTs)."""
    until: dict[str, Any] | None = None
    """The fields of `Precision`, if a precision decides the number of runs."""


def run_key(scenario_hash: str, engine_build: str, seed: int, controls: str = "") -> str:
    """Hashes everything that the result of a run depends on.

    Args:
        scenario_hash: Of the scenario and the contents of its files.
        engine_build: Names the engine to the byte.
        seed: Of the run.
        controls: Fingerprint of the controls written in Python.
    """
    parts = json.dumps([scenario_hash, engine_build, seed, controls])
    return hashlib.sha256(parts.encode()).hexdigest()


def as_run(key: str, engine_build: str, result: Result, *, keep: Collection[str]) -> Run:
    """Makes the row of a result, and selects the tables that the study keeps.

    Raises:
        RunError: The scenario does not record one of the tables.
    """
    summary = result.summary
    row = {
        "key": key,
        "scenario_hash": summary["scenario_hash"],
        "engine_build": engine_build,
        "seed": summary["seed"],
        "title": summary["title"],
        "wall_s": summary["timing"]["wall_s"],
        "scenario": result.scenario,
        "summary": json.dumps(summary),
        **metrics_of(summary),
    }
    columns = {name: pa.array([value], _type_of(name, value)) for name, value in row.items()}
    return Run(key, pa.table(columns), {name: _recorded(result, name) for name in keep})


def _recorded(result: Result, name: str) -> pa.Table:
    table: pa.Table | None = getattr(result, name)
    if table is None:
        raise RunError(f"{result.summary['title']}: the scenario does not record {name}")
    return table


def _type_of(name: str, value: object) -> pa.DataType:
    if isinstance(value, str):
        return pa.string()
    return pa.int64() if name == "seed" else pa.float64()


class Store:
    """Results of sweeps in a directory."""

    def __init__(self, directory: str | PathLike[str]) -> None:
        """Opens a store that exists.

        Raises:
            StoreError: The directory is not a store, or a newer version wrote it.
        """
        self.directory = Path(directory).absolute()
        self.damaged: list[Path] = []
        """Files that could not be read; their runs count as not finished."""
        self._index: RunIndex | None = None
        self._unwritten = 0
        """Number of runs that the index has and its file lacks."""
        self._recent: dict[str, tuple[Signature, pa.Table]] = {}
        """Rows that were read or written since the index was made, with their files."""
        _check(self.directory)

    @classmethod
    def create(cls, directory: str | PathLike[str]) -> "Store":
        """Opens a store, or creates one if the directory is empty or does not exist.

        Raises:
            StoreError: The directory holds something else, or cannot be written.
        """
        path = Path(directory).absolute()
        try:
            if _is_free(path):
                path.mkdir(parents=True, exist_ok=True)
                # The marker first: with it, another process may complete what a killed one began.
                write_whole(path / MARKER, json.dumps({"format": FORMAT}).encode())
            store = cls(path)
            for part in ("runs", "sweeps"):
                (path / part).mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{path}: cannot write there: {error.strerror}; choose another directory"
            ) from None
        store._clean_up()
        return store

    def add(self, run: Run) -> None:
        """Writes a finished run. If this raises, the run does not count as finished.

        Raises:
            NotWrittenError: A file cannot be written, for example on a full disk.
        """
        for name, table in run.tables.items():
            (self.directory / name).mkdir(exist_ok=True)
            _write_table(self._file(name, run.key), table)
        # The row last: a run counts as finished when its row is there.
        path = self._file("runs", run.key)
        _write_table(path, run.row)
        self._remember(run.key, _signature(path), run.row)

    def find(self, key: str, *, keep: Collection[str] = ()) -> pa.Table | None:
        """The row of a finished run without its texts; `None` if its file is missing or damaged.

        The row comes from the index if the run's file has not changed since it was indexed.

        Args:
            key: The run.
            keep: The run counts as finished only if it has these tables too.
        """
        index = self._known
        if key not in index or _signature(self._file("runs", key)) != index.signatures[key]:
            row = self.read(key, keep=keep)
            return None if row is None else without_texts(row)
        if any(self.table(key, name) is None for name in keep):
            return None
        return index.row(key)

    def columns(self) -> RunIndex:
        """The rows of all finished runs without their texts, as columns.

        Reads the files that the index lacks, and rewrites the index file if they are many. A store
        that cannot be written gives the same answer.
        """
        files = self._files_of_runs()
        known, read = self._known.signatures, set()
        for key in sorted(key for key, file in files.items() if known.get(key) != file):
            if key not in self._recent or self._recent[key][0] != files[key]:
                self._recent.pop(key, None)
                if self.read(key) is not None:
                    read.add(key)
        self._merge_recent()
        index = self._known
        # A run that was read just now may have been written since the directory was listed.
        kept = [
            key for key, file in index.signatures.items() if files.get(key) == file or key in read
        ]
        if len(kept) < len(index.signatures):
            self._index = index = index.updated(kept, {})
        if self._unwritten >= WORTH_INDEXING:
            with suppress(NotWrittenError):
                write_whole(self.directory / INDEX_FILE, index.to_bytes())
            self._unwritten = 0
        return index

    def _files_of_runs(self) -> dict[str, Signature]:
        """The file of each run, by key."""
        files = {}
        with suppress(FileNotFoundError):
            for entry in os.scandir(self.directory / "runs"):
                if entry.name.endswith(".parquet"):
                    stat = entry.stat()
                    key = entry.name.removesuffix(".parquet")
                    files[key] = (stat.st_size, stat.st_mtime_ns)
        return files

    @property
    def _known(self) -> RunIndex:
        """The index of this object, at first that of the index file."""
        if self._index is None:
            try:
                self._index = RunIndex.from_bytes((self.directory / INDEX_FILE).read_bytes())
            except OSError:
                self._index = RunIndex()
        return self._index

    def _remember(self, key: str, signature: Signature | None, row: pa.Table) -> None:
        if signature and self._known.signatures.get(key) != signature:
            self._recent[key] = (signature, without_texts(row))
        if len(self._recent) >= MOST_RECENT:
            self._merge_recent()

    def _merge_recent(self) -> None:
        """Moves the recent rows into the index."""
        if not self._recent:
            return
        index = self._known
        kept = [key for key in index.signatures if key not in self._recent]
        self._index = index.updated(kept, self._recent)
        self._unwritten += len(self._recent)
        self._recent = {}

    def read(self, key: str, *, keep: Collection[str] = ()) -> pa.Table | None:
        """The row of a finished run, from its file; `None` if the file is missing or damaged.

        Args:
            key: The run.
            keep: The run counts as finished only if it has these tables too.
        """
        path = self._file("runs", key)
        signature = _signature(path)  # before the content, which may be replaced meanwhile
        row = self._read(path)
        if row is None:
            return None
        if row["key"].to_pylist() != [key]:
            self._note_damage(path)
            return None
        self._remember(key, signature, row)
        if any(self.table(key, name) is None for name in keep):
            return None
        return row

    def table(self, key: str, name: str) -> pa.Table | None:
        """A table of a run, such as `link_series`; `None` if the store does not have it."""
        return self._read(self._file(name, key))

    def runs(self, keys: Iterable[str] | None = None) -> pa.Table:
        """One row per finished run, from the files; a metric that a run lacks is null.

        Args:
            keys: The runs; all runs of the store if left out.
        """
        if keys is None:
            keys = sorted(file.stem for file in (self.directory / "runs").glob("*.parquet"))
        rows = [row for row in map(self.read, keys) if row is not None]
        return pa.concat_tables(rows, promote_options="default") if rows else pa.table({"key": []})

    def record(self, sweep: SweepRecord) -> None:
        """Writes which runs belong to a sweep, in place of an earlier record of that sweep.

        Raises:
            NotWrittenError: The record cannot be written.
        """
        text = json.dumps(vars(sweep), indent=1)
        write_whole(self.directory / "sweeps" / f"{sweep.id}.json", text.encode())

    def sweeps(self) -> list[SweepRecord]:
        """The records of all sweeps of this store, by id."""
        records = []
        for path in sorted((self.directory / "sweeps").glob("*.json")):
            try:
                text = path.read_text(encoding="utf-8")
                records.append(SweepRecord(**json.loads(text, object_pairs_hook=NamedValues)))
            except (ValueError, TypeError):
                self._note_damage(path)
        return records

    def _file(self, part: str, key: str) -> Path:
        return self.directory / part / f"{key}.parquet"

    def _read(self, path: Path) -> pa.Table | None:
        try:
            table = pq.ParquetFile(path, page_checksum_verification=True).read(use_threads=False)
            if (table.schema.metadata or {}).get(DIGEST) == _digest(table):
                return table.replace_schema_metadata(None)
        except FileNotFoundError:
            return None
        except (OSError, TypeError, ValueError, pa.ArrowException):
            pass  # a flipped bit may cause any of these
        self._note_damage(path)
        return None

    def _note_damage(self, path: Path) -> None:
        if path not in self.damaged:
            self.damaged.append(path)

    def _clean_up(self) -> None:
        """Removes unfinished files of killed processes."""
        for path in self.directory.rglob(f".*{PARTIAL}"):
            try:
                if time.time() - path.stat().st_mtime > ABANDONED_AFTER_S:
                    path.unlink(missing_ok=True)
            except OSError:
                continue  # another process removed it, or this one may not; it does no harm


def _signature(path: Path) -> Signature | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


def _is_free(path: Path) -> bool:
    """Whether the directory is missing, empty, or holds only the unfinished marker of a store."""
    if not path.exists():
        return True
    return path.is_dir() and all(one.name.startswith(f".{MARKER}") for one in path.iterdir())


def _check(directory: Path) -> None:
    marker = directory / MARKER
    try:
        content = json.loads(marker.read_text(encoding="utf-8"))
        found = content["format"]
        if type(found) is not int or found < 1:
            raise ValueError(found)
    except FileNotFoundError:
        what = "is no store of results" if directory.exists() else "is not there"
        raise StoreError(
            f"{directory}: {what}; `tailroom sweep FILE --store DIR` makes one in a new directory"
        ) from None
    except NotADirectoryError:
        raise StoreError(f"{directory}: is a file; give the directory of a store") from None
    except OSError as error:
        raise StoreError(f"{marker}: cannot read it: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f'{marker}: is damaged; if this is a store, write {{"format": {FORMAT}}} into it'
        ) from None
    if found > FORMAT:
        raise StoreError(
            f"{directory}: is of format {found}, and this tailroom reads {FORMAT}; use a newer one"
        )


def _digest(table: pa.Table) -> bytes:
    """A hash of the names and values of columns."""
    sha = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if is_number and not column.null_count:
            kind, values = str(column.type), np.ascontiguousarray(column.to_numpy()).tobytes()
        else:
            kind, values = "", json.dumps(column.to_pylist()).encode()
        sha.update(json.dumps([name, kind, len(values)]).encode() + values)
    return sha.hexdigest().encode()


def _write_table(path: Path, table: pa.Table) -> None:
    table = table.replace_schema_metadata({DIGEST: _digest(table)})

    # Through memory: Parquet's writer does not close its file when the disk is full.
    memory = pa.BufferOutputStream()
    pq.write_table(
        table, memory, write_page_checksum=True, write_statistics=False, **_encoding(table)
    )
    write_whole(path, memory.getvalue())


def _encoding(table: pa.Table) -> dict[str, Any]:
    """How Parquet encodes a table.

    In a table of one row, dictionaries and compressed numbers are larger than the numbers, and
    reading and writing them takes three times as long.
    """
    if table.num_rows > 1:
        return {"compression": "zstd"}
    compression = {
        one.name: "zstd" if pa.types.is_string(one.type) else "none" for one in table.schema
    }
    return {"use_dictionary": False, "compression": compression}


def write_whole(path: Path, content: "bytes | pa.Buffer") -> None:
    """Writes a temporary file in the same directory, and renames it when it is complete.

    Raises:
        NotWrittenError: The file cannot be written.
    """
    # Threads, and machines that share the store, may have the same process id.
    unique = f"{os.getpid()}-{next(_counter)}-{time.time_ns()}"
    partial = path.with_name(f".{path.name}.{unique}{PARTIAL}")
    try:
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise NotWrittenError(error.errno, reason, str(path)) from error
        raise
