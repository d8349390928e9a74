"""Finished runs wait for half a second at most, and are then written together."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

import tailroom as tr
from tailroom.errors import NotWrittenError
from tailroom.execution import batch
from tailroom.execution.batch import EVERY_S, Batch
from tailroom.storage.run import Run, run_key
from tests.ctrl_c import UNDER_WAY, wait_until
from tests.killed_sweeps import GRID, write_scenario

KEPT_S = 0.5
"""Time of the runs that a kill may lose, as the guide says."""


class Keeper:
    """Notes which runs are written together."""

    def __init__(self) -> None:
        self.written: list[list[str]] = []

    def add(self, runs: Iterable[Run]) -> None:
        self.written.append([run.key for run in runs])


def run(key: str, table: pa.Table | None = None) -> Run:
    row = {"key": key, "scenario": "", "summary": ""}
    return Run(key, row, {} if table is None else {"link_series": table})


class Clock:
    """A clock that stands until it is set."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_run_waits_for_half_a_second_at_most() -> None:
    assert EVERY_S <= KEPT_S
    clock, keeper = Clock(), Keeper()
    waiting = Batch(clock)
    waiting.add(run("first"), keeper)
    assert keeper.written == [["first"]]
    for key in ("a", "b"):
        clock.now_s += EVERY_S / 4
        waiting.add(run(key), keeper)
    waiting.write_if_due(keeper)
    assert keeper.written == [["first"]]
    clock.now_s += EVERY_S / 2
    waiting.write_if_due(keeper)
    assert keeper.written == [["first"], ["a", "b"]]
    clock.now_s += 10 * EVERY_S
    waiting.add(run("a long one"), keeper)
    assert keeper.written[-1] == ["a long one"]
    waiting.write(keeper)
    assert len(keeper.written) == 3


def test_large_tables_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MOST_BYTES", 1000)
    clock, keeper = Clock(), Keeper()
    waiting = Batch(clock)
    waiting.add(run("first"), keeper)
    waiting.add(run("small", pa.table({"x": [1.0]})), keeper)
    waiting.add(run("large", pa.table({"x": [1.0] * 125})), keeper)
    assert keeper.written == [["first"], ["small", "large"]]


def test_runs_that_cannot_be_written_are_not_written_again() -> None:
    class Full:
        def add(self, runs: Iterable[Run]) -> None:
            raise NotWrittenError(28, "No space left on device", "store")

    waiting, keeper = Batch(Clock()), Keeper()
    with pytest.raises(NotWrittenError):
        waiting.add(run("lost"), Full())
    waiting.write(keeper)
    assert keeper.written == []


def test_short_runs_share_files(tmp_path: Path) -> None:
    result = tr.sweep(write_scenario(tmp_path), store=tmp_path / "store", grid=GRID, seeds=10)
    files = list((tmp_path / "store" / "runs").iterdir())
    assert len(result.runs) == 40
    assert len(files) < 20


def test_finished_runs_are_written_while_another_one_takes_long(tmp_path: Path) -> None:
    store = tmp_path / "store"
    command = ["sweep", str(write_scenario(tmp_path)), "--store", str(store), "--seeds", "1"]
    # All but the last are over before half a second has passed, and the last one never ends.
    durations = ", ".join(f"{0.1 * count:g} s" for count in range(5, 10))
    command += ["--workers", "1", "--grid", f"duration={durations}, {UNDER_WAY}"]
    command += ["--set", "measure_from=0.2 s"]
    with subprocess.Popen(
        [sys.executable, "-m", "tailroom", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_until(
                lambda: store.is_dir() and sum(1 for _ in store.glob("runs/*.parquet")) > 1, process
            )
        finally:
            process.kill()
    assert len(tr.Store(store).runs()) == 5


def rows(count: int, name: str) -> list[Run]:
    texts = dict.fromkeys(("scenario_hash", "engine_build", "title", "scenario", "summary"), "")
    return [
        Run(key, {"key": key, **texts, "seed": seed, "wall_s": 0.5, name: float(seed)})
        for seed in range(count)
        for key in [run_key(name, "", seed)]
    ]


def test_runs_with_other_columns_are_in_other_files(tmp_path: Path) -> None:
    store = tr.Store.create(tmp_path / "store")
    store.add([*rows(3, "links.a.x"), *rows(2, "links.b.x")])
    assert len(list((tmp_path / "store" / "runs").iterdir())) == 2
    again = tr.Store(store.directory)
    assert again.columns().values("links.b.x", sorted(again.columns().keys)) in ([0, 1], [1, 0])
    assert again.runs().equals(store.runs())


def test_each_run_has_its_own_part_of_a_table(tmp_path: Path) -> None:
    store = tr.Store.create(tmp_path / "store")
    names = pa.array(["up", "down", "up"]).dictionary_encode()
    tables = [
        pa.table(
            {"link": names.slice(0, length), "x": pa.array([float(length)] * length, pa.float64())}
        )
        for length in (2, 0, 3)
    ]
    kept = [
        Run(one.key, one.row, {"link_series": table})
        for one, table in zip(rows(3, "links.a.x"), tables, strict=True)
    ]
    store.add(kept)
    assert len(list((tmp_path / "store" / "link_series").iterdir())) == 1
    for opened in (store, tr.Store(store.directory)):
        for one, table in zip(kept, tables, strict=True):
            read = opened.table(one.key, "link_series")
            assert read is not None
            assert read.to_pydict() == table.to_pydict()
    assert store.table(kept[0].key, "flow_series") is None


def test_a_table_is_found_although_the_run_was_repeated_without(tmp_path: Path) -> None:
    store = tr.Store.create(tmp_path / "store")
    (one,) = rows(1, "links.a.x")
    store.add([Run(one.key, one.row, {"link_series": pa.table({"x": [1.0]})})])
    store.add([Run(one.key, {**one.row, "wall_s": 0.7})])
    for opened in (store, tr.Store(store.directory)):
        assert opened.find(one.key, keep=["link_series"]) is not None
        assert len(opened.columns().keys) == len(opened.runs()) == 1
