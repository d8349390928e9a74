"""Runs of one scenario at different points: who does them, and which are done already."""

import multiprocessing
import os
import threading
import tomllib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

import pyarrow as pa

from tailroom import _engine
from tailroom.errors import ControlError, RunError, ScenarioError
from tailroom.scenario.axis import setting_words
from tailroom.scenario.source import ScenarioSource, own_controls
from tailroom.simulation.engine_run import simulate
from tailroom.simulation.metrics import find_metric, names_of
from tailroom.storage.store import Run, Store, as_run, run_key

SERIES_SAMPLES = 500
"""Points of the series that are kept where the scenario asks for none."""

LOOK_AFTER_S = 0.2
"""Ctrl-C while the main thread waits acts after this time at the latest: a signal that the system
hands to another thread, or just before the wait begins, does not end the wait."""


NOT_FROM_SEED = ["key", "seed", "wall_s", "scenario", "summary"]
"""Columns of a run that say nothing of whether another seed made a difference."""


class Flag(Protocol):
    """What says whether a run is still wanted."""

    def is_set(self) -> bool:
        """Whether it is not."""


class _Event(Flag, Protocol):
    """What threads and processes have alike."""

    def set(self) -> None: ...


_stop: list[Flag] = []
"""In a process of a pool: tells that the sweep is being stopped."""


def _listen(event: Flag) -> None:
    _stop.append(event)


class Cancelled(Exception):  # noqa: N818 - it is no error
    """The sweep is being stopped."""


@dataclass(frozen=True)
class Task:
    """One run of one point; it may go to another process or machine."""

    point: int
    source: ScenarioSource
    seed: int
    key: str
    scenario_hash: str
    engine_build: str
    keep: tuple[str, ...]
    """Tables of the result that the store is to keep."""


def run_task(task: Task, cancelled: Flag | None = None) -> Run:
    """Does one run, wherever that is.

    Raises:
        RunError: The run failed, this is another engine than the sweep's, or a file has changed.
        Cancelled: The sweep is being stopped.
    """
    build = _engine.build()
    if build != task.engine_build:
        raise RunError(
            f"a worker has engine {build}, and the sweep began with {task.engine_build}; "
            "install the same tailroom on every machine"
        )

    events = [cancelled] if cancelled else _stop

    def check(_fraction: float, _simulated_s: float) -> None:
        if any(event.is_set() for event in events):
            raise Cancelled

    samples = SERIES_SAMPLES if any(name.endswith("_series") for name in task.keep) else None
    result = simulate(task.source, seed=task.seed, progress=check, series_samples=samples)
    if result.summary["scenario_hash"] != task.scenario_hash:
        raise RunError(
            f"{task.source.place}: a file that it names has changed since the sweep began; "
            "start again"
        )
    return as_run(task.key, build, result, keep=task.keep)


@dataclass
class Point:
    """A scenario with some of its values replaced, and its runs with one seed after the other."""

    index: int
    settings: dict[str, object]
    source: ScenarioSource = field(repr=False)
    scenario_hash: str
    controls: str
    """Tells controls of the user's own apart."""
    first_seed: int
    keys: list[str] = field(default_factory=list)
    """Of the runs that it needs, by seed."""
    rows: dict[str, pa.Table] = field(default_factory=dict, repr=False)
    """Those that are finished."""
    found: int = 0
    """How many of them the store held already."""
    failures: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, source: ScenarioSource, index: int, settings: dict[str, object]) -> "Point":
        """Resolves a scenario with some of its values replaced.

        Raises:
            ScenarioError: A value is wrong.
        """
        # A table comes before what replaces one of its keys.
        source = source.replacing(dict(sorted(settings.items(), key=lambda one: one[0].count("."))))
        try:
            resolved = source.resolve(seed=None)
        except ScenarioError as error:
            # The engine takes every value that replaces another for one of --set.
            text = str(error)
            for key in settings:
                text = text.replace(f"--set {key}", key)
            raise ScenarioError(text) from None
        with source.named_in_errors():
            controls = source.controls.fingerprint(own_controls(resolved))
        seed = tomllib.loads(resolved)["seed"]
        return cls(index, settings, source, source.hash(), controls, seed)

    def extend(self, count: int, *, keep: tuple[str, ...] = ()) -> list[Task]:
        """Adds runs up to this number, and returns those that are new."""
        build = _engine.build()
        seeds = range(self.first_seed + len(self.keys), self.first_seed + count)
        tasks = [
            Task(
                self.index,
                self.source,
                seed,
                run_key(self.scenario_hash, build, seed, self.controls),
                self.scenario_hash,
                build,
                keep,
            )
            for seed in seeds
        ]
        self.keys += [task.key for task in tasks]
        return tasks

    @property
    def is_settled(self) -> bool:
        """Whether no run that it needs so far is outstanding."""
        return len(self.rows) + len(self.failures) == len(self.keys)

    def missing(self, store: Store, count: int, *, keep: tuple[str, ...] = ()) -> list[Task]:
        """Adds runs up to this number; those that the store holds are taken from there."""
        missing = []
        for task in self.extend(count, keep=keep):
            row = store.read(task.key, keep=keep)
            if row is None:
                missing.append(task)
            else:
                self.rows[task.key] = row
                self.found += 1
        return missing

    def take(self, task: Task, ended: Run | RunError) -> None:
        """Takes in what has become of a run."""
        if isinstance(ended, RunError):
            self.failures.append(f"seed {task.seed} at {self.name}: {ended}")
        else:
            self.rows[task.key] = ended.row

    @property
    def name(self) -> str:
        """Its settings, or the scenario if there are none, as messages name it."""
        return setting_words(self.settings, {}) or self.source.place

    @property
    def finished(self) -> list[pa.Table]:
        """The rows of its finished runs, by seed."""
        return [self.rows[key] for key in self.keys if key in self.rows]

    def values(self, metric: str) -> list[float]:
        """A metric of the finished runs, by seed.

        Raises:
            MetricError: There is no such metric.
            RunError: It is not defined in a run.
        """
        rows = self.finished
        name = find_metric(metric, names_of(rows[0])) if rows else metric
        values = [row[name][0].as_py() for row in rows]
        if None in values:
            raise RunError(f"{name} is not defined at {self.name}; choose another metric")
        return values


