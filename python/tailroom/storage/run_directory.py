"""The runs in a store: their files, and the index of their columns.

STORE/runs/DIGEST.parquet       a row per run: scenario, seed, engine, every metric, the summary
STORE/TABLE/DIGEST.parquet      a table of the same runs, such as `link_series`, if a study
                                keeps it; the metadata of the rows name it
STORE/index.arrow               copies of the rows (see `run_index`)
"""

import errno
import json
import stat
import threading
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from tailroom.errors import NotWrittenError, StoreError
from tailroom.given_files import read_bytes
from tailroom.storage import run_files
from tailroom.storage.run import Row, Run
from tailroom.storage.run_files import ENDING, KEY, Signature, TableCache, signature
from tailroom.storage.run_index import FILE as INDEX_FILE
from tailroom.storage.run_index import RunFile, RunIndex, StoredRow, without_texts
from tailroom.storage.sweep_record import KEY_OF_RUN
from tailroom.storage.whole_file import check_writable, write_whole

ROWS = "runs"
"""Directory of the files of rows."""
WORTH_INDEXING = 100
"""The index file is rewritten if it lacks at least this number of runs."""
SHARE_UNINDEXED = 0.25
"""While runs are added, the index file is rewritten if it lacks at least this fraction of them."""

MOST_ADDED = 500
"""Number of files outside the index at which they are moved into it, because a table of one row
takes about 100 kB of memory."""

MOST_FILE_BYTES = 2_000_000_000
"""Length of a file of runs, and of the index."""


