"""Performers of runs: pools on this machine, the caller's executor, or a Dask cluster."""

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
from tailroom.execution.task import Flag, Task, run_task
from tailroom.execution.worker_process import end_now, worker_processes
from tailroom.storage.run import Run

if TYPE_CHECKING:
    from distributed import Client

ExecutorLike: TypeAlias = "str | Client | Executor"
"""The address of a Dask scheduler, a connection to one, or any `concurrent.futures.Executor`."""

MOST_SUBMITTED = 1000
"""Maximum number of runs that are submitted to the caller's executor and have not ended. `wait`
checks each of them whenever a run ends."""
CANCEL_TIMEOUT_S = 5.0
"""Time within which the runs on the caller's executor must notice that they are cancelled."""


class Performer(Protocol):
    """Performs runs, several at a time."""

    @property
    def at_a_time(self) -> int:
        """Maximum number of runs that are submitted and have not ended."""

    def submit(self, task: Task) -> Future[Run]:
        """Starts a run, or queues it."""

    def cancel(self, running: Collection[Future[Run]]) -> None:
        """Stops these runs."""


class _SettableFlag(Flag, Protocol):
    def set(self) -> None: ...


class _CancelFile:
    """A file whose existence tells the processes of this machine that their runs are cancelled.

    Unlike an event of `multiprocessing`, a path can be sent with a task to a process that has
    already started. The file does not exist on other machines, so runs there are not interrupted.
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
    """Yields a file that does not exist yet, and removes it at the end."""
    path = Path(tempfile.gettempdir()) / f"tailroom-cancelled-{uuid.uuid4().hex}"
    try:
        yield _CancelFile(path)
    finally:
        path.unlink(missing_ok=True)


class _Pool:
    """An executor with the interface of the standard library."""

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
            raise ClusterError(
                f"the executor accepts no runs: {error}; give an executor that is open"
            ) from error

    def cancel(self, running: Collection[Future[Run]]) -> None:
        self._cancelled.set()
        for future in running:
            future.cancel()
        if self._cancel_timeout_s:
            wait(running, timeout=self._cancel_timeout_s)


class _Processes(_Pool):
    """Processes of this machine, which are killed if their runs do not end."""

    def __init__(
        self, processes: ProcessPoolExecutor, cancelled: _SettableFlag, at_a_time: int
    ) -> None:
        super().__init__(processes, cancelled, at_a_time)
        self._processes = processes

    def cancel(self, running: Collection[Future[Run]]) -> None:
        super().cancel(running)
        end_now(self._processes, running)


class _Limited:
    """A performer with a smaller number of runs at a time."""

    def __init__(self, performer: Performer, at_a_time: int) -> None:
        self.at_a_time = at_a_time
        self.submit = performer.submit
        self.cancel = performer.cancel


@contextmanager
def performer(
    executor: "ExecutorLike | None", *, workers: int | None, in_processes: bool
) -> Iterator[Performer]:
    """Starts a pool, or connects to a cluster or executor; closes a pool that it has started.

    Args:
        executor: Where runs are performed; the cores of this machine if `None`.
        workers: Maximum number of runs at a time; if left out, the number of cores, four runs per
            thread of a Dask cluster, or `MOST_SUBMITTED` runs on an executor.
        in_processes: Whether the runs on this machine need processes. A control written in Python
            holds the interpreter's lock, so its runs cannot run in parallel threads.

    Raises:
        ClusterError: The Dask cluster does not answer, or cannot perform the runs.
    """
    if executor is not None and not isinstance(executor, Executor):
        from tailroom.execution.dask_cluster import connected  # noqa: PLC0415 - it loads asyncio

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
            with worker_processes(count) as processes:
                yield _Processes(processes, file, count)
        else:
            at_a_time = workers or MOST_SUBMITTED
            yield _Pool(executor, file, at_a_time, cancel_timeout_s=CANCEL_TIMEOUT_S)