def repeats_itself(rows: Sequence[pa.Table]) -> bool:
    """Whether runs with different seeds are the same: the scenario draws nothing at random."""
    return len(rows) > 1 and len({str(row.drop_columns(NOT_FROM_SEED)) for row in rows}) == 1


class Elsewhere(Protocol):
    """Other machines that perform runs."""

    @property
    def at_a_time(self) -> int:
        """Number of runs that may be submitted at once."""

    def submit(self, task: Task) -> Future[Run]:
        """Starts a run."""


class Runner:
    """Does runs, a few at a time, and keeps each in a store as soon as it is done."""

    def __init__(
        self,
        source: ScenarioSource,
        store: Store,
        *,
        workers: int | None = None,
        cluster: Elsewhere | None = None,
    ) -> None:
        """Chooses threads, or processes for controls of the user's own, or the given cluster."""
        self.store = store
        self._asked = workers
        self._workers = workers or os.cpu_count() or 1
        self._cluster = cluster
        # Each call of a control needs the interpreter, which one thread has at a time.
        self._in_processes = bool(own_controls(source.resolve(seed=None)))
        self._stack = ExitStack()
        self._cancelled: _Event | None = None
        self._handed: _Event | None = None
        """The same, where it can go along with a run."""

    def __enter__(self) -> "Runner":
        if self._cluster:
            return self
        if self._in_processes:
            self._cancelled = multiprocessing.Event()
            # An event goes to a process at its start only.
            pool: Executor = ProcessPoolExecutor(
                self._workers, initializer=_listen, initargs=(self._cancelled,)
            )
        else:
            self._cancelled = self._handed = threading.Event()
            pool = ThreadPoolExecutor(self._workers)
        self._executor = self._stack.enter_context(pool)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def run(
        self, tasks: Iterable[Task], taken: Callable[[Task, Run | RunError], Iterable[Task]]
    ) -> None:
        """Does these runs, and those that `taken` asks for when one has ended.

        Raises:
            ControlError: A control of the user's own raised an exception.
            ClusterError: The cluster cannot do them.
            OSError: The store cannot be written.
        """
        waiting = deque(tasks)
        running: dict[Future[Run], Task] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._at_a_time:
                    task = waiting.popleft()
                    running[self._submit(task)] = task
                done, _ = wait(running, timeout=LOOK_AFTER_S, return_when=FIRST_COMPLETED)
                for future in done:
                    task = running.pop(future)
                    waiting += taken(task, self._finished(future))
        except BaseException:
            if self._cancelled:
                self._cancelled.set()
            for future in running:
                future.cancel()
            raise

    @property
    def _at_a_time(self) -> int:
        return self._asked or self._cluster.at_a_time if self._cluster else self._workers

    def _submit(self, task: Task) -> Future[Run]:
        if self._cluster:
            return self._cluster.submit(task)
        return self._executor.submit(run_task, task, self._handed)

    def _finished(self, future: Future[Run]) -> Run | RunError:
        try:
            run = future.result()
        except ControlError:
            raise
        except RunError as error:
            return error
        except BrokenExecutor:
            raise RunError(
                "a worker process ended early, perhaps for lack of memory; finished runs are kept: "
                "give the same command again, with fewer --workers"
            ) from None
        self.store.add(run)
        return run
