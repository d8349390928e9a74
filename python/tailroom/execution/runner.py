"""The run loop of every study: performs the runs that points need and the store lacks."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from tailroom.arguments import WORKERS, named
from tailroom.errors import ControlError, RunError
from tailroom.execution.batch import Batch
from tailroom.execution.executors import ExecutorLike, Performer, performer
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.task import Task
from tailroom.storage.run import Run, RunsInMemory, without_texts

if TYPE_CHECKING:
    from tailroom.storage.store import Store

LOOK_AFTER_S = 0.2
"""Longest delay of Ctrl-C while the main thread waits. A signal does not end the wait if the system
delivers it to another thread, or just before the wait begins."""

Report = Callable[[RunProgress], object]


class Runner:
    """Performs the runs that points need, and writes them to a store soon after they end."""

    def __init__(self, store: "Store | RunsInMemory", performer: Performer) -> None:
        """Takes a store and the performer of the runs."""
        self.store = store
        self._performer = performer
        self._batch = Batch()
        self._stopped = threading.Event()
        self._is_checked = False
        """Whether the store takes runs; one that cannot be written still gives those it has."""

    @property
    def at_a_time(self) -> int:
        """Maximum number of runs at a time."""
        return self._performer.at_a_time

    def stop(self) -> None:
        """Ends every `complete` that is in progress, in whatever thread, as Ctrl-C would."""
        self._stopped.set()

    @classmethod
    @contextmanager
    def open(
        cls,
        store: "Store | str | PathLike[str] | None",
        *,
        in_processes: bool,
        workers: int | None = None,
        executor: "ExecutorLike | None" = None,
    ) -> "Iterator[Runner]":
        """Opens a store and a performer of runs, and closes the performer at the end.

        Args:
            store: The store or its directory, which is created if it does not exist; if `None`, the
                runs stay in memory.
            in_processes: Whether runs on this machine need processes, because a control is written
                in Python.
            workers: Maximum number of runs at a time.
            executor: Where runs are performed: `None` for the cores of this machine, the address
                of a Dask scheduler, a `distributed.Client`, or any `concurrent.futures.Executor`.

        Raises:
            ArgumentError: `workers` is below 1.
            ClusterError: The Dask cluster does not answer, or cannot perform the runs; the store
                is untouched.
            StoreError: The directory is not a store.
        """
        WORKERS.check("workers", workers)
        with performer(executor, workers=workers, in_processes=in_processes) as place:
            yield cls(_opened(store), place)

    def complete(
        self,
        points: Sequence[Point],
        needed: int | Callable[[Point], int],
        *,
        keep_going: bool = False,
        progress: Report | None = None,
    ) -> None:
        """Performs the runs that points need and the store lacks.

        A run that several points need is performed once.

        Args:
            points: The points; they receive the rows of their runs, also of those that the store
                has already.
            needed: Number of runs that each point needs in total. A function is called for each
                point, and again when all runs of the point have ended, until the number stops
                growing.
            keep_going: Whether the other runs are performed if a run fails; the error is then
                raised at the end.
            progress: Called when the store has been searched, and after each run.

        Raises:
            RunError: A run failed.
            ControlError: A control written in Python raised an exception.
            ClusterError: The cluster or executor cannot perform the runs.
            NotWrittenError: The store cannot be written, for example on a full disk.
            KeyboardInterrupt: Ctrl-C, or another thread has called `stop`.
        """
        count = needed if callable(needed) else lambda _: needed
        work = _Work(self.store, count, progress or (lambda _: None))
        for point in points:
            work.look_up(point)
        work.report()
        if work.waiting and not self._is_checked:
            self.store.check_writable()
            self._is_checked = True
        try:
            self._perform(work, keep_going=keep_going)
        finally:
            self._batch.write(self.store)
        self.store.remove_repeated()
        if work.failures:
            raise RunError(
                f"{len(work.failures)} of {work.planned} runs failed, the others are kept; "
                f"the first: {work.failures[0]}"
            )

    def _perform(self, work: "_Work", *, keep_going: bool) -> None:
        running: dict[Future[Run], Task] = {}
        try:
            while work.waiting or running:
                at_a_time = self._performer.at_a_time  # which also says if nobody works
                while work.waiting and len(running) < at_a_time:
                    task = work.next_task()
                    running[self._performer.submit(task)] = task
                done, _ = wait(running, timeout=LOOK_AFTER_S, return_when=FIRST_COMPLETED)
                if self._stopped.is_set():
                    raise KeyboardInterrupt
                self._batch.write_if_due(self.store)
                for future in done:
                    task = running.pop(future)
                    ended = _ended(future)
                    if isinstance(ended, Run):
                        self._batch.add(ended, self.store)
                    elif not keep_going:
                        raise RunError(
                            f"{work.name_of(task)}, seed {task.seed}: {ended}"
                        ) from ended
                    work.take(task, ended)
        except BaseException as error:
            self._performer.cancel(running)
            if isinstance(error, BrokenExecutor):
                raise RunError(
                    "a worker process ended early, perhaps for lack of memory; finished runs are "
                    f"kept: give the same command again, with fewer {named('workers')}"
                ) from None
            raise


def _opened(store: "Store | str | PathLike[str] | None") -> "Store | RunsInMemory":
    if store is None:
        return RunsInMemory()
    from tailroom.storage.store import Store  # noqa: PLC0415 - it loads Arrow

    return store if isinstance(store, Store) else Store.create(store)


def _ended(future: Future[Run]) -> Run | RunError:
    """Returns the result of a run that has ended, or the error with which it failed.

    Raises:
        ControlError: A control written in Python raised an exception.
    """
    try:
        return future.result()
    except ControlError:
        raise
    except RunError as error:
        return error


class _Work:
    """The runs that some points need: found in the store, waiting, running or ended."""

    def __init__(
        self, store: "Store | RunsInMemory", needed: Callable[[Point], int], report: Report
    ) -> None:
        self.waiting: dict[str, Task] = {}
        """The runs that have not been submitted, by key, in the order of submission."""
        self.failures: list[str] = []
        self._store = store
        self._needed = needed
        self._report = report
        self._running: set[str] = set()
        self._wanted_by: dict[str, list[Point]] = {}
        """The points that wait for a run, by key."""
        self._found: set[str] = set()
        self._missing: set[str] = set()
        """Keys of the runs that the store lacked."""
        self._ended: set[str] = set()
        """Keys of the runs that were performed."""

    @property
    def planned(self) -> int:
        """Number of runs that the points need, as far as is known."""
        return len(self._found | self._missing)

    def report(self) -> None:
        """Reports the progress."""
        found = len(self._found - self._missing)
        self._report(RunProgress(found + len(self._ended), found + len(self._missing), found))

    def next_task(self) -> Task:
        """Takes the first run that waits."""
        task = self.waiting.pop(next(iter(self.waiting)))
        self._running.add(task.key)
        return task

    def name_of(self, task: Task) -> str:
        """Returns the name of the point that needs a run, for messages."""
        return self._wanted_by[task.key][0].name

    def look_up(self, point: Point) -> None:
        """Takes the runs of a point from the store, and queues the runs that the store lacks.

        If the store has all of them, the point may need more runs.
        """
        self._find(point)
        while point.is_settled and (count := self._needed(point)) > len(point.keys):
            point.extend(count)
            self._find(point)

    def _find(self, point: Point) -> None:
        for task in point.outstanding:
            row = self._store.find(task.key, keep=task.keep)
            if row is not None:
                point.rows[task.key] = row
                self._found.add(task.key)
                continue
            self._missing.add(task.key)
            self._wanted_by.setdefault(task.key, []).append(point)
            if task.key not in self._running:
                queued = self.waiting.get(task.key, task)
                keep = tuple(dict.fromkeys((*queued.keep, *task.keep)))
                self.waiting[task.key] = replace(queued, keep=keep)

    def take(self, task: Task, ended: Run | RunError) -> None:
        """Hands a run that has ended to its points, and looks up what they need now."""
        self._running.discard(task.key)
        self._ended.add(task.key)
        points = self._wanted_by.pop(task.key)
        if isinstance(ended, RunError):
            self.failures.append(f"seed {task.seed} at {points[0].name}: {ended}")
        for point in points:
            if isinstance(ended, RunError):
                point.failures[task.key] = self.failures[-1]
            elif set(point.keep) <= set(task.keep):
                point.rows[task.key] = without_texts(ended.row)
            else:  # the run was started for another point, without the tables of this point
                self.look_up(point)
        for point in points:
            if point.is_settled:
                self.look_up(point)
        self.report()
