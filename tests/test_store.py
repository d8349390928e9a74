"""The store: nothing finished is lost and nothing wrong is read, whatever happens to it."""

import json
import multiprocessing
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.storage.store import ABANDONED_AFTER_S, FORMAT, MARKER
from tests.conftest import Tailroom
from tests.killed_sweeps import (
    GRID,
    SEEDS,
    kill_sweeps,
    measured,
    rows_of,
    sweep,
    write_scenario,
)

LIMITED = """\
import resource, sys
from tailroom.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
main()
"""
"""The command with a bound on the size of files. Python ignores SIGXFSZ: writing fails."""
LIMITS = 'links.bottleneck.queue.limit="2 packets", "5 packets", "10 packets", "20 packets"'
SWEEP = ("--grid", LIMITS, "--seeds", "3")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return write_scenario(tmp_path)


def files_of(store: Path) -> dict[str, tuple[int, bytes]]:
    """Names, times of change and contents of everything there."""
    return {
        str(path.relative_to(store)): (
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted([store, *store.rglob("*")])
    }


@pytest.mark.parametrize(
    ("kills", "half_done"), [(5, 0), pytest.param(50, 5, marks=pytest.mark.slow)]
)
def test_sweeps_killed_at_random_moments_lose_nothing(
    tmp_path: Path, kills: int, half_done: int
) -> None:
    seed = 7
    told: list[str] = []
    try:
        # Few kills may all come before the first run is kept, or after the last.
        assert kill_sweeps(tmp_path, kills, seed, told.append) >= half_done
    except AssertionError as error:
        error.add_note(f"{told}; again: python -m tests.validation.store {kills} {seed}")
        raise


def test_two_writers_at_once_write_what_one_does(scenario: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.killed_sweeps"])
    both = tmp_path / "both"
    writers = [context.Process(target=sweep, args=(scenario, both)) for _ in range(2)]
    # The third has half of their points, and one of its own.
    values = [*GRID["links.bottleneck.queue.limit"][:2], "15 packets"]
    for writer in writers:
        writer.start()
    grid = {"links.bottleneck.queue.limit": values}
    tr.sweep(scenario, store=both, grid=grid, seeds=SEEDS)
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    alone = tmp_path / "alone"
    sweep(scenario, alone)
    tr.sweep(scenario, store=alone, grid=grid, seeds=SEEDS)
    assert rows_of(both) == rows_of(alone)
    assert len(tr.Store(both).sweeps()) == 2
    assert not list(both.rglob("*.partial"))


def limited(bytes_: int, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", LIMITED, str(bytes_), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_full_disk_is_named_and_loses_nothing(scenario: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    tr.sweep(scenario, store=store, grid=GRID, seeds=1)
    before = rows_of(store)
    # Less than a run takes, more than what the store says of the sweep.
    ended = limited(8_000, "sweep", scenario, "--store", store, *SWEEP)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {store}/runs/")
    assert "File too large; the runs written before are kept: free disk space" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert rows_of(store) == before
    assert not list(store.rglob("*.partial"))
    sweep(scenario, store)
    assert len(rows_of(store)) == len(before) + 8


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few runs."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "none", str(place)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("only some may mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_file_system_that_fills_up_keeps_what_fits(
    tailroom: Tailroom, scenario: Path, small_disk: Path, tmp_path: Path
) -> None:
    store = small_disk / "store"
    ended = tailroom("sweep", scenario, "--store", store, *SWEEP)
    assert ended.status == 1
    assert "No space left on device; the runs written before are kept" in ended.errors
    kept = rows_of(store)
    assert 1 <= len(kept) < 12
    sweep(scenario, tmp_path / "whole")
    whole = rows_of(tmp_path / "whole")
    assert kept == {key: whole[key] for key in kept}
    assert not list(store.rglob("*.partial"))


def test_truncated_files_are_named_and_run_again(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    right = measured(sweep(scenario, store, every_s=0.0).runs)
    files = sorted((store / "runs").iterdir())[:4]
    for file, left in zip(files, (0.0, 0.01, 0.5, 0.999), strict=True):
        os.truncate(file, int(left * file.stat().st_size))
    shown = tailroom("results", store, "--metric", "utilization")
    assert shown.status == 0
    for file in files:
        assert f"warning: {file} is damaged and was left out" in shown.errors
    seen: list[tr.RunProgress] = []
    again = tr.sweep(scenario, store=store, grid=GRID, seeds=SEEDS, progress=seen.append)
    assert seen[-1].found == 12 - 4
    assert sorted(again.store.damaged) == files
    assert measured(again.runs) == right
    assert not any(file.exists() for file in files)
    assert rows_of(store).keys() == {row["key"] for row in right}


def test_a_damaged_file_is_named_by_the_command(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    sweep(scenario, tmp_path / "store")
    file = next((tmp_path / "store" / "runs").iterdir())
    os.truncate(file, 1000)
    ended = tailroom("sweep", scenario, "--store", tmp_path / "store", *SWEEP)
    assert ended.status == 0
    assert f"{file} was damaged; the runs in it that are needed were repeated" in ended.output
    ended = tailroom("sweep", scenario, "--store", tmp_path / "store", *SWEEP)
    assert str(file) not in ended.output


def test_a_damaged_file_stays_until_every_sweep_has_its_runs(
    scenario: Path, tmp_path: Path, tailroom: Tailroom
) -> None:
    """Its runs are named as lost by each command, and not only by the first one."""
    store = tmp_path / "store"
    sweep(scenario, store)
    for file in (store / "runs").iterdir():
        os.truncate(file, 1000)
    other = tr.sweep(scenario, store=store, seeds=1, set={"duration": "2 s"})
    assert file in other.store.damaged
    count = ("results", store, "--sql", "select count(*) from runs")
    assert f"{file} is damaged and was left out" in tailroom(*count).errors
    sweep(scenario, store)
    assert not file.exists()
    assert tailroom(*count).errors == ""


@pytest.mark.parametrize("part", ["runs", "link_series"])
def test_no_flipped_bit_is_read_as_a_result(scenario: Path, tmp_path: Path, part: str) -> None:
    """Names of columns stand where Parquet's own checksums do not reach."""
    result = tr.sweep(scenario, store=tmp_path / "store", seeds=1, series=True)
    store, key = result.store, result.record.points[0]["runs"][0]

    def content(at: tr.Store) -> object:
        table = at.read(key) if part == "runs" else at.table(key, part)
        # Text, as NaN does not equal itself.
        return None if table is None else str(table.to_pydict())

    file = next((store.directory / part).iterdir())
    whole = file.read_bytes()
    right = content(store)
    draw = random.Random(11)
    for _ in range(400):
        place = draw.randrange(8 * len(whole))
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        file.write_bytes(flipped)
        opened = tr.Store(store.directory)
        read = content(opened)
        assert read is None, f"bit {place}"
        assert opened.damaged == [file]
        file.write_bytes(whole)
    assert content(tr.Store(store.directory)) == right


def test_a_file_under_another_runs_name_is_damage(scenario: Path, tmp_path: Path) -> None:
    store = sweep(scenario, tmp_path / "store", every_s=0.0).store
    one, other = sorted((store.directory / "runs").iterdir())[:2]
    other.write_bytes(one.read_bytes())
    opened = tr.Store(store.directory)
    assert len(opened.runs()) == 12 - 1
    assert opened.damaged == [other]


def test_leftovers_of_killed_processes_are_removed_in_time(scenario: Path, tmp_path: Path) -> None:
    store = tr.sweep(scenario, store=tmp_path / "store", seeds=1).store
    old, young = (store.directory / "runs" / f".{name}.parquet.1.partial" for name in "ab")
    for path in (old, young):
        path.write_bytes(b"PAR1")
    long_ago = time.time() - 2 * ABANDONED_AFTER_S
    os.utime(old, (long_ago, long_ago))
    assert len(tr.Store.create(store.directory).runs()) == 1
    assert young.exists()
    assert not old.exists()


def test_a_store_whose_making_was_interrupted_is_made(scenario: Path, tmp_path: Path) -> None:
    for place, leftover in (("a", f".{MARKER}.1-0-1.partial"), ("b", MARKER)):
        (tmp_path / place).mkdir()
        text = f'{{"format": {FORMAT}}}' if leftover == MARKER else '{"for'
        (tmp_path / place / leftover).write_text(text, encoding="utf-8")
        assert len(tr.sweep(scenario, store=tmp_path / place, seeds=1).runs) == 1


NO_STORES = {
    "newer": (
        MARKER,
        '{"format": 3}',
        "has format 3, and this version of tailroom reads format 2; install a newer version",
    ),
    "earlier": (
        MARKER,
        '{"format": 1}',
        "has format 1, and this version of tailroom reads format 2; give another directory",
    ),
    "other": ("notes.txt", "mine", "is not a store of results; `tailroom sweep FILE --store DIR`"),
    "damaged": (MARKER, '{"format"', "is damaged; if this is a store, write "),
    "odd": (MARKER, '{"format": true}', "is damaged; if this is a store, write "),
    "zero": (MARKER, '{"format": 0}', "is damaged; if this is a store, write "),
}


@pytest.mark.parametrize("case", NO_STORES)
@pytest.mark.parametrize("command", ["sweep", "results", "size"])
def test_what_is_no_store_is_refused_and_left_alone(
    tailroom: Tailroom, scenario: Path, tmp_path: Path, command: str, case: str
) -> None:
    name, text, message = NO_STORES[case]
    place = tmp_path / "place"
    place.mkdir()
    (place / name).write_text(text, encoding="utf-8")
    before = files_of(place)
    arguments = {
        "sweep": (scenario, "--store", place),
        "size": (scenario, "--store", place, "--target", "utilization >= 0.9"),
        "results": (place,),
    }
    ended = tailroom(command, *arguments[command])
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {place}")
    assert message in ended.errors
    assert ended.errors.count("\n") == 1
    assert files_of(place) == before


@pytest.mark.parametrize("command", ["sweep", "results"])
def test_a_file_is_no_store(
    tailroom: Tailroom, scenario: Path, tmp_path: Path, command: str
) -> None:
    place = tmp_path / "file"
    place.write_text("mine", encoding="utf-8")
    before = files_of(place)
    arguments = (scenario, "--store", place) if command == "sweep" else (place,)
    ended = tailroom(command, *arguments)
    assert ended.status == 2
    assert ended.errors == f"error: {place}: is a file; give the directory of a store\n"
    assert files_of(place) == before


def test_a_store_that_is_not_there_is_not_made_by_asking(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    ended = tailroom("results", tmp_path / "nowhere")
    assert ended.status == 2
    assert "does not exist; `tailroom sweep FILE --store DIR` creates a store" in ended.errors
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_of_a_sweep_is_named(
    tailroom: Tailroom, scenario: Path, tmp_path: Path
) -> None:
    store = tr.sweep(scenario, store=tmp_path / "store", seeds=1).store
    record = next((store.directory / "sweeps").iterdir())
    record.write_text(json.dumps({"id": "x"}), encoding="utf-8")
    ended = tailroom("results", store.directory)
    assert ended.status == 0
    assert f"warning: {record} is damaged and was left out" in ended.errors
