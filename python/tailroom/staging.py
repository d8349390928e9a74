"""Temporary places next to what is written: their names, and those that dead processes left.

A process that is killed leaves its temporary place. The next one that writes into the directory
removes it, if the process was one of this machine and of this process namespace: machines and
containers that share a directory may have equal process ids.
"""

import os
import platform
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def _host() -> str:
    """Returns the name of this machine, and on Linux that of the namespace of its processes."""
    name = re.sub(r"[^0-9A-Za-z]+", "-", platform.node())[:32]
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return name
    return f"{name}-{re.sub(r'[^0-9]+', '', namespace)}"


_HOST = _host()
_MARK = re.compile(rf"\..+\.{re.escape(_HOST)}-(\d+)(?:-\d+)*\.partial(?:\.\w+)?")
"""A temporary name of a process of this machine."""
OLD_S = 24 * 3600
"""Earlier versions did not write the name of the machine. Such a place is left by a dead process if
nothing has changed there for so long."""
_in_use: set[Path] = set()
"""Temporary places of this process."""


def staging_place(target: Path, directory: Path, suffix: str = "") -> Path:
    """Returns a temporary place for a target, and removes those that dead processes left.

    Args:
        target: What will be written.
        directory: Directory of the temporary place.
        suffix: End of its name, from which a writer of pictures chooses the format.
    """
    _remove_leftovers(directory, target)
    place = directory / f".{target.name}.{mark()}.partial{suffix}"
    _in_use.add(place)
    return place


def publish(place: Path, target: Path) -> None:
    """Renames a temporary place to its target.

    Some network file systems rename to nothing that exists. There the target is removed first, so
    that a process that is killed in between leaves none.

    Args:
        place: The temporary place.
        target: A file that is replaced, an empty directory, or nothing yet.

    Raises:
        OSError: The target cannot be written.
    """
    try:
        place.replace(target)
    except FileExistsError:
        if target.is_dir():
            target.rmdir()
        else:
            target.unlink()
        place.replace(target)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Opens a new file, which is removed if the block raises.

    Args:
        path: The file.

    Raises:
        OSError: The file exists or cannot be written.
    """
    file = path.open("xb")
    try:
        with file:
            yield file
    except BaseException:
        remove(path)
        raise


def mark() -> str:
    """Returns the part of a temporary name that names this process."""
    return f"{_HOST}-{os.getpid()}"


def is_leftover(name: str) -> bool:
    """Whether a file name is the temporary one of a process of this machine that has ended.

    Args:
        name: The name, without a directory.
    """
    match = _MARK.fullmatch(name)
    return match is not None and not _is_alive(int(match[1]))


def remove(place: Path) -> None:
    """Removes a temporary place, a directory or a file, if it is there.

    Args:
        place: The place.
    """
    _in_use.discard(place)
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):
            place.unlink(missing_ok=True)


def removed_at_termination() -> None:
    """From now on SIGTERM removes the temporary places of this process, and then ends it.

    Nothing changes if the process has a way of its own to handle SIGTERM.
    """
    with suppress(ValueError):  # not in the main thread
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _end)


def _end(number: int, _frame: object) -> None:
    for place in list(_in_use):
        if f"-{os.getpid()}.partial" in place.name:  # and not in a process that was forked
            remove(place)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _remove_leftovers(directory: Path, target: Path) -> None:
    """Removes the temporary places of processes of this machine that have ended."""
    former = re.compile(rf"\.{re.escape(target.name)}\.(\d+)\.partial(?:\.\w+)?")
    for path in directory.iterdir() if os.access(directory, os.R_OK) else ():
        match = former.fullmatch(path.name)
        is_of_former = match and not _is_alive(int(match[1])) and _is_old(path)
        if is_leftover(path.name) or is_of_former:
            remove(path)


def _is_old(path: Path) -> bool:
    return time.time() - path.lstat().st_mtime > OLD_S


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":  # where the call below would end the process
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
