"""A lock that keeps processes apart which change the same files."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _acquire(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)

    def _release(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _release(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a file during the block; waits while another process or thread holds it.

    The system releases the lock when a process ends, however it ends. Some network file systems
    have no locks; the block then runs without.

    Args:
        path: The file, which is created and stays empty.

    Raises:
        OSError: The file cannot be created.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with suppress(OSError):
            _acquire(file)
        try:
            yield
        finally:
            with suppress(OSError):
                _release(file)
    finally:
        os.close(file)
