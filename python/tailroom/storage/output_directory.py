"""A directory of results appears whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from tailroom.errors import OutputDirectoryError


@contextmanager
def output_directory(path: str | PathLike[str]) -> Iterator[Path]:
    """Gives a staging directory that becomes `path` when the block ends without an exception.

    The staging directory stands beside `path` (or in its nearest ancestor that exists), so that
    a target that cannot be written is found before any work, and the last step is one renaming.

    Raises:
        OutputDirectoryError: `path` holds something already, or cannot be written.
    """
    target = Path(path).absolute()
    _check_free(target)
    ancestor = next(parent for parent in target.parents if parent.exists())
    staging = ancestor / f".{target.name}.{os.getpid()}.partial"
    try:
        staging.mkdir()
    except OSError as error:
        raise OutputDirectoryError(
            f"{target}: cannot write there: {error.strerror}; "
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
    """An empty directory may be replaced; anything else may not."""
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
