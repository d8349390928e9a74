"""The store of results: a directory with one Parquet file per run.

    STORE/tailroom-store.json      marks the directory as a store; version of the format
    STORE/runs/KEY.parquet         one row: scenario, seed, engine, every metric, the whole summary
    STORE/TABLE/KEY.parquet        a table of that run, such as `link_series`, if the study keeps it
    STORE/sweeps/ID.json           the points of a sweep, and the runs of each point
    STORE/index.arrow              copies of the rows (see `run_index`)
    STORE/.lock                    keeps two processes apart that write the same record

A key is a hash of everything that a run depends on. Every study therefore finds a finished run
again, and two studies that use one store at the same time write equal content under equal names.
A file is written under a temporary name and then renamed, so no file is incomplete. It carries a
digest of its content, because Parquet's own checksums leave out the names and types of columns.
Names that come from a file of the store are checked before they become part of a path.
"""

import hashlib
import itertools
import json
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import lru_cache
from os import PathLike
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tailroom.errors import NotWrittenError, StoreError
from tailroom.parquet_files import read_table
from tailroom.scenario.json_text import read_json
from tailroom.staging import is_leftover, mark, publish
from tailroom.storage.file_lock import locked
from tailroom.storage.run import Row, Run
from tailroom.storage.run_index import FILE as INDEX_FILE
from tailroom.storage.run_index import RunIndex, Signature, StoredRow, without_texts
from tailroom.storage.sweep_record import KEY_OF_RUN, SweepRecord

FORMAT = 1
MARKER = "tailroom-store.json"
LOCK = ".lock"
ENDING = ".parquet"
PARTIAL = ".partial"
DIGEST = b"tailroom_digest"
"""Key of the digest in a file's metadata."""
ABANDONED_AFTER_S = 3600.0
"""Age after which an unfinished file of another machine counts as left by a killed process."""

WORTH_INDEXING = 100
"""The index file is rewritten if it lacks at least this number of runs."""
MOST_RECENT = 500
"""Number of recent rows at which they are moved into the index, because a table of one row takes
about 100 kB of memory."""

_counter = itertools.count()

_TYPES = {
    name: pa.string()
    for name in ("key", "scenario_hash", "engine_build", "title", "scenario", "summary")
} | {"seed": pa.int64()}
"""Types of the columns of a row that are not metrics."""


def table_of(row: Row) -> pa.Table:
    """Returns the row of a run as an Arrow table."""
    if isinstance(row, StoredRow):
        return row.table
    return pa.table({name: pa.array([value], _type_of(name)) for name, value in row.items()})


_FLOAT, _FLOAT_BYTES = pa.float64(), Struct("=d")


def _type_of(name: str) -> pa.DataType:
    return _TYPES.get(name, pa.float64())


def _is_row(table: pa.Table, key: str) -> bool:
    """Whether a table is the row of a run: its columns are those that `as_run` writes.

    A version with another format may have written the file, and its digest is right.
    """
    names = table.column_names
    return (
        set(names) >= _TYPES.keys()
        and len(names) == len(set(names))
        and all(one.type == _type_of(one.name) for one in table.schema)
        and table["key"].to_pylist() == [key]
    )


