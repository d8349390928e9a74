"""The run loop that all studies share: what it performs, where, and what it reports."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.execution import executors, task
from tailroom.execution.point import Point, repeats_itself
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.engine_run import simulate
from tests.conftest import SMALL
from tests.killed_sweeps import GRID, RANDOM_START, measured

LIMIT = "links.bottleneck.queue.limit"
PATIENCE_S = 20.0
"""For runs to notice that they are cancelled, on a loaded machine."""


@pytest.fixture
def source(tmp_path: Path) -> Scenario:
    path = tmp_path / "random.toml"
    path.write_text(SMALL.replace('"4 s"', '"2 s"') + RANDOM_START, encoding="utf-8")
    return Scenario.of(path, {})


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with Runner.open(tmp_path / "store", in_processes=False, workers=2) as opened:
        yield opened


@pytest.fixture
def performed(monkeypatch: pytest.MonkeyPatch) -> list[task.Task]:
    """The runs that are performed in this process."""
    found = []

    def noted(one: task.Task, cancelled: task.Flag) -> object:
        found.append(one)
        return task.run_task(one, cancelled)

    monkeypatch.setattr(executors, "run_task", noted)
    return found


def seeds_of(point: Point) -> list[int]:
    return [row["seed"] for row in point.finished]


def test_a_point_gets_runs_with_consecutive_seeds(source: Scenario, runner: Runner) -> None:
    point = Point.of(source, {"seed": 5})
    runner.complete([point], 3)
    assert seeds_of(point) == [5, 6, 7]
    assert not repeats_itself(point.finished)


def test_a_run_that_two_points_need_is_performed_once_with_the_tables_of_both(
    source: Scenario, runner: Runner, performed: list[task.Task]
) -> None:
    told: list[RunProgress] = []
    one = Point.of(source, {})
    same = Point.of(source, {LIMIT: "20 packets"}, keep=["link_series"])  # as the file has it
    runner.complete([one, same], 2, progress=told.append)
    assert one.keys == same.keys
    assert [(run.seed, run.keep) for run in performed] == [
        (1, ("link_series",)),
        (2, ("link_series",)),
    ]
    assert seeds_of(one) == seeds_of(same) == [1, 2]
    assert all(runner.store.find(key, keep=["link_series"]) for key in same.keys)
    assert told == [RunProgress(done, 2, found=0) for done in (0, 1, 2)]


def test_a_run_without_a_table_that_is_needed_is_performed_again(
    source: Scenario, runner: Runner, performed: list[task.Task]
) -> None:
    runner.complete([Point.of(source, {})], 2)
    runner.complete([Point.of(source, {}, keep=["link_series"])], 2)
    assert [run.keep for run in performed] == [(), (), ("link_series",), ("link_series",)]


def test_a_point_is_asked_for_its_runs_whenever_all_have_ended(
    source: Scenario, runner: Runner
) -> None:
    asked: list[int] = []

    def needed(point: Point) -> int:
        assert point.is_settled
        asked.append(len(point.keys))
        return {0: 2, 2: 3}.get(len(point.keys), 3)

    told: list[RunProgress] = []
    runner.complete([Point.of(source, {})], needed, progress=told.append)
    assert asked == [0, 2, 3]
    assert told[-1] == RunProgress(done=3, found=0, total=3)
    # The next time, the same questions are answered from the store.
    asked.clear()
    runner.complete([Point.of(source, {})], needed, progress=told.append)
    assert asked == [0, 2, 3]
    assert told[-1] == RunProgress(done=3, found=3, total=3)


def failing(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    def failing_simulate(source: Scenario, **options: Any) -> tr.Result:
        if options["seed"] == seed:
            raise tr.RunError("the account of packets does not balance")
        return simulate(source, **options)

    monkeypatch.setattr(task, "simulate", failing_simulate)


def test_a_failed_run_is_raised_at_once_or_at_the_end(
    source: Scenario, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, seed=2)
    point = Point.of(source, {LIMIT: "20 packets"})
    told: list[RunProgress] = []
    message = "1 of 4 runs failed, the others are kept; the first: seed 2 at .*20 packets: the acc"
    with pytest.raises(tr.RunError, match=message):
        runner.complete([point], 4, keep_going=True, progress=told.append)
    assert seeds_of(point) == [1, 3, 4]
    assert told[-1] == RunProgress(done=4, found=0, total=4)
    with pytest.raises(tr.RunError, match=r"20 packets, seed 2: the account of packets does not"):
        runner.complete([Point.of(source, {LIMIT: "20 packets"})], 4)


POOLS: dict[str, Callable[[], Executor]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2),
}


@pytest.mark.parametrize("pool", POOLS)
def test_an_executor_of_the_callers_gives_the_same_numbers_and_stays_open(
    source: Scenario, tmp_path: Path, pool: str
) -> None:
    with POOLS[pool]() as executor:
        there = tr.sweep(
            source.place, store=tmp_path / "there", grid=GRID, seeds=2, executor=executor
        )
        assert executor.submit(os.getpid).result()
    here = tr.sweep(source.place, store=tmp_path / "here", grid=GRID, seeds=2)
    assert measured(there.runs) == measured(here.runs)


@pytest.mark.parametrize("pool", POOLS)
def test_cancelled_runs_free_an_executor_of_the_callers(
    source: Scenario, tmp_path: Path, pool: str
) -> None:
    def stop(state: RunProgress) -> None:
        if state.done == 1:
            raise KeyboardInterrupt

    grid = {"duration": ["2 s", "200000 s", "200001 s", "200002 s"]}
    with POOLS[pool]() as executor:
        with pytest.raises(tr.Interrupted):
            tr.sweep(
                source.place,
                store=tmp_path / "store",
                grid=grid,
                seeds=1,
                executor=executor,
                progress=stop,
            )
        assert executor.submit(os.getpid).result(timeout=PATIENCE_S)
    assert tr.Store(tmp_path / "store").runs().num_rows == 1


def test_workers_limits_the_runs_on_an_executor(source: Scenario, tmp_path: Path) -> None:
    """With one at a time, no run begins before the one before it has been reported."""
    told: list[RunProgress] = []
    begun: list[int] = []

    class Watched(ThreadPoolExecutor):
        def submit(self, *arguments, **options):  # type: ignore[no-untyped-def]
            begun.append(told[-1].done)
            return super().submit(*arguments, **options)

    with Watched(2) as executor:
        tr.sweep(
            source.place,
            store=tmp_path / "store",
            seeds=3,
            workers=1,
            executor=executor,
            progress=told.append,
        )
    assert begun == [0, 1, 2]


def test_an_executor_that_is_shut_down_is_refused(source: Scenario, tmp_path: Path) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(
        tr.ClusterError, match=r"the executor accepts no runs: .* give an executor that is open"
    ):
        tr.sweep(source.place, store=tmp_path / "store", seeds=1, executor=executor)


def die(one: task.Task, cancelled: task.Flag) -> None:
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_is_reported(
    source: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "run_task", die)
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(
            tr.RunError, match=r"a worker process ended early, .* finished runs are kept"
        ),
    ):
        tr.sweep(source.place, store=tmp_path / "store", seeds=2, executor=executor)
