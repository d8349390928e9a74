"""`--out`: wrong places are refused before the work, and finished work is never lost."""

import errno
import gc
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom import staging
from tailroom.storage.output import output_directory, output_file
from tailroom.storage.store import Store
from tests.conftest import SMALL, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

ENDLESS = ("--set", "duration=1000000 s")
"""No test waits for this run."""


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory for temporary files, which is also where results are rescued to."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def test_an_empty_mount_point_is_refused_before_the_run(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "mounted"
    place.mkdir()
    monkeypatch.setattr("os.path.ismount", lambda path: Path(path) == place)
    ended = tailroom("run", small, *ENDLESS, "--out", place)
    assert ended.status == 2
    assert ended.errors == (
        f"error: {place}: is a mount point; choose a new directory in it, such as "
        f"{place / 'results'}\n"
    )


def test_an_empty_directory_that_cannot_be_replaced_is_refused_before_the_run(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "busy"
    place.mkdir()
    rename = Path.rename

    def busy(path: Path, target: Path) -> Path:
        if path == place:
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", busy)
    ended = tailroom("run", small, *ENDLESS, "--out", place)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {place}: cannot be written: Device or resource busy; ")
    assert names(tmp_path) == ["busy", "small.toml"]


def test_a_symbolic_link_is_followed(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, target in (("to_empty", "empty"), ("dangling", "new")):
        (tmp_path / name).symlink_to(tmp_path / target)
        ended = tailroom("run", small, "--out", tmp_path / name)
        assert ended.status == 0, ended.errors
        assert (tmp_path / target / "summary.json").is_file()
        assert (tmp_path / name).is_symlink()


def test_links_in_a_circle_are_refused(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    ended = tailroom("run", small, *ENDLESS, "--out", tmp_path / "a")
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {tmp_path / 'a'}: cannot be ")
    assert ended.errors.count("\n") == 1


PICTURE = {
    "size": ("--target", "utilization >= 0.5"),
    "model": ("--over", "links.bottleneck.queue.limit=5 packets, 9 packets"),
}


@pytest.mark.parametrize("command", PICTURE)
@pytest.mark.parametrize("wrong", ["a directory", "no directory", "full"])
def test_the_file_of_a_picture_is_checked_before_the_work(  # noqa: PLR0913, PLR0917
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    wrong: str,
) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("tailroom.size", started)
    monkeypatch.setattr("tailroom.cli.model.predict_over", started)
    (tmp_path / "x.png").mkdir()
    places = {"a directory": "x.png", "no directory": "nowhere/y.png", "full": "y.png"}
    if wrong == "full":
        monkeypatch.setattr(os, "fsync", full)
    place = tmp_path / places[wrong]
    ended = tailroom(command, small, *PICTURE[command], "--out", place)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {place}: ")
    assert ended.errors.count("\n") == 1
    assert names(tmp_path) == ["small.toml", "x.png"]


@pytest.mark.parametrize("command", PICTURE)
def test_the_answer_is_printed_if_its_picture_cannot_be_written(  # noqa: PLR0913, PLR0917
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    elsewhere: Path,
) -> None:
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    picture = tmp_path / "x.png"
    ended = tailroom(command, small, *PICTURE[command], "--json", "--out", picture)
    assert ended.status == 1
    assert json.loads(ended.output)
    assert f"{picture}: cannot be written: No space left on device; nothing" in ended.errors
    assert names(tmp_path) == ["elsewhere", "small.toml"]
    gc.collect()  # The temporary store goes with the answer, which the traceback holds.
    assert names(elsewhere) == []


def test_a_run_that_cannot_be_written_in_the_end_is_printed_and_kept_next_to_it(
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    elsewhere: Path,
) -> None:
    def busy(_: Path, target: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy", str(target))

    monkeypatch.setattr(Path, "replace", busy)
    monkeypatch.setattr("tailroom.plots.write", lambda *_, **__: [])
    place = tmp_path / "out"
    ended = tailroom("run", small, "--json", "--out", place)
    assert ended.status == 1
    assert json.loads(ended.output)["title"] == "Two Reno flows"
    said, _, kept = ended.errors.strip().partition("; the results are in ")
    assert said == f"error: {place}: cannot be written: Device or resource busy"
    assert Path(kept).parent == tmp_path
    assert tr.load(kept).summary == json.loads(ended.output)
    assert names(elsewhere) == []


def test_a_run_that_no_longer_fits_the_disk_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    def fill(place: Path) -> None:
        if elsewhere not in place.parents:
            full()
        (place / "answer").touch()

    with (
        pytest.raises(tr.OutputError, match=r"the results are in .*/elsewhere/out-kept-"),
        output_directory(tmp_path / "out") as opened,
    ):
        opened.write(fill)
    assert names(tmp_path) == ["elsewhere"]
    assert [names(path) for path in elsewhere.iterdir()] == [["answer"]]


def test_a_disk_that_fills_up_while_pictures_are_written_is_left_empty(
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    elsewhere: Path,
) -> None:
    def fills_up(_: object, path: Path, **__: object) -> None:
        if elsewhere not in path.parents:
            full()
        path.touch()

    def opened(*_: object) -> None:
        raise tr.OutputDirectoryError("hides that the disk is full")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fills_up)
    monkeypatch.setattr("tailroom.plots.output_file", opened)
    ended = tailroom("run", small, "--json", "--out", tmp_path / "out")
    assert ended.status == 1
    kept = ended.errors.strip().partition("No space left on device; the results are in ")[2]
    assert Path(kept).parent == elsewhere
    assert tr.load(kept).summary == json.loads(ended.output)
    assert names(tmp_path) == ["elsewhere", "small.toml"]


def test_a_picture_that_cannot_be_drawn_leaves_the_run(
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    elsewhere: Path,
) -> None:
    def wrong(*_: object, **__: object) -> None:
        raise ValueError("no such glyph")

    monkeypatch.setattr("tailroom.plots.write", wrong)
    ended = tailroom("run", small, "--json", "--out", tmp_path / "out")
    assert ended.status == 1
    kept = ended.errors.strip().partition("ValueError: no such glyph; the files before it are in ")
    assert tr.load(kept[2]).summary == json.loads(ended.output)
    assert names(elsewhere) == []


def test_a_full_disk_leaves_no_part_of_a_table(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    tr.sweep(small, store=store, seeds=2)
    place = tmp_path / "tables"
    place.mkdir()

    def partly(_: object, file: Any, *__: object, **___: object) -> None:
        (file if isinstance(file, Path) else Path(file.name)).write_bytes(b"PAR1")
        full()

    monkeypatch.setattr("pyarrow.parquet.write_table", partly)
    monkeypatch.setattr("tailroom.cli.results._write_csv", partly)
    for name in ("runs.parquet", "runs.csv"):
        ended = tailroom("results", store, "--out", place / name)
        assert ended.status == 1
        assert "No space left on device; nothing was kept" in ended.errors
        assert names(place) == []


def test_leftovers_of_dead_processes_are_removed_and_those_of_others_stay(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    dead, host = int(ended.stdout), staging._HOST
    name = "".join(sign if sign.isalnum() else "-" for sign in platform.node())[:32]
    assert host.startswith(name), "which may be followed by the namespace of processes"
    gone = [
        f".o.{host}-{dead}.partial",
        f".o.png.{host}-{dead}.partial.png",
        f".o.{dead}.partial",
        f".other.{host}-{dead}.partial",
        f".key.parquet.{host}-{dead}-0-1.partial",
    ]
    kept = [
        f".o.{os.getppid()}.partial",
        f".o.{host}-{os.getppid()}.partial",
        f".o.elsewhere-{dead}.partial",
        f".other.{dead}.partial",
        f".{host}-{dead}.partial",
        f"other.{host}-{dead}.partial",
    ]
    for name in (gone[0], *gone[2:], *kept):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.json").touch()
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / gone[1]).touch()
    with output_directory(tmp_path / "o"), output_file(tmp_path / "o.png"):
        pass
    assert names(tmp_path) == sorted(kept)


def test_a_young_leftover_without_a_machine_stays(tmp_path: Path) -> None:
    """An earlier version of tailroom on another machine may be at work there."""
    young = tmp_path / ".o.999999999.partial"
    young.mkdir()
    with output_directory(tmp_path / "o"):
        pass
    assert names(tmp_path) == [young.name]


def test_what_is_ended_leaves_nothing_next_to_its_output(tmp_path: Path) -> None:
    """The process that writes is ended by SIGTERM, as it would be without a handler."""
    code = """
import os, signal, sys, time
from pathlib import Path
from tailroom.staging import removed_at_termination, staging_place
from tailroom.storage.output import output_directory
removed_at_termination()
with output_directory(Path("o")):
    staging_place(Path("flows.csv"), Path()).touch()
    assert len(os.listdir()) == 2
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGTERM)  # of a process that has no place of its own
    os.wait()
    assert len(os.listdir()) == 2
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False
    )
    assert ended.returncode == -signal.SIGTERM, ended.stderr
    assert names(tmp_path) == []


def test_dollars_in_texts_are_no_mathematics(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    text = SMALL.replace("Two Reno flows", "prices: $5^$ and $_{$")
    small.write_text(f'{text}\n[series]\ninterval = "50 ms"\n', encoding="utf-8")
    assert tailroom("run", small, "--out", tmp_path / "out").status == 0
    assert tailroom("plot", tmp_path / "out", "--format", "svg").status == 0
    grid = ("--grid", "title=$^$,$_$", "--grid", "links.bottleneck.queue.limit=5 packets,9 packets")
    swept = (*grid, "--store", tmp_path / "store", "--seeds", 2)
    assert tailroom("sweep", small, *swept).status == 0
    for kind in ("curves", "tradeoff"):
        drawn = tailroom("plot", tmp_path / "store", "--kind", kind)
        assert drawn.status == 0, drawn.errors
    vary = ("--vary", "title=$^$,$_$", "--out", tmp_path / "choices")
    assert tailroom("run", small, *vary).status == 0


def test_a_store_removes_at_once_what_a_killed_process_left(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    runs = Store.create(tmp_path / "store").directory / "runs"
    for process in (int(ended.stdout), os.getpid()):
        (runs / f".key.parquet.{staging._HOST}-{process}-0-1.partial").touch()
    Store.create(tmp_path / "store")
    assert names(runs) == [f".key.parquet.{staging._HOST}-{os.getpid()}-0-1.partial"]


def test_the_next_command_removes_what_a_killed_one_left(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    line = [sys.executable, "-m", "tailroom", "run", small, *ENDLESS, "--out", tmp_path / "first"]
    with subprocess.Popen([str(word) for word in line]) as process:
        while not list(tmp_path.glob(".first.*.partial")):
            assert process.poll() is None
        process.kill()
    assert tailroom("run", small, "--out", tmp_path / "second").status == 0
    assert not list(tmp_path.glob(".*.partial"))