class Store:
    """A directory that keeps the runs of studies, one file per run.

    Several processes may use a store at the same time, and several threads may add and read runs
    of one object. A run is kept as soon as it has finished, and a file is either complete or
    absent.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        """Opens an existing store.

        Args:
            directory: Directory of the store.

        Raises:
            StoreError: The directory is not a store, or a newer version of tailroom wrote it.
        """
        self.directory = Path(directory).absolute()
        """Directory of the store."""
        self.damaged: list[Path] = []
        """Files that could not be read; their runs count as not finished."""
        self.problems: dict[Path, str] = {}
        """What is wrong with the records of sweeps among the damaged files, and the remedy."""
        self._index: RunIndex | None = None
        self._unwritten = 0
        """Number of runs that are in the index but not in the index file."""
        self._recent: dict[str, tuple[Signature, pa.Table]] = {}
        """Rows that were read or written after the index was made, with the signatures of their
        files."""
        self._remembering = threading.Lock()
        """Held while a row joins the recent ones, which may move them into the index."""
        self._removal: weakref.finalize[..., Store] | None = None
        """Removes the directory of a temporary store."""
        _check(self.directory)

    @classmethod
    def temporary(cls) -> "Store":
        """Creates a store in a temporary directory, which is removed together with this object.

        If the object still exists when Python ends, the directory is removed then.

        Raises:
            StoreError: The directory cannot be written.
        """
        place = tempfile.mkdtemp(prefix="tailroom-")
        store = cls.create(place)
        store._removal = weakref.finalize(store, _remove, place, os.getpid())
        return store

    def keep(self) -> None:
        """Keeps the directory, if it is temporary."""
        if self._removal:
            self._removal.detach()

    @classmethod
    def create(cls, directory: str | PathLike[str]) -> "Store":
        """Opens a store; creates it if the directory is empty or does not exist.

        Args:
            directory: Directory of the store.

        Raises:
            StoreError: The directory has other content, a newer version of tailroom wrote the
                store, or the directory cannot be written.
        """
        path = Path(directory).absolute()
        try:
            if _is_free(path):
                path.mkdir(parents=True, exist_ok=True)
                # The marker comes first: if this process is killed, another one can add the rest.
                write_whole(path / MARKER, json.dumps({"format": FORMAT}).encode())
            store = cls(path)
            for part in ("runs", "sweeps"):
                (path / part).mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{path}: cannot be written: {error.strerror}; choose another directory"
            ) from None
        store._clean_up()
        return store

    def add(self, run: Run) -> None:
        """Writes a finished run. After an exception, the run does not count as finished.

        Args:
            run: The run with its row and tables.

        Raises:
            NotWrittenError: A file cannot be written, for example on a full disk.
        """
        for name, table in run.tables.items():
            (self.directory / name).mkdir(exist_ok=True)
            _write_table(self._file(name, run.key), table)
        # The row comes last: a run counts as finished when its row is in the store.
        path, row = self._file("runs", run.key), table_of(run.row)
        _write_table(path, row)
        self._remember(run.key, _signature(path), row)

    def find(self, key: str, *, keep: Collection[str] = ()) -> Row | None:
        """Returns the row of a finished run without its texts (scenario and summary).

        The row comes from the index if the file of the run has not changed since it was indexed.

        Args:
            key: Key of the run.
            keep: Names of tables; the run counts as finished only if the store has them too.

        Returns:
            The row; `None` if a file of the run is missing or damaged.
        """
        index = self._known
        if key not in index or _signature(self._file("runs", key)) != index.signatures[key]:
            row = self.read(key, keep=keep)
            return None if row is None else StoredRow(without_texts(row))
        if any(self.table(key, name) is None for name in keep):
            return None
        return index.row(key)

    def columns(self) -> RunIndex:
        """Returns the columns of all finished runs, without the texts (scenario and summary).

        Reads the files that the index lacks, and rewrites the index file if it lacks 100 runs or
        more. If the index file cannot be written, the answer is the same.
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
        """Signature of each run's file, by key."""
        files = {}
        for key in self._keys():
            file = _signature(self._file("runs", key))
            if file:  # else another process has removed it, or it is a link that leads nowhere
                files[key] = file
        return files

    def _keys(self) -> list[str]:
        """Keys of the runs that have a file, sorted.

        Other files are left alone: file managers and services that synchronise directories put
        files of their own beside those of the store, such as `._KEY.parquet`.

        Raises:
            StoreError: The directory of the runs cannot be read.
        """
        place = self.directory / "runs"
        try:
            names = os.listdir(place)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(
                f"{place}: cannot be read: {error.strerror}; give a store that you may read"
            ) from None
        keys = (name.removesuffix(ENDING) for name in names if name.endswith(ENDING))
        return sorted(key for key in keys if KEY_OF_RUN.fullmatch(key))

    @property
    def _known(self) -> RunIndex:
        """The index that this object has in memory; first read from the index file."""
        if self._index is None:
            try:
                self._index = RunIndex.from_bytes((self.directory / INDEX_FILE).read_bytes())
            except OSError:
                self._index = RunIndex()
        return self._index

    def _remember(self, key: str, signature: Signature | None, row: pa.Table) -> None:
        with self._remembering:
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
        """Reads the row of a finished run from its file, with its scenario and summary.

        Args:
            key: Key of the run.
            keep: Names of tables; the run counts as finished only if the store has them too.

        Returns:
            One row; `None` if a file of the run is missing or damaged.
        """
        path = self._file("runs", key)
        signature = _signature(path)  # before the content, which another process may replace
        row = self._read(path)
        if row is None:
            return None
        if not _is_row(row, key):
            self._note_damage(path)
            return None
        self._remember(key, signature, row)
        if any(self.table(key, name) is None for name in keep):
            return None
        return row

    def row(self, key: str) -> Row | None:
        """Returns what `read` returns, as values by name.

        Args:
            key: Key of the run.
        """
        row = self.read(key)
        return None if row is None else StoredRow(row)

    def table(self, key: str, name: str) -> pa.Table | None:
        """Reads a table of a run.

        Args:
            key: Key of the run.
            name: Name of the table, such as `link_series`.

        Returns:
            The table as in `Result`; `None` if the store does not have it.
        """
        return self._read(self._file(name, key))

    def runs(self, keys: Iterable[str] | None = None) -> pa.Table:
        """Reads the rows of finished runs from their files, with scenarios and summaries.

        Args:
            keys: Keys of the runs; all runs of the store if left out.

        Returns:
            One row per finished run; a metric that a run lacks is null.
        """
        if keys is None:
            keys = self._keys()
        rows = [row for row in map(self.read, keys) if row is not None]
        return pa.concat_tables(rows, promote_options="default") if rows else pa.table({"key": []})

    def record(self, sweep: SweepRecord) -> None:
        """Writes the record of a sweep; replaces an earlier record of the same sweep.

        If the earlier record has the same runs and more of them, because the sweep had more seeds,
        the further runs stay in the record.

        Args:
            sweep: The points of the sweep, and the runs of each point.

        Raises:
            NotWrittenError: The record cannot be written.
            StoreError: The id of the sweep is not the name of a file.
        """
        _check_name(sweep.id)
        path = self.directory / "sweeps" / f"{sweep.id}.json"
        try:
            with locked(self.directory / LOCK):
                with suppress(OSError, ValueError):
                    sweep = sweep.extended_by(SweepRecord.from_bytes(path.read_bytes(), sweep.id))
                write_whole(path, sweep.to_bytes())
        except NotWrittenError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise NotWrittenError(error.errno, reason, str(error.filename or path)) from error

    def sweeps(self) -> list[SweepRecord]:
        """Returns the records of all sweeps in this store, sorted by id."""
        records = []
        for path in sorted((self.directory / "sweeps").glob("*.json")):
            try:
                records.append(SweepRecord.from_bytes(path.read_bytes(), path.stem))
            except OSError as error:
                self._note_damage(path, f"cannot be read: {error.strerror}; give yourself access")
            except ValueError as error:
                self._note_damage(path, f"{error}; remove it, and give the sweep's command again")
        return records

    def _file(self, part: str, key: str) -> Path:
        """Path of a run's file.

        Raises:
            StoreError: The names are not those of a table and a run.
        """
        if not (KEY_OF_RUN.fullmatch(key) and KEY_OF_RUN.fullmatch(part)):
            raise StoreError(
                f"{self.directory}: has no run {key!a} with a table {part!a}; give the key of a run"
            )
        return self.directory / part / f"{key}{ENDING}"

    def _read(self, path: Path) -> pa.Table | None:
        try:
            table = read_table(path, page_checksum_verification=True)
            if (table.schema.metadata or {}).get(DIGEST) == _digest(table):
                return table.replace_schema_metadata(None)
        except FileNotFoundError:
            return None
        except (OSError, TypeError, ValueError, pa.ArrowException):
            pass  # a flipped bit may cause any of these exceptions
        self._note_damage(path)
        return None

    def _note_damage(self, path: Path, problem: str = "") -> None:
        if path not in self.damaged:
            self.damaged.append(path)
        if problem:
            self.problems[path] = problem

    def _clean_up(self) -> None:
        """Removes temporary files that killed processes left."""
        for path in self.directory.rglob(f".*{PARTIAL}"):
            try:
                is_old = time.time() - path.stat().st_mtime > ABANDONED_AFTER_S
                if is_old or is_leftover(path.name):
                    path.unlink(missing_ok=True)
            except OSError:
                continue  # another process removed the file, or owns it; the file does no harm


