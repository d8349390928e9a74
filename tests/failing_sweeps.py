"""Sweeps of which one write, fsync, rename or mkdir fails, and what must be true afterwards."""

import os
import shutil
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


def sweep(
    scenario: Path, store: Path, library: Path, failing: int
) -> subprocess.CompletedProcess[str]:
    """Sweeps with a call that fails; counts the calls next to the store."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "FAIL_BELOW": str(store),
        "FAIL_CALL": str(failing),
        "FAIL_COUNTS": str(store.with_suffix(".counts")),
    }
    command = [sys.executable, "-m", "tailroom", "sweep", str(scenario), "--store", str(store)]
    return subprocess.run(
        [*command, *SWEEP], env=environment, capture_output=True, text=True, check=False
    )


def check_every(scenario: Path, directory: Path, library: Path, failing: Iterable[int]) -> None:
    """Lets each of these calls fail in a sweep of its own, and finishes the sweep after it."""
    right = expected(scenario, directory / "undisturbed")
    for number in failing:
        store = directory / f"store-{number}"
        ended = sweep(scenario, store, library, number)
        place = f"call {number}: {ended.stderr}"
        assert "Traceback" not in ended.stderr, place
        assert "bug in tailroom" not in ended.stderr, place
        assert (ended.returncode == 0) == (not ended.stderr.startswith("error")), place
        finished = check_files(store, right) if store.is_dir() else set()
        seen: list[tr.RunProgress] = []
        tr.sweep(scenario, store=store, grid=GRID, seeds=SEEDS, series=True, progress=seen.append)
        assert seen[-1].found == len(finished), place
        assert rows_of(store) == right, place
        shutil.rmtree(store)


def calls_of_a_sweep(scenario: Path, directory: Path, library: Path) -> int:
    """Number of calls of the process that writes."""
    store = directory / "counted"
    ended = sweep(scenario, store, library, 0)
    assert ended.returncode == 0, ended.stderr
    return max(map(int, store.with_suffix(".counts").read_text().split()))
