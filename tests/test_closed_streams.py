"""A reader that leaves, or a closed stream, costs no result; a terminal may have no width."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tailroom.cli import streams
from tailroom.cli.answer import write_and_print
from tailroom.cli.main import app
from tailroom.errors import OutputError
from tailroom.scenario.scenario import Scenario
from tailroom.storage.output import output_file
from tailroom.studies.sweep_study.study import sweep
from tailroom.vectors.sets import all_vectors
from tests.conftest import SMALL, Tailroom

LIMITS = "links.bottleneck.queue.limit=5 packets,9 packets"
CAPTURE = Path(__file__).parent / "captures" / "loopback.pcap"
MEASURED = Path(__file__).parent / "measurements" / "simulated.flent.gz"
NEEDS_PROC = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="the system has no /dev/full"
)

WRITING = {
    "run": ("run small.toml --out written", "written/summary.json"),
    "run --json": ("run small.toml --json --out written", "written/summary.json"),
    "packets": (
        "run small.toml --packets x.parquet --pcap written.pcapng --at links.bottleneck",
        "written.pcapng",
    ),
    "traces": ("run small.toml --qlog written", "written/*.sqlog"),
    "choices": (f"run small.toml --vary '{LIMITS}' --out written", "written/choices.json"),
    "phase check": ("run small.toml --phase-check --out written", "written/summary.json"),
    "size": (
        "size small.toml --target 'utilization >= 50%' --max-seeds 4 --out written.png",
        "written.png",
    ),
    "sweep": ("sweep small.toml --seeds 1 --store written", "written/sweeps/*.json"),
    "compare": ("compare small.toml --seeds 2 --store written", "written/runs/*.parquet"),
    "compare --measured": (f"compare --measured '{MEASURED}' --out written.png", "written.png"),
    "model": (f"model small.toml --over '{LIMITS}' --out written.svg", "written.svg"),
    "results": ("results store --out written.csv", "written.csv"),
    "plot a run": ("plot small.toml", "small-*.png"),
    "plot a sweep": ("plot store --kind curves --out written.png", "written.png"),
    "import": (f"import '{CAPTURE}' --out written.csv", "written.csv"),
    "vectors": ("vectors write written reno", "written/*.json"),
    "traces of vectors": ("vectors run reno --qlog written", "written/*.sqlog"),
    "new": ("new written.toml --preset first", "written.toml"),
    "atlas": ("atlas run dsl-10Mbit-20-60ms-1-cubic-drop_tail --out written", "written/*.parquet"),
    "evaluate": ("evaluate reno --quick --seeds 2 --out written", "written/report.html"),
}
"""Every command that writes a result: its arguments, and what it writes. (`papers run` writes its
directory before it has anything to print.)"""
SLOW = ("atlas", "evaluate")


def shell(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of a shell, in which `tailroom` is the command; its progress is left out."""
    called = f'tailroom() {{ "{sys.executable}" -m tailroom "$@"; }}; {command}'
    ended = subprocess.run(
        ["bash", "-c", called], cwd=directory, capture_output=True, text=True, check=False
    )
    ended.stderr = re.sub(r"(?m)^after \d+ s: .*\n", "", ended.stderr)
    return ended


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep, for the commands that read one."""
    directory = tmp_path_factory.mktemp("store")
    limits = {"links.bottleneck.queue.limit": ["5 packets", "9 packets"]}
    sweep(Scenario.from_toml(SMALL), grid=limits, seeds=1, store=directory)
    return directory


@contextmanager
def without_reader() -> Iterator[None]:
    """Makes the streams for output a pipe whose reader has left, as a process gets them."""
    kept = os.dup(1), os.dup(2)
    reader, pipe = os.pipe()
    os.close(reader)
    os.dup2(pipe, 1)
    os.dup2(pipe, 2)
    os.close(pipe)
    with (
        open(1, "w", encoding="utf-8", closefd=False) as output,
        open(2, "w", encoding="utf-8", closefd=False) as errors,
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        streams.prepare()
        try:
            yield
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, descriptor in enumerate(kept, 1):
                os.dup2(descriptor, number)
                os.close(descriptor)


@pytest.mark.usefixtures("quick_models")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in WRITING]
)
def test_a_reader_that_leaves_costs_no_result(
    small: Path, store: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    arguments, written = WRITING[name]
    monkeypatch.chdir(small.parent)
    shutil.copytree(store, "store")
    with without_reader(), pytest.raises(SystemExit) as ended:
        app(shlex.split(arguments), prog_name="tailroom")
    assert ended.value.code == 0
    files = list(small.parent.glob(written))
    assert files
    assert all(file.stat().st_size for file in files)
    assert not list(small.parent.glob(".*.partial*"))


def test_a_search_without_an_answer_keeps_its_status(small: Path) -> None:
    # `true` ends before the first line is printed.
    size = "tailroom size small.toml --target 'utilization >= 50%' --target 'loss_fraction <= 1e-9'"
    ended = shell(f"{size} --max-seeds 4 2>&1 | true; exit ${{PIPESTATUS[0]}}", small.parent)
    assert (ended.returncode, ended.stderr) == (4, "")


WRONG_ROW = "40000 5m 1 2 40000 0\n"
JUDGING = {
    "headroom": ("headroom --check rows.ini", 1),
    "vectors": ("vectors check vectors --against none.json", 1),
}
"""Commands that only print, with the status of an answer that is a fault."""


@pytest.mark.parametrize("name", JUDGING)
@pytest.mark.parametrize("reader", ["leaves", pytest.param("is full", marks=NEEDS_PROC)])
def test_a_judgement_keeps_its_status_without_a_reader(
    tmp_path: Path, tailroom: Tailroom, name: str, reader: str
) -> None:
    command, status = JUDGING[name]
    (tmp_path / "rows.ini").write_text(WRONG_ROW, encoding="utf-8")
    assert tailroom("vectors", "write", tmp_path / "vectors", "reno").status == 0
    nothing: dict[str, object] = {
        vector.id: {} for vector in all_vectors() if vector.set_name == "reno"
    }
    results = json.dumps({"implementation": "none", "results": nothing})
    (tmp_path / "none.json").write_text(results, encoding="utf-8")
    if reader == "leaves":
        # `true` ends before the first line is printed.
        ended = shell(f"tailroom {command} 2>&1 | true; exit ${{PIPESTATUS[0]}}", tmp_path)
        assert (ended.returncode, ended.stderr) == (status, "")
    else:
        ended = shell(f"tailroom {command} > /dev/full", tmp_path)
        assert ended.returncode == 1
        assert "standard output: No space left on device" in ended.stderr
        assert "Traceback" not in ended.stderr


@NEEDS_PROC
def test_results_are_written_before_a_full_device_ends_the_printing(small: Path) -> None:
    ended = shell("tailroom run small.toml --out written > /dev/full", small.parent)
    assert ended.returncode == 1
    assert ended.stderr == (
        "error: standard output: No space left on device; the answer is incomplete\n"
    )
    assert (small.parent / "written" / "summary.json").is_file()


def test_an_answer_that_cannot_be_written_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_path: Path) -> None:
        raise OSError("full")

    with output_file(tmp_path / "x.csv") as output, pytest.raises(OutputError):
        write_and_print(output, full, lambda: print("the answer"))
    assert capsys.readouterr().out == "the answer\n"


@pytest.mark.parametrize("closing", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["run small.toml --json", "sweep small.toml --seeds 1"])
def test_a_closed_stream_changes_nothing_else(small: Path, closing: str, command: str) -> None:
    ended = shell(f"tailroom {command} {closing}", small.parent)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ("utilization" in ended.stdout) == (not closing.count(">&-") or closing == "2>&-")


def test_files_do_not_take_the_place_of_closed_streams(small: Path, tailroom: Tailroom) -> None:
    ended = shell("tailroom run small.toml --out closed <&- >&- 2>&-", small.parent)
    assert ended.returncode == 0
    assert tailroom("run", small, "--out", small.parent / "open").status == 0
    closed, open_ = (
        {file.name: file.read_bytes() for file in (small.parent / name).glob("*.[pt]*")}
        for name in ("closed", "open")
    )
    assert closed == open_


def test_an_error_with_closed_standard_error_is_not_printed_elsewhere(small: Path) -> None:
    ended = shell("tailroom run nothing.toml 2>&-", small.parent)
    assert (ended.returncode, ended.stdout) == (2, "")


def test_a_closed_standard_input_is_an_empty_one(small: Path) -> None:
    ended = shell("tailroom run - <&-", small.parent)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: stdin: duration: is missing")


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        ("run small.toml", ("0", "00", "")),
        ("list", ("0",)),
        ("model small.toml --model sawtooth", ("0",)),
        ("atlas plan", ("0",)),
    ],
)
def test_no_columns_means_that_the_width_is_not_known(
    small: Path, command: str, columns: tuple[str, ...]
) -> None:
    def lines(setting: str) -> list[str]:
        return shell(f"{setting}; tailroom {command}", small.parent).stdout.splitlines()[:5]

    known = lines("unset COLUMNS LINES")
    assert any(known)
    for value in columns:
        assert lines(f"export COLUMNS={value} LINES={value}") == known