def _check_name(name: str) -> None:
    """Checks that a name is the name of a file, and not a path.

    Raises:
        StoreError: It is a path, or has characters that no file name has.
    """
    if not name or Path(name).name != name or "\\" in name or not name.isprintable():
        raise StoreError(f"{name!a} cannot be the id of a sweep; give the name of a file")


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
    return path.is_dir() and all(file.name.startswith(f".{MARKER}") for file in path.iterdir())


def _remove(place: str, process: int) -> None:
    """Removes a temporary store, unless this process is a fork of the one that made it."""
    if os.getpid() == process:
        shutil.rmtree(place, ignore_errors=True)


def _check(directory: Path) -> None:
    marker = directory / MARKER
    try:
        content = read_json(marker.read_text(encoding="utf-8"))
        version = content["format"]
        if type(version) is not int or version < 1:
            raise ValueError(version)
    except FileNotFoundError:
        problem = "is not a store of results" if directory.exists() else "does not exist"
        raise StoreError(
            f"{directory}: {problem}; `tailroom sweep FILE --store DIR` creates a store in a new "
            "directory"
        ) from None
    except NotADirectoryError:
        raise StoreError(f"{directory}: is a file; give the directory of a store") from None
    except OSError as error:
        raise StoreError(
            f"{marker}: cannot be read: {error.strerror}; give a store that you may read"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f'{marker}: is damaged; if this is a store, write {{"format": {FORMAT}}} into it'
        ) from None
    if version > FORMAT:
        raise StoreError(
            f"{directory}: has format {version}, and this version of tailroom reads formats up to "
            f"{FORMAT}; install a newer version"
        )


