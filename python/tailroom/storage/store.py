"""The store of results: a directory with the runs of studies.

    STORE/tailroom-store.json       marks the directory as a store; version of the format
    STORE/runs/DIGEST.parquet       a row per run: scenario, seed, engine, every metric, the summary
    STORE/TABLE/DIGEST.parquet      a table of the same runs, such as `link_series`, if a study
                                    keeps it; the metadata of the rows name it
    STORE/sweeps/ID.json            the points of a sweep, and the runs of each point
    STORE/index.arrow               copies of the rows (see `run_index`)
    STORE/.lock                     keeps two processes apart that write the same record

The key of a run is a hash of everything that the run depends on. Every study therefore finds a
finished run again, and two studies may use one store at the same time. Runs that finish at about
the same time share a file. A file is written under a temporary name and then renamed, so no file is
incomplete, and its name is the digest of its content, so no damaged file is read (see `run_files`).
Names that come from a file of the store are checked before they become part of a path.
"""

import errno
import json
import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from os import PathLike
from pathlib import Path

from tailroom.errors import NotWrittenError, StoreError
from tailroom.given_files import read_bytes
from tailroom.scenario.json_text import read_json
from tailroom.staging import is_leftover
from tailroom.storage.file_lock import locked
from tailroom.storage.run_directory import ROWS, RunDirectory
from tailroom.storage.sweep_record import MOST_RECORD_BYTES, SweepRecord
from tailroom.storage.whole_file import PARTIAL, write_whole

FORMAT = 2
MARKER = "tailroom-store.json"
LOCK = ".lock"
MOST_MARKER_BYTES = 1_000_000
"""Length of the marker."""
ABANDONED_AFTER_S = 3600.0
"""Age after which an unfinished file of another machine counts as left by a killed process."""


class Store(RunDirectory):
    """A directory that keeps the runs of studies.

    Several processes may use a store at the same time, and several threads may add and read runs
    of one object. A file is either complete or absent.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        """Opens an existing store.

        Args:
            directory: Directory of the store.

        Raises:
            StoreError: The directory is not a store, or a newer version of tailroom wrote it.
        """
        super().__init__(Path(directory).absolute())
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
            for part in (ROWS, "sweeps"):
                (path / part).mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{path}: cannot be written: {error.strerror}; choose another directory"
            ) from None
        store._clean_up()
        return store

    def record(self, sweep: SweepRecord) -> None:
        """Writes the record of a sweep; replaces an earlier record of the same sweep.

        If the earlier record has the same runs and more of them, because the sweep had more seeds,
        the further runs stay in the record. A record that says all this already is not written, so
        that nothing is written into a complete store.

        Args:
            sweep: The points of the sweep, and the runs of each point.

        Raises:
            NotWrittenError: The record cannot be written.
            StoreError: The id of the sweep is not the name of a file.
        """
        _check_name(sweep.id)
        path = self.directory / "sweeps" / f"{sweep.id}.json"
        with suppress(OSError, ValueError):
            content = read_bytes(path, MOST_RECORD_BYTES)
            earlier = SweepRecord.from_bytes(content, path.stem)
            if sweep.extended_by(earlier).to_bytes() == content:
                return
        try:
            with locked(self.directory / LOCK):
                with suppress(OSError, ValueError):
                    sweep = sweep.extended_by(_record(path))
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
                records.append(_record(path))
            except OSError as error:
                remedy = "remove it" if error.errno == errno.EFBIG else "give yourself access"
                self.note_damage(path, f"cannot be read: {error.strerror}; {remedy}")
            except ValueError as error:
                self.note_damage(path, f"{error}; remove it, and give the sweep's command again")
        return records

    def remove_repeated(self) -> None:
        """Removes the damaged files once every run of the store's sweeps is in another file."""
        if self.damaged:
            points = [point for record in self.sweeps() for point in record.points]
            parts = ("runs", "shifted_runs")
            self.remove_damaged(
                {key for point in points for part in parts for key in point.get(part, ())}
            )

    def _clean_up(self) -> None:
        """Removes temporary files that killed processes left."""
        for path in self.directory.rglob(f".*{PARTIAL}"):
            try:
                is_old = time.time() - path.stat().st_mtime > ABANDONED_AFTER_S
                if is_old or is_leftover(path.name):
                    path.unlink(missing_ok=True)
            except OSError:
                continue  # another process removed the file, or owns it; the file does no harm


def _record(path: Path) -> SweepRecord:
    return SweepRecord.from_bytes(read_bytes(path, MOST_RECORD_BYTES), path.stem)


def _check_name(name: str) -> None:
    """Checks that a name is the name of a file, and not a path.

    Raises:
        StoreError: It is a path, or has characters that no file name has.
    """
    if not name or Path(name).name != name or "\\" in name or not name.isprintable():
        raise StoreError(f"{name!a} cannot be the id of a sweep; give the name of a file")


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
        content = read_json(read_bytes(marker, MOST_MARKER_BYTES).decode())
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
    if version != FORMAT:
        remedy = (
            "install a newer version"
            if version > FORMAT
            else "give another directory, in which the runs are performed again"
        )
        raise StoreError(
            f"{directory}: has format {version}, and this version of tailroom reads format "
            f"{FORMAT}; {remedy}"
        )
