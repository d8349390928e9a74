"""The store of results: a directory of Parquet files, one a run, none of them ever half-written.

    STORE/tailroom-store.json      says that it is a store, and in which format
    STORE/runs/KEY.parquet         one row: scenario, seed, engine, every metric, the whole summary
    STORE/TABLE/KEY.parquet        a table of that run, such as `link_series`, if it was asked for
    STORE/sweeps/ID.json           which points a sweep has, and which runs belong to each

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

FORMAT = 1
MARKER = "tailroom-store.json"
PARTIAL = ".partial"
DIGEST = b"tailroom_digest"
"""Key of the digest in a file's metadata."""
ABANDONED_AFTER_S = 3600.0
"""A file that has been in the making for longer belonged to a process that was killed."""

_counter = itertools.count()


@dataclass(frozen=True)
class Run:
    """A finished run as the store keeps it."""

    key: str
    row: pa.Table
    """One row."""
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    """Those of the result's tables that were asked for, by name."""


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
    """What the points are repeated for: the fields of `Precision`."""


def run_key(scenario_hash: str, engine_build: str, seed: int, controls: str = "") -> str:
    """Names all that a run's result depends on.

    Args:
        scenario_hash: Of the scenario and the contents of its files.
        engine_build: Names the engine to the byte.
        seed: Of the run.
        controls: Tells apart controls of the user's own that have the same name and file.
    """
    parts = json.dumps([scenario_hash, engine_build, seed, controls])
    return hashlib.sha256(parts.encode()).hexdigest()


def as_run(key: str, engine_build: str, result: Result, *, keep: Collection[str]) -> Run:
    """What the store keeps of a result: a row, and those of its tables that are asked for.

    Raises:
        RunError: The scenario does not record one of them.
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
            StoreError: It is none, or one of a newer version.
        """
        self.directory = Path(directory).absolute()
        self.damaged: list[Path] = []
        """Files that could not be read; their runs count as not finished."""
        _check(self.directory)

    @classmethod
    def create(cls, directory: str | PathLike[str]) -> "Store":
        """Opens a store, or makes one where there is nothing or an empty directory.

        Raises:
            StoreError: Something else is there, or it cannot be written.
        """
        path = Path(directory).absolute()
        try:
            if _is_free(path):
                path.mkdir(parents=True, exist_ok=True)
                # The marker first: whoever finds it may complete what a killed process began.
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
        """Keeps a finished run; nothing of it is there if this raises.

        Raises:
            NotWrittenError: It cannot be written, e.g. as the disk is full.
        """
        for name, table in run.tables.items():
            (self.directory / name).mkdir(exist_ok=True)
            _write_table(self._file(name, run.key), table)
        # The row last: a run counts as finished when its row is there.
        _write_table(self._file("runs", run.key), run.row)

    def read(self, key: str, *, keep: Collection[str] = ()) -> pa.Table | None:
        """The row of a finished run; `None` if it is not there or damaged.

        Args:
            key: The run.
            keep: It counts as finished only if these tables of it are there too.
        """
        row = self._read(self._file("runs", key))
        if row is None:
            return None
        if row["key"].to_pylist() != [key]:
            self._note_damage(self._file("runs", key))
            return None
        if any(self.table(key, name) is None for name in keep):
            return None
        return row

    def table(self, key: str, name: str) -> pa.Table | None:
        """A table of a run, such as `link_series`; `None` if it was not asked for."""
        return self._read(self._file(name, key))

    def runs(self, keys: Iterable[str] | None = None) -> pa.Table:
        """The rows of these runs, of all if left out; a metric that a run lacks is null."""
        if keys is None:
            keys = sorted(file.stem for file in (self.directory / "runs").glob("*.parquet"))
        rows = [row for row in map(self.read, keys) if row is not None]
        return pa.concat_tables(rows, promote_options="default") if rows else pa.table({"key": []})

    def record(self, sweep: SweepRecord) -> None:
        """Writes down which runs belong to a sweep, in place of what was written before.

        Raises:
            NotWrittenError: It cannot be written.
        """
        text = json.dumps(vars(sweep), indent=1)
        write_whole(self.directory / "sweeps" / f"{sweep.id}.json", text.encode())

    def sweeps(self) -> list[SweepRecord]:
        """Every sweep that worked on this store, by id."""
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
            table = pq.read_table(path, page_checksum_verification=True, partitioning=None)
            if (table.schema.metadata or {}).get(DIGEST) == _digest(table):
                return table.replace_schema_metadata(None)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, pa.ArrowException):
            pass  # a flipped bit may show as any of these
        self._note_damage(path)
        return None

    def _note_damage(self, path: Path) -> None:
        if path not in self.damaged:
            self.damaged.append(path)

    def _clean_up(self) -> None:
        """Removes what killed processes have left."""
        for path in self.directory.rglob(f".*{PARTIAL}"):
            try:
                if time.time() - path.stat().st_mtime > ABANDONED_AFTER_S:
                    path.unlink(missing_ok=True)
            except OSError:
                continue  # another process removes it, or we may not: it does no harm


def _is_free(path: Path) -> bool:
    """Whether there is nothing yet, or no more than a killed process left of an empty store."""
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
    """A hash of names and values."""
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

    # By way of memory: Parquet's writer does not close its file when the disk is full.
    memory = pa.BufferOutputStream()
    pq.write_table(
        table, memory, compression="zstd", write_page_checksum=True, write_statistics=False
    )
    write_whole(path, memory.getvalue())


def write_whole(path: Path, content: "bytes | pa.Buffer") -> None:
    """Writes a file beside its place, and renames it there when it is whole.

    Raises:
        NotWrittenError: It cannot be written.
    """
    # A number more than the process's keeps threads and machines that share the store apart.
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
