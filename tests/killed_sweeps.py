"""Sweeps that are killed at random moments, and what must be true of their store afterwards."""

import multiprocessing
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

import tailroom as tr
from tailroom.execution import batch
from tailroom.studies.sweep_study import study  # loaded before the processes are forked
from tests.conftest import SMALL

RANDOM_START = '\nstart = { uniform = ["0 s", "0.5 s"] }\n'
GRID = {"links.bottleneck.queue.limit": [f"{limit} packets" for limit in (2, 5, 10, 20)]}
SEEDS = 3
NOT_FROM_SCENARIO = ("wall_s", "summary")
"""Columns with the time that a run took; the summary has it inside."""


def write_scenario(directory: Path) -> Path:
    """A scenario that runs in an instant, and differently with each seed."""
    path = directory / "random.toml"
    path.write_text(SMALL.replace('"4 s"', '"3 s"') + RANDOM_START, encoding="utf-8")
    return path


def sweep(scenario: Path, store: Path, every_s: float = 0.05) -> tr.SweepResult:
    """The sweep that is killed, and the one that is not; it writes several files."""
    with mock.patch.object(batch, "EVERY_S", every_s):
        return study.sweep(scenario, store=store, grid=GRID, seeds=SEEDS, workers=2, series=True)


def measured(table: pa.Table) -> list[dict[str, Any]]:
    """Rows without what depends on the machine."""
    names = [name for name in table.column_names if name not in NOT_FROM_SCENARIO]
    rows: list[dict[str, Any]] = table.select(names).to_pylist()
    return rows


def expected(scenario: Path, store: Path) -> dict[str, dict[str, Any]]:
    """The rows of an undisturbed sweep, by key."""
    tr.sweep(scenario, store=store, grid=GRID, seeds=SEEDS)
    return rows_of(store)


def rows_of(store: Path) -> dict[str, dict[str, Any]]:
    """What a store says of each run, by key."""
    return {row["key"]: row for row in measured(tr.Store(store).runs())}


def files_of_runs(store: Path) -> list[Path]:
    """The files that are finished; their names do not start with a dot."""
    return list((store / "runs").glob("[!.]*"))


def check_files(store: Path, right: dict[str, dict[str, Any]]) -> set[str]:
    """Everything that counts as finished is readable and right; returns its keys."""
    names = {file.stem for file in files_of_runs(store)}
    keys: set[str] = set()
    if names:
        opened = tr.Store(store)
        rows = {row["key"]: row for row in measured(opened.runs())}
        keys = set(rows)
        assert rows == {key: right[key] for key in keys}
        assert opened.columns().files.keys() == names, "every file is read"
        assert all(opened.table(key, "link_series") is not None for key in keys)
        opened.sweeps()
        assert opened.damaged == []
    return keys


def kill_sweeps(directory: Path, kills: int, seed: int, show: Callable[[str], object]) -> int:
    """Kills sweeps, at random moments or when runs have just been kept, each until it has come to
    its end, and checks every store.

    Returns how many kills left a sweep half done.
    """
    scenario = write_scenario(directory)
    right = expected(scenario, directory / "undisturbed")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.killed_sweeps"])
    latest_s = seconds_of_a_sweep(context, scenario, directory)
    draw = random.Random(seed)
    stores, killed, half_done = 0, 0, 0
    while killed < kills:
        store = directory / f"store-{stores}"
        finished: set[str] = set()
        while True:
            process = context.Process(target=sweep, args=(scenario, store))
            files_before = len(files_of_runs(store))
            process.start()
            if draw.random() < 0.5:
                process.join(draw.uniform(0.0, latest_s))
            else:
                # However slow the machine is, this kill leaves a sweep half done.
                while process.is_alive() and len(files_of_runs(store)) == files_before:
                    time.sleep(0.001)
            process.kill()
            process.join()
            now = check_files(store, right)
            assert finished <= now, "nothing finished is lost"
            finished = now
            if process.exitcode == 0:
                break
            assert process.exitcode == -9, "it ended by itself"
            killed += 1
            half_done += 0 < len(now) < len(right)
            if killed >= kills:
                break
        seen: list[tr.RunProgress] = []
        tr.sweep(scenario, store=store, grid=GRID, seeds=SEEDS, series=True, progress=seen.append)
        assert seen[-1].found == len(finished), "what was finished is not run again"
        assert rows_of(store) == right
        stores += 1
        show(f"{killed} kills, {stores} stores, {half_done} sweeps half done")
    return half_done


def seconds_of_a_sweep(
    context: multiprocessing.context.ForkServerContext, scenario: Path, directory: Path
) -> float:
    """How long one takes here and now: kills are to come while it goes on."""
    for name in ("first", "second"):
        # The first process waits for the server to start.
        begun = time.monotonic()
        process = context.Process(target=sweep, args=(scenario, directory / name))
        process.start()
        process.join()
        assert process.exitcode == 0
    return time.monotonic() - begun
