"""Atomic output: the location is checked first, and the result appears complete or not at all.

A command opens its output before the work begins and writes it at the end. A location that is
taken, full or not writable is refused before the work. If writing fails at the end, the results are
written next to the location, and the error names the place.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tailroom.errors import OutputDirectoryError, OutputError, TailroomError
from tailroom.staging import publish, remove, staging_place

PROBE_BYTES = 1 << 16
"""Room that must be free before the work begins."""

Fill = Callable[[Path], object]
"""Writes results into an empty directory, or to a path that does not exist yet."""


class StoppedDrawing(KeyboardInterrupt):
    """Ctrl-C while pictures were drawn; the files before them are complete."""


class Output:
    """A new directory or file that will be written when the work is done."""

    def __init__(self, target: Path, shown: str, *, is_file: bool) -> None:
        """Creates the temporary directory or file next to the target.

        Args:
            target: Absolute path without symbolic links.
            shown: The path in messages, as the user gave it.
            is_file: Whether a file is written.

        Raises:
            OutputDirectoryError: The place cannot be written, or is full.
        """
        self.target = target
        self._shown = shown
        self._is_file = is_file
        # A writer of pictures chooses the format by the suffix.
        suffix = target.suffix if is_file else ""
        with _refused(shown), ExitStack() as stack:
            self._ancestor = next(parent for parent in target.parents if parent.exists())
            self._staging = staging_place(target, self._ancestor, suffix)
            stack.callback(self.discard)
            self._probe()
            stack.pop_all()

    def _probe(self) -> None:
        """Creates the temporary directory, or shows that the temporary file can be written."""
        probe = self._staging
        if not self._is_file:
            self._staging.mkdir()
            probe = self._staging / "probe"
        with probe.open("xb") as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
        probe.unlink()
        if self.target.is_dir():
            # Shows that the empty directory can be replaced: it may be a mount point, for example.
            self._staging.rmdir()
            self.target.rename(self._staging)
            self._staging.rename(self.target)
            self._staging.mkdir()

    def write(self, fill: Fill, *, rescue: bool = True) -> None:
        """Writes the results to the temporary place, and renames that place to the target.

        Args:
            fill: Writes the results; called again with another place if that fails.
            rescue: Whether results are written to another place if they cannot be written here.

        Raises:
            OutputError: The results could not be written; the message names where they are.
            StoppedDrawing: As `fill`; what it has written is in its place.
        """
        try:
            fill(self._staging)
            self._publish()
        except StoppedDrawing:
            self._publish()
            raise
        except Exception as error:
            if not rescue:
                raise
            reason = getattr(error, "strerror", None) or _in_words(error)
            where = self._rescued(fill, partly=not isinstance(error, OSError))
            raise OutputError(f"{self._shown}: cannot be written: {reason}; {where}") from error

    def _publish(self) -> None:
        if not self._is_file:
            _check_free(self.target, self._shown)
        self.target.parent.mkdir(parents=True, exist_ok=True)
        publish(self._staging, self.target)

    def _rescued(self, fill: Fill, *, partly: bool) -> str:
        """Writes the results next to the target, else into a temporary directory.

        Args:
            fill: Writes the results.
            partly: Whether the files before a failure are kept, because the failure is not one of
                writing: for example, a picture could not be drawn.

        Returns:
            The end of the message: where the results are.
        """
        self.discard()
        for parent in (self._ancestor, Path(tempfile.gettempdir())):
            try:
                place = Path(tempfile.mkdtemp(prefix=f"{self.target.stem}-kept-", dir=parent))
            except OSError:
                continue
            into = place / self.target.name if self._is_file else place
            try:
                fill(into)
                return f"the results are in {into}"
            except BaseException as error:
                is_kept = partly and not isinstance(error, OSError) and any(place.iterdir())
                if is_kept and isinstance(error, Exception):
                    return f"the files before it are in {place}"
                shutil.rmtree(place, ignore_errors=True)
                if not isinstance(error, Exception):
                    raise
        return "nothing was kept"

    def discard(self) -> None:
        """Removes the temporary directory or file."""
        remove(self._staging)


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, TailroomError) else f"{type(error).__name__}: {error}"


@contextmanager
def _refused(shown: str) -> Iterator[None]:
    """Reports that the output cannot be written, before the work begins.

    Raises:
        OutputDirectoryError: The block raised an `OSError`.
    """
    try:
        yield
    except OSError as error:
        raise OutputDirectoryError(
            f"{shown}: cannot be written: {error.strerror}; choose another output that you may "
            "write"
        ) from None


@contextmanager
def output_directory(path: str | os.PathLike[str]) -> Iterator[Output]:
    """Opens a new directory of results; what the block leaves unwritten is removed.

    Args:
        path: The new directory; missing, or an empty directory. A symbolic link is followed.

    Raises:
        OutputDirectoryError: `path` has content already, or cannot be written.
    """
    shown = str(Path(path).absolute())
    target = _followed(Path(path), shown)
    _check_free(target, shown)
    if target.is_dir() and os.path.ismount(target):
        raise OutputDirectoryError(
            f"{shown}: is a mount point; choose a new directory in it, such as {target / 'results'}"
        )
    yield from _opened(Output(target, shown, is_file=False))


@contextmanager
def output_file(path: str | os.PathLike[str]) -> Iterator[Output]:
    """Opens a file of results, which may exist; what the block leaves unwritten is removed.

    Args:
        path: The file. A symbolic link is followed.

    Raises:
        OutputDirectoryError: `path` is a directory, a pipe or a device, is in no directory, or
            cannot be written.
    """
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        raise OutputDirectoryError(
            f"{path}: is a pipe or a device, and a file is renamed when it is complete; give the "
            "name of a file"
        )
    target = _followed(Path(path), str(path))
    if target.is_dir():
        raise OutputDirectoryError(f"{path}: is a directory; give the name of a file")
    if not target.parent.is_dir():
        raise OutputDirectoryError(
            f"{path}: {target.parent} is not a directory; create it first, or choose another "
            "directory"
        )
    yield from _opened(Output(target, str(path), is_file=True))


def _opened(output: Output) -> Iterator[Output]:
    try:
        yield output
    finally:
        output.discard()


def _followed(path: Path, shown: str) -> Path:
    """Returns the absolute path without symbolic links.

    Raises:
        OutputDirectoryError: The links form a circle, or lead where nobody may look.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        raise OutputDirectoryError(
            f"{shown}: cannot be found: the path is malformed, or its symbolic links form a "
            "circle; choose another output"
        ) from None


def _check_free(target: Path, shown: str) -> None:
    """Checks that the target is missing or an empty directory.

    Raises:
        OutputDirectoryError: The target is a file, has content, or cannot be read.
    """
    try:
        occupied = any(target.iterdir())
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise OutputDirectoryError(f"{shown}: is a file; choose another output directory") from None
    except OSError as error:
        raise OutputDirectoryError(
            f"{shown}: cannot read it: {error.strerror}; choose another output directory"
        ) from None
    if occupied:
        raise OutputDirectoryError(
            f"{shown}: holds files already; choose another output directory or remove this one"
        )
