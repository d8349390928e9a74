"""Performs runs on the workers of a Dask cluster."""

import asyncio
import dataclasses
import gc
import logging
import pickle
import sys
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tailroom import _engine
from tailroom.errors import ClusterError, RunError, ScenarioError
from tailroom.execution.task import Task, run_task
from tailroom.scenario.custom_controls import modules_next_to
from tailroom.scenario.scenario import Scenario
from tailroom.storage.run import Run

if TYPE_CHECKING:
    from distributed import Client

CONNECT_TIMEOUT_S = 10.0
"""Time for the scheduler to answer, and for the first worker to join."""
FEWEST_AT_A_TIME = 64
"""Minimum number of submitted runs, because an adaptive cluster grows with its queue."""
REFRESH_S = 5.0
"""Time after which the number of threads of the cluster is read again."""
SAME_TAILROOM = "install the same tailroom on every machine"
SAME_FILES = "put the files that a scenario names at the same path on every machine"


@contextmanager
def connected(cluster: "str | Client") -> "Iterator[Cluster]":
    """Yields a cluster: connects to the scheduler at an address, or uses the given client.

    A connection to an address is closed at the end; a given client stays open.

    Args:
        cluster: Address of a Dask scheduler (`"tcp://HOST:PORT"`), or a client.

    Raises:
        ClusterError: Dask is not installed, the scheduler does not answer, or a worker cannot
            perform runs.
    """
    try:
        import distributed  # noqa: PLC0415 - optional, and its import takes half a second
    except ImportError as error:
        raise ClusterError(
            f'a cluster needs Dask ({error}); install it: pip install "tailroom[cluster]"'
        ) from None
    if isinstance(cluster, distributed.Client):
        yield Cluster(cluster)
        return
    # A client that could not connect closes itself when it is garbage-collected. If that happens
    # while another client starts, the two clients wait for each other's locks forever.
    gc.collect()
    try:
        client = distributed.Client(cluster, timeout=CONNECT_TIMEOUT_S, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise ClusterError(
            f"cluster {cluster}: no scheduler answers at this address: {_first_line(error)}; "
            "give the address as `dask scheduler` prints it, e.g. tcp://192.0.2.1:8786"
        ) from None
    # A `ClusterError` reports a lost connection in one line.
    names = ("distributed.client", "distributed.batched", "asyncio")
    logs = [logging.getLogger(name) for name in names]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        with client:
            yield Cluster(client)
    finally:
        # asyncio logs the exceptions of tasks that nobody waits for when they are collected.
        gc.collect()
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


class Cluster:
    """The workers of a Dask cluster, all of which have the same engine as this machine."""

    def __init__(self, client: "Client") -> None:
        """Checks the workers.

        Raises:
            ClusterError: The client is not connected or is asynchronous, there are no workers, or
                the engine of a worker differs from the engine of this machine.
        """
        self._client = client
        self._name = client.scheduler.address if client.scheduler else "cluster"
        self._threads: int | None = None
        """Threads of the workers; not asked for yet if `None`."""
        self._asked_at = -REFRESH_S
        if client.asynchronous or client.status != "running":
            raise ClusterError(
                f"{self._name}: give a client that is connected and not asynchronous"
            )
        with self._lost_if_silent():
            self._check_workers()

    def _check_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_TIMEOUT_S)
        except TimeoutError:
            raise ClusterError(
                f"{self._name}: has no workers; start one: dask worker {self._name}"
            ) from None
        answers = self._client.run(_worker_build(), on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # the connection to this worker has just been lost
            build, problem = ("", str(answer)) if isinstance(answer, Exception) else answer
            if problem:
                raise ClusterError(
                    f"worker {worker} cannot run tailroom: {problem}; {SAME_TAILROOM}"
                )
            _check_build(worker, build, _engine.build())

    @contextmanager
    def _lost_if_silent(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._lost() from error

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"{self._name}: the connection to the scheduler was lost; finished runs are kept: "
            "start the scheduler again, and give the same command again"
        )

    @property
    def at_a_time(self) -> int:
        """Maximum number of submitted runs: four per thread, so that no thread waits for work."""
        if time.monotonic() - self._asked_at >= REFRESH_S:
            with self._lost_if_silent():
                threads = sum(self._client.nthreads().values())
            if not threads and self._threads != threads:
                print(
                    f"{self._name}: has no workers any more; waiting for one: "
                    f"dask worker {self._name}",
                    file=sys.stderr,
                )
            self._threads = threads
            self._asked_at = time.monotonic()
        return max(4 * (self._threads or 0), FEWEST_AT_A_TIME)

    def submit(self, task: Task) -> Future[Run]:
        """Submits a run to the cluster.

        Args:
            task: The run.

        Raises:
            ClusterError: A control written in Python cannot be sent.
        """
        loop: Any = self._client.loop
        return asyncio.run_coroutine_threadsafe(
            self._outcome(task, _packed(task)), loop.asyncio_loop
        )

    def cancel(self, running: Collection[Future[Run]]) -> None:
        """Cancels these runs; the workers stop them within a second."""
        for future in running:
            future.cancel()

    async def _outcome(self, task: Task, packed: bytes) -> Run:
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415 - optional
        from distributed.client import AllExit  # noqa: PLC0415
        from distributed.comm.core import CommClosedError  # noqa: PLC0415

        # Not "pure": two clients may submit the same run, and one client may cancel it.
        future = self._client.submit(_remote_run(), task.engine_build, packed, pure=False)
        try:
            run: Run = await future
        except KilledWorker as error:
            raise RunError(
                f"{error.allowed_failures + 1} workers ended while they performed it, the last at "
                f"{error.last_worker.address}; see their logs, perhaps memory was short"
            ) from error
        except (CancelledError, CommClosedError, AllExit):
            raise self._lost() from None
        except ImportError as error:  # on a worker that joined later
            raise ClusterError(f"{self._name}: a worker fails: {error}; {SAME_TAILROOM}") from error
        finally:
            future.release()
        return run


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0]


