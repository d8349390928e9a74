"""Where runs are performed: pools of this machine, the caller's executor, or a Dask cluster."""

import os
import tempfile
import threading
import uuid
from collections.abc import Collection, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from tailroom.errors import ClusterError
from tailroom.execution.dask_cluster import connected
from tailroom.execution.task import Flag, Task, run_task
from tailroom.storage.store import Run

if TYPE_CHECKING:
    from distributed import Client

ExecutorLike: TypeAlias = "str | Client | Executor"
"""The address of a Dask scheduler, a connection to one, or any `concurrent.futures.Executor`."""

MOST_SUBMITTED = 1000
"""Maximum number of runs that an executor of the caller holds at once. `wait` looks at each of
them whenever a run ends."""
CANCEL_TIMEOUT_S = 5.0
"""Time for the runs on an executor of the caller to notice that they are cancelled."""


class Performer(Protocol):
    """Performs runs, several at a time."""

    @property
    def at_a_time(self) -> int:
        """Maximum number of runs that may be submitted and not yet ended."""

    def submit(self, task: Task) -> Future[Run]:
        """Starts a run, or queues it."""

    def cancel(self, running: Collection[Future[Run]]) -> None:
        """Stops these runs."""


class _SettableFlag(Flag, Protocol):
    def set(self) -> None: ...


class _CancelFile:
    """Tells the processes of this machine that their runs are cancelled: the file exists.

    Unlike the events of `multiprocessing`, a path can travel with a task to a process that runs
    already. On another machine the file never exists, and a run there goes on to its end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def is_set(self) -> bool:
        return self._path.exists()

    def set(self) -> None:
        with suppress(OSError):
            self._path.touch()


@contextmanager
def _cancel_file() -> Iterator[_CancelFile]:
    """A file that does not exist yet, and is removed in the end."""
    path = Path(tempfile.gettempdir()) / f"tailroom-cancelled-{uuid.uuid4().hex}"
    try:
        yield _CancelFile(path)
    finally:
        path.unlink(missing_ok=True)


class _Pool:
    """An executor of the standard library, or one like it."""

    def __init__(
        self,
        executor: Executor,
        cancelled: _SettableFlag,
        at_a_time: int,
        *,
        cancel_timeout_s: float = 0.0,
    ) -> None:
        self._executor = executor
        self._cancelled = cancelled
        self._at_a_time = at_a_time
        self._cancel_timeout_s = cancel_timeout_s

    @property
    def at_a_time(self) -> int:
        return self._at_a_time

    def submit(self, task: Task) -> Future[Run]:
        try:
            return self._executor.submit(run_task, task, self._cancelled)
        except BrokenExecutor:
            raise
        except RuntimeError as error:
            raise ClusterError(f"the executor takes no runs: {error}; give an open one") from error

    def cancel(self, running: Collection[Future[Run]]) -> None:
        self._cancelled.set()
        for future in running:
            future.cancel()
        if self._cancel_timeout_s:
            wait(running, timeout=self._cancel_timeout_s)


class _Limited:
    """A performer that holds fewer runs at once."""

    def __init__(self, performer: Performer, at_a_time: int) -> None:
        self.at_a_time = at_a_time
        self.submit = performer.submit
        self.cancel = performer.cancel


@contextmanager
def performer(
    executor: "ExecutorLike | None", *, workers: int | None, in_processes: bool
) -> Iterator[Performer]:
    """Starts, or connects to, what performs runs; closes what it has started.

    Args:
        executor: Where runs are performed; the cores of this machine if `None`.
        workers: Maximum number of runs at a time. If left out, as many as there are cores, as many
            as keep a Dask cluster busy, or up to `MOST_SUBMITTED` on an executor.
        in_processes: Whether the runs on this machine need processes. Each call of a control
            written in Python needs the interpreter, which one thread has at a time.

    Raises:
        ClusterError: The Dask cluster does not answer, or cannot perform the runs.
    """
    if executor is not None and not isinstance(executor, Executor):
        with connected(executor) as cluster:
            yield _Limited(cluster, workers) if workers else cluster
        return
    count = workers or os.cpu_count() or 1
    if executor is None and not in_processes:
        with ThreadPoolExecutor(count) as threads:
            yield _Pool(threads, threading.Event(), count)
        return
    with _cancel_file() as file:
        if executor is None:
            with ProcessPoolExecutor(count) as processes:
                yield _Pool(processes, file, count)
        else:
            most = workers or MOST_SUBMITTED
            yield _Pool(executor, file, most, cancel_timeout_s=CANCEL_TIMEOUT_S)
