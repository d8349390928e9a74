"""Creates a directory of results with all of its files, or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from tailroom.errors import OutputDirectoryError


@contextmanager
def output_directory(path: str | PathLike[str]) -> Iterator[Path]:
    """Yields a staging directory, and renames it to `path` if the block raises no exception.

    The staging directory is created beside `path` (or in the nearest ancestor that exists) before
    the block begins, so that a missing permission is reported before any work is done. It is
    removed if the block raises an exception.

    Args:
        path: The new directory; missing, or an empty directory.

    Raises:
        OutputDirectoryError: `path` has content already, or cannot be written.
    """
    target = Path(path).absolute()
    _check_free(target)
    ancestor = next(parent for parent in target.parents if parent.exists())
    staging = ancestor / f".{target.name}.{os.getpid()}.partial"
    try:
        staging.mkdir()
    except OSError as error:
        raise OutputDirectoryError(
            f"{target}: cannot be written: {error.strerror}; "
            "choose an output directory that you may write"
        ) from None
    try:
        yield staging
        _check_free(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        staging.replace(target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _check_free(target: Path) -> None:
    """Checks that the target is missing or an empty directory.

    Raises:
        OutputDirectoryError: The target is a file, has content, or cannot be read.
    """
    try:
        occupied = any(target.iterdir())
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise OutputDirectoryError(
            f"{target}: is a file; choose another output directory"
        ) from None
    except OSError as error:
        raise OutputDirectoryError(
            f"{target}: cannot read it: {error.strerror}; choose another output directory"
        ) from None
    if occupied:
        raise OutputDirectoryError(
            f"{target}: holds files already; choose another output directory or remove this one"
        )