def _digest(table: pa.Table) -> bytes:
    """Hashes the names and values of the columns."""
    sha = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind, values = _values_of_one(column) if len(column) == 1 else _values(column)
        sha.update(_heading(name, kind, len(values)) + values)
    return sha.hexdigest().encode()


@lru_cache(maxsize=4096)
def _heading(name: str, kind: str, length: int) -> bytes:
    return json.dumps([name, kind, length]).encode()


def _values(column: pa.ChunkedArray) -> tuple[str, bytes]:
    """Returns the type of numbers, and the values as bytes."""
    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if is_number and not column.null_count:
        return str(column.type), np.ascontiguousarray(column.to_numpy()).tobytes()
    return "", json.dumps(_as_list(column)).encode()


def _values_of_one(column: pa.ChunkedArray) -> tuple[str, bytes]:
    """Returns what `_values` returns, for a column with one value in a tenth of its time."""
    value = column[0].as_py()
    if isinstance(value, float) and column.type == _FLOAT:
        return "double", _FLOAT_BYTES.pack(value)
    if value is None or isinstance(value, str):
        return "", json.dumps([value]).encode()
    return _values(column)


def _as_list(column: pa.ChunkedArray) -> list[Any]:
    """Returns what `to_pylist` returns, for long texts and numbers in a tenth of its time."""
    is_text = pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)
    if is_text and len(column):
        whole = column.combine_chunks()
        coded = whole if pa.types.is_dictionary(column.type) else whole.dictionary_encode()
        words = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
        return list(words[coded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)])
    if pa.types.is_floating(column.type):
        numbers = column.to_numpy().astype(object)
        numbers[column.is_null().to_numpy()] = None
        return list(numbers)
    return list(column.to_pylist())


def _write_table(path: Path, table: pa.Table) -> None:
    table = table.replace_schema_metadata({DIGEST: _digest(table)})

    # The table is encoded in memory, because Parquet's writer does not close its file when the
    # disk is full.
    memory = pa.BufferOutputStream()
    pq.write_table(
        table, memory, write_page_checksum=True, write_statistics=False, **_encoding(table)
    )
    write_whole(path, memory.getvalue())


def _encoding(table: pa.Table) -> dict[str, Any]:
    """Options for encoding a table as Parquet.

    In a table of one row, dictionaries and compressed numbers are larger than plain numbers, and
    reading and writing them takes three times as long.
    """
    if table.num_rows > 1:
        return {"compression": "zstd"}
    compression = {
        column.name: "zstd" if pa.types.is_string(column.type) else "none"
        for column in table.schema
    }
    return {"use_dictionary": False, "compression": compression}


def write_whole(path: Path, content: "bytes | pa.Buffer") -> None:
    """Writes a temporary file in the same directory, and renames it when it is complete.

    Args:
        path: The file; an earlier one is replaced.
        content: Its content.

    Raises:
        NotWrittenError: The file cannot be written.
    """
    # Threads, and machines that share the store, may have the same process id.
    unique = f"{mark()}-{next(_counter)}-{time.time_ns()}"
    partial = path.with_name(f".{path.name}.{unique}{PARTIAL}")
    try:
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        publish(partial, path)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise NotWrittenError(error.errno, reason, str(path)) from error
        raise
