"""Sweeps in which one write, fsync, rename or mkdir fails, or that are killed in front of it, and
what must be true afterwards."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import tailroom as tr
from tests.killed_sweeps import GRID, SEEDS, check_files, expected, rows_of

SOURCE = Path(__file__).with_name("failing_calls.c")
LIMITS = 'links.bottleneck.queue.limit="2 packets", "5 packets", "10 packets", "20 packets"'
SWEEP = ("--grid", LIMITS, "--seeds", str(SEEDS), "--workers", "1", "--series")
CAN_FAIL = sys.platform.startswith("linux") and shutil.which("cc") is not None
"""Whether calls can be made to fail here: on Linux, with a C compiler."""


def build(directory: Path) -> Path:
    """Compiles the library that lets a call fail."""
    built = directory / "failing_calls.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(built), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return built


def failing(library: Path, below: Path, number: int, *, kills: bool = False) -> dict[str, str]:
    """The environment of a process in which a call below a directory fails, or kills.

    The process writes its number of such calls next to the directory.
    """
    return {
        **os.environ,
        "LD_PRELOAD": str(library),
        "FAIL_BELOW": str(below),
        "FAIL_CALL": str(number),
        "FAIL_COUNTS": str(below.with_suffix(".counts")),
        **({"FAIL_KILLS": "1"} if kills else {}),
    }


def calls_in(below: Path) -> int:
    """Number of calls of the process that writes below a directory."""
    return max(map(int, below.with_suffix(".counts").read_text().split()))


def sweep(
    scenario: Path, store: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Sweeps with a call that fails."""
    command = [sys.executable, "-m", "tailroom", "sweep", str(scenario), "--store", str(store)]
    return subprocess.run(
        [*command, *SWEEP], env=environment, capture_output=True, text=True, check=False
    )


def check_every(
    scenario: Path, directory: Path, library: Path, numbers: Iterable[int], *, kills: bool = False
) -> None:
    """Lets each of these calls fail in a sweep of its own, or kill it, and finishes the sweep."""
    right = expected(scenario, directory / "undisturbed")
    for number in numbers:
        store = directory / f"store-{number}"
        ended = sweep(scenario, store, failing(library, store, number, kills=kills))
        place = f"call {number}: {ended.stderr}"
        assert "Traceback" not in ended.stderr, place
        assert "bug in tailroom" not in ended.stderr, place
        # A machine that is slow now and fast then makes fewer calls, and the call may not come.
        is_told = re.search("^error", ended.stderr, re.MULTILINE) is not None
        assert ended.returncode in ((0, -signal.SIGKILL) if kills else (0, 1, 2)), place
        assert is_told == (ended.returncode > 0), place
        finished = check_files(store, right) if store.is_dir() else set()
        seen: list[tr.RunProgress] = []
        tr.sweep(scenario, store=store, grid=GRID, seeds=SEEDS, series=True, progress=seen.append)
        assert seen[-1].found == len(finished), place
        assert rows_of(store) == right, place
        shutil.rmtree(store)


def calls_of_a_sweep(scenario: Path, directory: Path, library: Path) -> int:
    """Number of calls of the process that writes."""
    store = directory / "counted"
    ended = sweep(scenario, store, failing(library, store, 0))
    assert ended.returncode == 0, ended.stderr
    return calls_in(store)
