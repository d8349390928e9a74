"""Stores and outputs on file systems with other rules, and under clocks that are wrong."""

import errno
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import typer

import tailroom as tr
from tailroom.cli.failures import reported
from tailroom.errors import NotWrittenError
from tailroom.storage.output import output_file
from tests.killed_sweeps import write_scenario

GRID = {"links.bottleneck.queue.limit": ["5 packets", "10 packets"]}
real_replace = os.replace


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return write_scenario(tmp_path)


def sweep(scenario: Path, store: Path, seeds: int = 2) -> tuple[list[object], tr.RunProgress]:
    """The utilizations of a sweep, and how many of its runs the store had."""
    told: list[tr.RunProgress] = []
    result = tr.sweep(
        scenario, store=store, grid=GRID, seeds=seeds, workers=1, progress=told.append
    )
    column = result.means("links.bottleneck.utilization")["mean"]
    return column.to_pylist(), told[-1]


def rename_to_nothing_that_exists(
    source: str | os.PathLike[str], target: str | os.PathLike[str]
) -> None:
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "File exists", str(target))
    real_replace(source, target)


def test_where_renaming_replaces_nothing_results_are_written_all_the_same(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", rename_to_nothing_that_exists)
    store, file, directory = (tmp_path / name for name in ("store", "answer.csv", "result"))
    sweep(scenario, store)
    assert sweep(scenario, store, seeds=3)[1] == tr.RunProgress(6, 6, found=4)
    assert len(tr.Store(store).sweeps()[0].points[0]["runs"]) == 3
    for text in ("one", "two"):
        with output_file(file) as output:
            output.write(partial(Path.write_text, data=text, encoding="utf-8"))
    assert file.read_text(encoding="utf-8") == "two"
    directory.mkdir()
    result = tr.run(scenario)
    result.save(directory)
    assert tr.load(directory).summary == result.summary
    assert not [path for path in tmp_path.rglob("*") if "partial" in path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="of flock")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.EINVAL])
def test_a_store_needs_no_locks(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    import fcntl  # noqa: PLC0415 - not on Windows

    right, _ = sweep(scenario, tmp_path / "right")

    def refuse(*_arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert sweep(scenario, tmp_path / "store")[0] == right


def backwards() -> Callable[[], float]:
    """A clock that goes back by 10 s at each look."""
    left = [time.time()]

    def look() -> float:
        left[0] -= 10
        return left[0]

    return look


CLOCKS: dict[str, Callable[[], Callable[[], float]]] = {
    "1970": lambda: lambda: 0.0,
    "2100": lambda: lambda: 4.1e9,
    "backwards": backwards,
}


@pytest.mark.parametrize("name", CLOCKS)
@pytest.mark.parametrize("file_time_s", [0, 4_100_000_000])
def test_no_clock_and_no_time_of_a_file_loses_or_repeats_a_run(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file_time_s: int
) -> None:
    right, _ = sweep(scenario, tmp_path / "right")
    clock = CLOCKS[name]()
    monkeypatch.setattr(time, "time", clock)
    monkeypatch.setattr(time, "time_ns", lambda: int(1e9 * clock()))
    monkeypatch.setattr("tailroom.storage.run_directory.WORTH_INDEXING", 1)
    store = tmp_path / "store"
    assert sweep(scenario, store)[0] == right
    for path in store.rglob("*"):
        os.utime(path, (file_time_s, file_time_s))
    assert len(tr.Store(store).columns().keys) == 4
    assert sweep(scenario, store) == (right, tr.RunProgress(4, 4, 4))


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "free disk space"), (errno.EACCES, "make it writable")],
)
def test_a_store_that_cannot_be_written_gets_a_remedy_that_helps(
    capsys: pytest.CaptureFixture[str], number: int, remedy: str
) -> None:
    with pytest.raises(typer.Exit), reported():
        raise NotWrittenError(number, os.strerror(number), "store/runs/key.parquet")
    assert f"the runs written before are kept: {remedy}, then give" in capsys.readouterr().err
