"""Processes of this machine that perform runs: they end with their parent, and at once if asked."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Collection
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import suppress
from multiprocessing import connection
from typing import Any

GRACE_S = 0.2
"""Time for cancelled runs to end by themselves, before their processes are killed. A congestion
control in Python may never return."""
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def worker_processes(count: int) -> ProcessPoolExecutor:
    """Returns a pool of processes that end when this process ends, however it ends.

    Args:
        count: Number of processes.
    """
    return ProcessPoolExecutor(count, initializer=_end_with_parent, initargs=(os.getpid(),))


def end_now(pool: ProcessPoolExecutor, running: Collection[Future[Any]]) -> None:
    """Ends the processes of a pool whose runs do not end by themselves.

    Args:
        pool: The pool, which performs no more runs.
        running: The runs that it performs.
    """
    # Before the wait: a pool without processes forgets them.
    processes = list((pool._processes or {}).values())
    if wait(running, timeout=GRACE_S).not_done:
        for process in processes:
            with suppress(ValueError):  # the process has been closed
                process.kill()


def _end_with_parent(parent: int) -> None:
    """Makes the process end when its parent has ended; runs at the start of the process."""
    # Ctrl-C reaches every process of the terminal. The parent ends the runs, and its message is the
    # only one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The system does it even if a control holds the interpreter's lock. It looks at the thread
    # that made the process, and a fork server is another process.
    if sys.platform == "linux" and os.getppid() == parent:
        _die_with_parent()
    if os.getppid() != parent and multiprocessing.get_start_method() == "fork":
        os._exit(1)  # the parent ended meanwhile
    threading.Thread(target=_watch_parent, daemon=True).start()


def _die_with_parent() -> None:
    import ctypes  # noqa: PLC0415 - only processes of the pool need it

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