# A nested function is pickled with its code, so the scheduler can load it without tailroom.


def _remote_run() -> Callable[[str, bytes], Run]:
    """Returns the function that performs a run on a worker."""

    def tailroom_run(build: str, packed: bytes) -> Run:
        from tailroom.execution.dask_cluster import run_sent  # noqa: PLC0415 - the worker's

        return run_sent(build, packed)

    return tailroom_run


def _worker_build() -> Callable[[], tuple[str, str]]:
    """Returns the function that asks a worker for the build of its engine.

    Its result is the build and an empty text, or an empty text and the problem.
    """

    def ask() -> tuple[str, str]:
        try:
            from tailroom import _engine  # noqa: PLC0415 - the worker's

            return _engine.build(), ""
        except Exception as error:
            return "", f"{type(error).__name__}: {error}"

    return ask


def _check_build(worker: str, build: str, wanted: str) -> None:
    """Checks that a worker has the engine of the machine where the study began.

    Raises:
        ClusterError: It has another engine.
    """
    if build != wanted:
        raise ClusterError(
            f"worker {worker} has engine {build}, but the study needs {wanted}; {SAME_TAILROOM}"
        )


def _packed(task: Task) -> bytes:
    """Pickles a task with the code of its controls written in Python.

    Raises:
        ClusterError: The code or the state of a control cannot be pickled.
    """
    import cloudpickle  # noqa: PLC0415 - comes with Dask

    names = task.source.handle.controls
    source = task.source.changed(
        directory=task.source.directory.absolute(),
        controls=task.source.controls.gathered(names),
    )
    with _by_value(source):
        try:
            packed: bytes = cloudpickle.dumps(dataclasses.replace(task, source=source))
        except Exception as error:  # a user's object may raise any exception
            raise ClusterError(
                f"{task.source.place}: {', '.join(names)} cannot be sent to another machine: "
                f"{type(error).__name__}: {error}"
            ) from error
    return packed


@contextmanager
def _by_value(source: Scenario) -> Iterator[None]:
    """Makes cloudpickle send functions and classes of the user's modules by value."""
    import cloudpickle  # noqa: PLC0415 - comes with Dask

    modules: list[ModuleType] = []
    try:
        for factory in source.controls.given.values():
            for module in modules_next_to(factory):
                if module.__name__ not in cloudpickle.list_registry_pickle_by_value():
                    cloudpickle.register_pickle_by_value(module)
                    modules.append(module)
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def run_sent(build: str, packed: bytes) -> Run:
    """Performs a run on this worker.

    Args:
        build: Version and hash of the engine with which the study began.
        packed: The pickled task.

    Raises:
        ClusterError: The engine or a file of the scenario differs, or a control cannot be loaded.
    """
    from distributed import get_worker  # noqa: PLC0415 - a worker has it

    worker = get_worker()
    _check_build(worker.address, _engine.build(), build)
    try:
        task: Task = pickle.loads(packed)
    except Exception as error:  # a user's module may raise any exception
        raise ClusterError(
            f"worker {worker.address} cannot load the controls: {type(error).__name__}: {error}; "
            "install on that machine the modules that they import"
        ) from None
    _check_files(worker.address, task)
    return run_task(task, _CancelledOnScheduler(worker))


def _check_files(worker: str, task: Task) -> None:
    """Checks that the files of a scenario equal those of the machine where the study began.

    Raises:
        ClusterError: A file is missing or has other content.
    """
    try:
        scenario_hash = task.source.hash
    except (ScenarioError, OSError) as error:
        raise ClusterError(f"worker {worker}: {error}; {SAME_FILES}") from None
    if scenario_hash != task.scenario_hash:
        raise ClusterError(
            f"worker {worker}: {task.source.place}: a file that the scenario names has other "
            f"content on that machine; {SAME_FILES}"
        )


class _CancelledOnScheduler:
    """The flag of the run in this thread, read from the worker's state."""

    def __init__(self, worker: Any) -> None:
        self._tasks = worker.state.tasks
        self._key = worker.get_current_task()

    def is_set(self) -> bool:
        task = self._tasks.get(self._key)
        return task is None or task.state == "cancelled"
