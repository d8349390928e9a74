"""A sweep: a scenario at many points, each repeated, every run kept in a store."""

import os
import threading
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field
from os import PathLike

import pyarrow as pa

from tailroom import _engine
from tailroom._engine import ControlError, RunError, ScenarioError
from tailroom.confidence import mean_interval
from tailroom.metrics import find_metric
from tailroom.own_controls import ControlFactory
from tailroom.run import simulate
from tailroom.scenario import ScenarioText, own_controls
from tailroom.scenario_types import Scenario
from tailroom.store import Run, Store, SweepRecord, as_run, run_key
from tailroom.sweep_plan import Plan, Until, plan
from tailroom.sweep_tables import means, runs_of

MOST_RUNS = 10_000
"""More runs in one sweep need to be asked for."""
SERIES_SAMPLES = 500
"""Points of the series that a sweep keeps where the scenario asks for none."""

NOT_FROM_SEED = ["key", "seed", "wall_s", "scenario", "summary"]
"""Columns of a run that say nothing of whether another seed made a difference."""


class Cancelled(Exception):  # noqa: N818 - it is no error
    """The sweep is being stopped."""


@dataclass(frozen=True)
class Task:
    """One run of one point; it may go to another process or machine."""

    point: int
    source: ScenarioText
    seed: int
    key: str
    engine_build: str
    series: bool


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is."""

    done: int
    """Runs that are finished, those found in the store included."""
    found: int
    """Runs that the store held already."""
    planned: int
    """Runs that are needed, as far as is known."""


@dataclass(frozen=True)
class SweepResult:
    """What a sweep has found; the store holds more."""

    store: Store
    record: SweepRecord

    @property
    def runs(self) -> pa.Table:
        """One row a run: its settings (a column each, by key), seed, and every metric."""
        return runs_of(self.store, self.record)

    @property
    def repeats_itself(self) -> bool:
        """Whether seeds make no difference: the scenario draws nothing at random."""
        repeated = [point["runs"] for point in self.record.points if len(point["runs"]) > 1]
        return bool(repeated) and not any(map(self._differ, repeated))

    def _differ(self, keys: list[str]) -> bool:
        rows = [row for row in map(self.store.read, keys) if row is not None]
        numbers = {str(row.drop_columns(NOT_FROM_SEED)) for row in rows}
        return len(numbers) > 1

    def means(self, metric: str) -> pa.Table:
        """One row a point: its settings, then `mean`, `half_width` (95 %) and `runs` of a metric.

        Raises:
            MetricError: There is no such metric.
        """
        return means(self.store, self.record, metric)


def sweep(  # noqa: PLR0913 - each says one thing about a sweep
    scenario: str | PathLike[str] | Scenario,
    store: str | PathLike[str],
    *,
    grid: Mapping[str, object] | None = None,
    together: Mapping[str, object] | None = None,
    seeds: int | None = None,
    until: Until | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Mapping[str, str | ControlFactory] | None = None,
    series: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    most_runs: int = MOST_RUNS,
    progress: Callable[["SweepProgress"], object] | None = None,
) -> SweepResult:
    """Runs a scenario at every point of a grid, several times each, and keeps every run.

    A run that the store holds already, from whichever sweep, is not run again. The numbers are
    those of single runs, whatever the number of workers.

    Args:
        scenario: Path of a scenario file with a `[sweep]`, or without one if `grid` is given.
        store: Directory of the store; it is made if it is not there.
        grid: Keys with their values (a list, a range, or an `Axis`); every combination is a point.
        together: Keys whose values go together, row by row.
        seeds: Runs of each point, with the scenario's seed, the next one, and so on.
        until: Instead, as many as make a metric precise.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, as `tailroom.run` takes them.
        series: Keep the time series of the links too.
        workers: Runs at a time; as many as there are cores if left out.
        executor: Runs them elsewhere, e.g. `dask.distributed.Client(...).get_executor()`.
        most_runs: Refuse a sweep of more runs than this.
        progress: Called after each run, with how far the sweep is.

    Raises:
        ScenarioError: The scenario, a key or a value is wrong; the store is untouched.
        StoreError: The directory is no store.
        MetricError: The metric of `until` is not among the results.
        ControlError: A control of your own raised an exception.
        RunError: A run failed; the others are done and kept.
        KeyboardInterrupt: Ctrl-C; what is finished is kept.
    """
    source = ScenarioText.of(scenario, set or {}, congestion)
    what = plan(source, grid=grid, together=together, seeds=seeds, until=until, series=series)
    if what.fewest_runs > most_runs:
        raise ScenarioError(
            f"{source.place}: sweep: {what.fewest_runs:,} runs, more than {most_runs:,}; "
            "take fewer values or seeds, or allow more (--yes, most_runs)"
        )
    points = [_Point.of(what, index, one) for index, one in enumerate(what.points())]
    work = _Work(what, points, Store.create(store), progress or (lambda _: None))
    count = workers or os.cpu_count() or 1
    if executor is not None:
        work.run(executor, None, 4 * count)
    elif own_controls(source.resolve(seed=None)):
        # Each call of a control needs the interpreter, which one thread has at a time.
        with ProcessPoolExecutor(count) as processes:
            work.run(processes, None, count)
    else:
        with ThreadPoolExecutor(count) as threads:
            work.run(threads, threading.Event(), count)
    return SweepResult(work.store, work.record)


def run_task(task: Task, cancelled: threading.Event | None = None) -> Run:
    """Does one run, wherever that is.

    Raises:
        RunError: The run failed, or this is another engine than the sweep's.
        Cancelled: The sweep is being stopped.
    """
    build = _engine.build()
    if build != task.engine_build:
        raise RunError(
            f"a worker has engine {build}, and the sweep began with {task.engine_build}; "
            "install the same tailroom on every machine"
        )

    def check(_fraction: float, _simulated_s: float) -> None:
        if cancelled and cancelled.is_set():
            raise Cancelled

    samples = SERIES_SAMPLES if task.series else None
    result = simulate(task.source, seed=task.seed, progress=check, series_samples=samples)
    return as_run(task.key, build, result, series=task.series)


@dataclass
class _Point:
    """A point while the sweep goes on."""

    index: int
    settings: dict[str, object]
    source: ScenarioText
    scenario_hash: str
    first_seed: int
    keys: list[str] = field(default_factory=list)
    """Of the runs that it needs, by seed."""
    rows: dict[str, pa.Table] = field(default_factory=dict)
    """Those that are finished."""
    failed: int = 0

    @classmethod
    def of(cls, what: Plan, index: int, settings: dict[str, object]) -> "_Point":
        """Resolves a point; the first that is wrong stops the sweep before it begins."""
        source = what.source.replacing(settings)
        seed = tomllib.loads(source.resolve(seed=None))["seed"]
        return cls(index, settings, source, source.hash(), seed)

    def extend(self, count: int, *, series: bool) -> list[Task]:
        """Adds runs up to this number, and returns those that are new."""
        build = _engine.build()
        seeds = range(self.first_seed + len(self.keys), self.first_seed + count)
        tasks = [
            Task(
                self.index,
                self.source,
                seed,
                run_key(self.scenario_hash, build, seed),
                build,
                series,
            )
            for seed in seeds
        ]
        self.keys += [task.key for task in tasks]
        return tasks

    @property
    def is_settled(self) -> bool:
        """Whether no run that it needs so far is outstanding."""
        return len(self.rows) + self.failed == len(self.keys)

    def runs_needed(self, until: Until) -> int:
        """How many runs make the interval narrow, judged by the spread so far."""
        name = find_metric(until.metric, next(iter(self.rows.values())).column_names)
        values = [row[name][0].as_py() for row in self.rows.values()]
        if None in values:
            raise RunError(f"{name} is not defined at {self.settings}; choose another metric")
        interval = mean_interval(values)
        if interval.half_width <= until.half_width:
            return len(self.keys)
        # No more than twice as many at once: a spread from few runs is uncertain.
        ratio = min((interval.half_width / until.half_width) ** 2, 2.0)
        return min(max(len(self.keys) + 1, int(len(self.keys) * ratio)), until.at_most)


class _Work:
    """The runs of a sweep, in whatever order they finish."""

    def __init__(
        self,
        what: Plan,
        points: list[_Point],
        store: Store,
        report: Callable[[SweepProgress], object],
    ) -> None:
        self.what = what
        self.points = points
        self.store = store
        self.report = report
        self.found = 0
        self.failures: list[str] = []
        self.record = SweepRecord(
            id=what.id,
            title=what.title,
            scenario=what.source.place,
            axes={one.key: list(one.values) for one in what.axes},
        )

    def run(self, executor: Executor, cancelled: threading.Event | None, at_a_time: int) -> None:
        """Does all that is not in the store yet."""
        first = self.what.until.at_least if self.what.until else self.what.seeds
        waiting = [task for point in self.points for task in self._missing(point, first)]
        waiting.reverse()
        self._write_down()
        running: dict[Future[Run], Task] = {}
        try:
            while waiting or running:
                while waiting and len(running) < at_a_time:
                    task = waiting.pop()
                    running[executor.submit(run_task, task, cancelled)] = task
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    waiting += self._take(running.pop(future), future)
        except BaseException:
            if cancelled:
                cancelled.set()
            for future in running:
                future.cancel()
            raise
        finally:
            self._write_down()
        if self.failures:
            needed = sum(len(point.keys) for point in self.points)
            raise RunError(
                f"{len(self.failures)} of {needed} runs failed, the others are kept; "
                f"the first: {self.failures[0]}"
            )

    def _missing(self, point: _Point, count: int) -> list[Task]:
        """The runs that a point needs and the store does not hold."""
        missing = []
        for task in point.extend(count, series=self.what.series):
            row = self.store.read(task.key, with_series=self.what.series)
            if row is None:
                missing.append(task)
            else:
                point.rows[task.key] = row
                self.found += 1
        self._report()
        return missing or self._next(point)

    def _next(self, point: _Point) -> list[Task]:
        """More runs of a point that is settled but not precise enough."""
        until = self.what.until
        if until is None or not point.rows or not point.is_settled:
            return []
        needed = point.runs_needed(until)
        return self._missing(point, needed) if needed > len(point.keys) else []

    def _take(self, task: Task, future: Future[Run]) -> list[Task]:
        """Keeps what a run has found; returns the runs that are needed in addition."""
        point = self.points[task.point]
        try:
            run = future.result()
        except ControlError:
            raise
        except RunError as error:
            self.failures.append(f"seed {task.seed} at {point.settings}: {error}")
            point.failed += 1
        else:
            self.store.add(run)
            point.rows[task.key] = run.row
        self._report()
        return self._next(point)

    def _report(self) -> None:
        done = sum(len(point.rows) for point in self.points)
        planned = sum(len(point.keys) for point in self.points)
        self.report(SweepProgress(done, self.found, planned))

    def _write_down(self) -> None:
        self.record.points = [
            {"settings": point.settings, "runs": point.keys} for point in self.points
        ]
        self.store.record(self.record)
