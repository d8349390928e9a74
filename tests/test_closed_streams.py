"""A reader that leaves, or a closed stream, costs no result; a terminal may have no width."""

import subprocess
import sys
from pathlib import Path

import pytest

from tailroom.cli.answer import write_and_print
from tailroom.errors import OutputError
from tailroom.storage.output import output_file

LIMITS = "links.bottleneck.queue.limit=5 packets,9 packets"
CAPTURE = Path(__file__).parent / "captures" / "loopback.pcap"
MEASURED = Path(__file__).parent / "measurements" / "simulated.flent.gz"
NEEDS_PROC = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="the system has no /dev/full"
)

WRITING = {
    "run": ("run small.toml --out written", "written/summary.json"),
    "run --json": ("run small.toml --json --out written", "written/summary.json"),
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
    "new": ("new written.toml --preset first", "written.toml"),
    "atlas": ("atlas run dsl-10Mbit-20-60ms-1-cubic-drop_tail --out written", "written/*.parquet"),
    "evaluate": ("evaluate reno --quick --seeds 2 --out written", "written/report.html"),
}
"""Every command that writes a result: its arguments, and what it writes. (`papers run` writes its
directory before it has anything to print.)"""
SLOW = ("atlas", "evaluate")


def shell(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of a shell, in which `tailroom` is the command."""
    called = f'tailroom() {{ "{sys.executable}" -m tailroom "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", called], cwd=directory, capture_output=True, text=True, check=False
    )


@pytest.fixture
def store(small: Path, request: pytest.FixtureRequest) -> Path:
    """A sweep beside the scenario, for the commands that read one."""
    directory = small.parent / "store"
    if "store" in WRITING[request.getfixturevalue("name")][0].split():
        made = shell(
            f"tailroom sweep small.toml --store store --grid '{LIMITS}' --seeds 1", small.parent
        )
        assert made.returncode == 0
    return directory


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in WRITING]
)
def test_a_reader_that_leaves_costs_no_result(small: Path, name: str) -> None:
    arguments, written = WRITING[name]
    # `true` ends before the first line is printed.
    ended = shell(f"tailroom {arguments} 2>&1 | true; exit ${{PIPESTATUS[0]}}", small.parent)
    assert (ended.returncode, ended.stderr) == (0, "")
    files = list(small.parent.glob(written))
    assert files
    assert all(file.stat().st_size for file in files)
    assert not list(small.parent.glob(".*.partial*"))


def test_a_search_without_an_answer_keeps_its_status(small: Path) -> None:
    size = "tailroom size small.toml --target 'utilization >= 50%' --target 'loss_fraction <= 1e-9'"
    ended = shell(f"{size} --max-seeds 4 | true; exit ${{PIPESTATUS[0]}}", small.parent)
    assert ended.returncode == 4


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


def test_files_do_not_take_the_place_of_closed_streams(small: Path) -> None:
    for name, closing in (("closed", "<&- >&- 2>&-"), ("open", "")):
        ended = shell(f"tailroom run small.toml --out {name} {closing}", small.parent)
        assert ended.returncode == 0
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


@pytest.mark.parametrize("columns", ["0", "00", ""])
@pytest.mark.parametrize("command", ["run small.toml", "list", "model small.toml", "atlas plan"])
def test_no_columns_means_that_the_width_is_not_known(
    small: Path, command: str, columns: str
) -> None:
    unknown = shell(f"COLUMNS={columns} LINES={columns} tailroom {command}", small.parent)
    without = shell(f"unset COLUMNS LINES; tailroom {command}", small.parent)
    lines = [text.stdout.splitlines()[:5] for text in (unknown, without)]
    assert lines[0] == lines[1]
    assert any(lines[0])