class RunDirectory:
    """The runs in a directory, which several processes and threads may add and read."""

    def __init__(self, directory: Path) -> None:
        """Takes the directory, which exists."""
        self.directory = directory
        """Directory of the store."""
        self.damaged: list[Path] = []
        """Files that could not be read; their runs count as not finished."""
        self.problems: dict[Path, str] = {}
        """What is wrong with the records of sweeps among the damaged files, and the remedy."""
        self._unsound: set[Path] = set()
        """The damaged files whose content is not the one that was written."""
        self._index: RunIndex | None = None
        self._unwritten = 0
        """Number of runs that are in the index but not in the index file."""
        self._added: dict[str, tuple[RunFile, pa.Table]] = {}
        """The files that were read or written after the index was made, by name, each with its rows
        without texts."""
        self._places_of: dict[str, list[tuple[str, int]]] = {}
        """Names of these files, and rows in them, by run; the newest last."""
        self._seen_ns = -1
        """Time of change of the directory of rows when it was listed."""
        self._cache = TableCache()
        self._changing = threading.RLock()
        """Held while files join the index."""

    def check_writable(self) -> None:
        """Checks that runs can be added.

        Raises:
            NotWrittenError: They cannot, for example for lack of permission.
        """
        check_writable(self.directory / ROWS)

    def add(self, runs: Iterable[Run]) -> None:
        """Writes finished runs, into as few files as possible.

        After an exception, the runs that are not in the store do not count as finished.

        Args:
            runs: The runs with their rows and tables.

        Raises:
            NotWrittenError: A file cannot be written, for example on a full disk.
        """
        for group in run_files.alike(list(runs)):
            tables = {}
            for name, table in run_files.tables_together(group).items():
                (self.directory / name).mkdir(exist_ok=True)
                tables[name] = run_files.write(self.directory / name, table)
            # The rows come last: a run counts as finished when its row is in the store.
            rows = run_files.table_of([run.row for run in group])
            name = run_files.write(self.directory / ROWS, rows, tables)
            with self._changing:
                file = self._file(ROWS, name)
                self._take_in(name, signature(str(file)), rows, json.dumps(tables))
                share = SHARE_UNINDEXED * len(self._known.keys)
                self._write_index(max(WORTH_INDEXING, share))

    def find(self, key: str, *, keep: Collection[str] = ()) -> Row | None:
        """Returns the row of a finished run without its texts (scenario and summary).

        Args:
            key: Key of the run.
            keep: Names of tables; the run counts as finished only if the store has them too.

        Returns:
            The row; `None` if a file of the run is missing or damaged.
        """
        with self._changing:
            row = self._indexed(key)
            if row is None and self._has_changed():
                self._refresh()
                row = self._indexed(key)
        if row is None or any(self.table(key, name) is None for name in keep):
            return None
        return row

    def _indexed(self, key: str) -> Row | None:
        """Returns a row of the index, or of the files that are not yet in it, if its file is there.

        A file that has changed is read again.
        """
        if key in self._places_of:
            name, place = self._places_of[key][-1]
            file, rows = self._added[name]
            if self._is_there(name, file.size):
                return StoredRow(rows.slice(place, 1))
        elif key in self._known:
            files = self._known.files_of(key)[:1]
            if all(self._is_there(name, self._known.files[name].size) for name in files):
                return self._known.row(key)
        else:
            return None
        return self.columns().row(key) if key in self.columns() else None

    def _is_there(self, name: str, size: int) -> bool:
        found = signature(str(self._file(ROWS, name)))
        return found is not None and found[0] == size

    def _has_changed(self) -> bool:
        """Whether the directory of rows may have files that were not there when it was listed."""
        found = signature(str(self.directory / ROWS))
        return found is not None and found[1] != self._seen_ns

    def columns(self) -> RunIndex:
        """Returns the columns of all finished runs, without the texts (scenario and summary).

        Reads the files that the index lacks, and rewrites the index file if it lacks 100 runs or
        more. If the index file cannot be written, the answer is the same.
        """
        with self._changing:
            self._refresh()
            self._merge()
            self._write_index(WORTH_INDEXING)
            return self._known

    def _refresh(self) -> None:
        """Reads the files that the index lacks, and forgets those that are gone or have changed."""
        before = signature(str(self.directory / ROWS))
        files = self._files()
        known = {**self._known.files, **{name: file for name, (file, _) in self._added.items()}}
        gone = {
            name for name, file in known.items() if name not in files or files[name][0] != file.size
        }
        if gone:
            self._merge()
            self._index = self._known.updated(self._known.files.keys() - gone, {})
        unknown = files.keys() - (known.keys() - gone)
        for name in sorted(unknown, key=lambda one: (files[one][1], one)):
            if self._file(ROWS, name) in self._unsound:
                continue
            rows = self._read(ROWS, name)
            if rows is not None:
                self._take_in(name, files[name], rows, run_files.tables_text(rows))
        self._seen_ns = before[1] if before else -1

    def _files(self) -> dict[str, Signature]:
        """Signatures of the files of rows, by name.

        Raises:
            StoreError: The directory of the runs cannot be read.
        """
        place = self.directory / ROWS
        try:
            return run_files.listed(place)
        except OSError as error:
            raise StoreError(
                f"{place}: cannot be read: {error.strerror}; give a store that you may read"
            ) from None

    @property
    def _known(self) -> RunIndex:
        """The index that this object has in memory; first read from the index file."""
        if self._index is None:
            try:
                self._index = RunIndex.from_bytes(_content(self.directory / INDEX_FILE))
            except OSError:
                self._index = RunIndex()
        return self._index

    def _take_in(self, name: str, found: Signature | None, rows: pa.Table, tables: str) -> None:
        """Adds the rows of a file to those that the index will get."""
        if found is None:  # another process has removed the file
            return
        bare = without_texts(rows).replace_schema_metadata(None)
        self._added[name] = (RunFile(*found, tables), bare)
        for row, key in enumerate(bare[KEY].to_pylist()):
            self._places_of.setdefault(key, []).append((name, row))
        if len(self._added) >= MOST_ADDED:
            self._merge()

    def _merge(self) -> None:
        """Moves the rows of further files into the index."""
        if self._added:
            kept = self._known.files.keys() - self._added.keys()
            self._index = self._known.updated(kept, self._added)
            self._unwritten += len(self._places_of)
            self._added, self._places_of = {}, {}

    def _write_index(self, least: float) -> None:
        """Writes the index file if it lacks at least this number of runs."""
        if self._unwritten + len(self._places_of) < least:
            return
        self._merge()
        with suppress(NotWrittenError):
            write_whole(self.directory / INDEX_FILE, self._known.to_bytes())
        self._unwritten = 0

    def read(self, key: str, *, keep: Collection[str] = ()) -> pa.Table | None:
        """Reads the row of a finished run from its file, with its scenario and summary.

        Args:
            key: Key of the run.
            keep: Names of tables; the run counts as finished only if the store has them too.

        Returns:
            One row; `None` if a file of the run is missing or damaged.
        """
        row = self._row(key)
        if row is None or any(self.table(key, name) is None for name in keep):
            return None
        return row

    def _row(self, key: str, *, without_metrics: bool = False) -> pa.Table | None:
        for name in self._files_of(key):
            rows = self._read(ROWS, name, without_metrics=without_metrics)
            if rows is not None:
                place = rows[KEY].to_pylist().index(key)
                return rows.slice(place, 1).replace_schema_metadata(None)
        return None

    def _files_of(self, key: str) -> dict[str, RunFile]:
        """The files with the row of a run, by name, the newest first."""
        with self._changing:
            if key not in self._places_of and key not in self._known and self._has_changed():
                self._refresh()
            added = [name for name, _ in reversed(self._places_of.get(key, ()))]
            return {
                **{name: self._added[name][0] for name in added},
                **{name: self._known.files[name] for name in self._known.files_of(key)},
            }

    def texts(self, key: str) -> Row | None:
        """Returns the scenario (TOML) and summary (JSON) of a finished run, with its identity.

        Args:
            key: Key of the run.

        Returns:
            The row without metrics; `None` if the file of the run is missing or damaged.
        """
        row = self._row(key, without_metrics=True)
        return None if row is None else StoredRow(row)

    def table(self, key: str, name: str) -> pa.Table | None:
        """Reads a table of a run.

        Args:
            key: Key of the run.
            name: Name of the table, such as `link_series`.

        Returns:
            The table as in `Result`; `None` if the store does not have it.

        Raises:
            StoreError: The names are not those of a table and a run.
        """
        if not (KEY_OF_RUN.fullmatch(key) and KEY_OF_RUN.fullmatch(name)):
            raise StoreError(
                f"{self.directory}: has no run {key!a} with a table {name!a}; give the key of a run"
            )
        for file in self._files_of(key).values():
            kept = run_files.further_tables(file.tables).get(name)
            table = None if kept is None else self._read(name, kept)
            if table is not None:
                return run_files.part_of(table, key)
        return None

    def runs(self, keys: Iterable[str] | None = None) -> pa.Table:
        """Reads the rows of finished runs from their files, with scenarios and summaries.

        Args:
            keys: Keys of the runs; all runs of the store, sorted, if left out.

        Returns:
            One row per finished run; a metric that a run lacks is null.
        """
        index = self.columns()
        wanted = list(sorted(index.keys) if keys is None else index.present(keys))
        place_of: dict[str, int] = {}
        tables: list[pa.Table] = []
        start = 0
        for key in wanted:
            for name in index.files_of(key) if key not in place_of else ():
                rows = self._read(ROWS, name)
                if rows is None:
                    continue
                for place, other in enumerate(rows[KEY].to_pylist(), start):
                    if other == key or index.files_of(other)[:1] == [name]:
                        place_of.setdefault(other, place)
                tables.append(rows.replace_schema_metadata(None))
                start += rows.num_rows
                break
        if not tables:
            return pa.table({KEY: pa.array([], pa.string())})
        together = pa.concat_tables(tables, promote_options="default")
        return together.take(pa.array([place_of[key] for key in wanted if key in place_of]))

    def remove_damaged(self, needed: Collection[str] = ()) -> None:
        """Removes the damaged files, unless runs that are needed are in no other file.

        Args:
            needed: Keys of the runs that somebody will look for.
        """
        with self._changing:
            if not self._unsound:
                return
            damaged = {path.stem for path in self._unsound if path.parent.name == ROWS}
            self._merge()
            if all(set(self._known.files_of(key)) - damaged for key in needed):
                for path in self._unsound:
                    with suppress(OSError):
                        path.unlink(missing_ok=True)
                self._unsound.clear()

    def _file(self, part: str, name: str) -> Path:
        return self.directory / part / f"{name}{ENDING}"

    def _read(self, part: str, name: str, *, without_metrics: bool = False) -> pa.Table | None:
        """Reads a file; `None` if it is missing or damaged."""
        path = self._file(part, name)
        for known in ((path, False), (path, without_metrics)):
            table = self._cache.get(known)
            if table is not None:
                return table
        try:
            content = _content(path)
        except FileNotFoundError:
            return None
        except OSError:
            self.note_damage(path)
            return None
        if part == ROWS:
            table = run_files.rows_in(content, name, without_metrics=without_metrics)
        else:
            table = run_files.series_in(content, name)
        if table is None:
            self.note_damage(path)
            self._unsound.add(path)
            return None
        self._cache.add((path, without_metrics), table)
        return table

    def note_damage(self, path: Path, problem: str = "") -> None:
        """Adds a file to the damaged ones.

        Args:
            path: The file.
            problem: What is wrong with it, and the remedy.
        """
        if path not in self.damaged:
            self.damaged.append(path)
        if problem:
            self.problems[path] = problem


def _content(path: Path) -> bytes:
    """The content of a file of the store.

    Raises:
        OSError: The file cannot be read, is too large, or is no file: a device has no end.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_FILE_BYTES:
        raise OSError(errno.EFBIG, "is no file, or is too large", str(path))
    return read_bytes(path, MOST_FILE_BYTES)
