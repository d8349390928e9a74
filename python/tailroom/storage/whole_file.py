"""Writes a file whole or not at all."""

import itertools
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tailroom.errors import NotWrittenError
from tailroom.staging import mark, publish

if TYPE_CHECKING:
    import pyarrow as pa

PARTIAL = ".partial"
"""End of the name of a file that is being written."""

_counter = itertools.count()


def write_whole(path: Path, content: "bytes | pa.Buffer") -> None:
    """Writes a temporary file in the same directory, and renames it when it is complete.

    Args:
        path: The file; an earlier one is replaced.
        content: Its content.

    Raises:
        NotWrittenError: The file cannot be written.
    """
    partial = _partial(path)
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


def check_writable(directory: Path) -> None:
    """Creates a file in a directory, and removes it.

    Args:
        directory: The directory.

    Raises:
        NotWrittenError: The directory takes no file; the error names the directory.
    """
    probe = _partial(directory / "probe")
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise NotWrittenError(error.errno, error.strerror, str(directory)) from None


def _partial(path: Path) -> Path:
    """The name under which a file is written."""
    # Threads, and machines that share the store, may have the same process id.
    unique = f"{mark()}-{next(_counter)}-{time.time_ns()}"
    return path.with_name(f".{path.name}.{unique}{PARTIAL}")
