"""Ctrl-C: the command stops at once, says so in one line and leaves nothing behind."""

import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tailroom as tr

PATIENCE_S = 20.0
"""For the command to start; a loaded machine may need seconds."""


def test_interrupt_stops_at_once(small: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tailroom", "run", str(small)]
    settings = ["--set", "duration=200000 s", "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        [*command, *settings], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not list(tmp_path.glob(".out.*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.5)
        assert process.poll() is None, "the run must still be under way"
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, errors = process.communicate(timeout=PATIENCE_S)
        took_s = time.monotonic() - sent
    assert process.returncode == 130
    assert errors == "interrupted\n"
    assert output == ""
    assert took_s < 2.0
    assert list(tmp_path.iterdir()) == [small]


def test_an_interrupted_sweep_shows_what_is_finished_and_how_to_go_on(
    small: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    command = ["sweep", str(small), "--store", str(store), "--seeds", "1", "--workers", "1"]
    # The first point takes an instant, the second longer than anybody waits.
    command += ["--grid", "duration=3 s, 200000 s"]
    with subprocess.Popen(
        [sys.executable, "-m", "tailroom", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not list(store.glob("runs/*.parquet")) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "\n3 s " in output
    assert "200000 s" not in output
    again = f"give the same command again: tailroom {shlex.join(command)}\n"
    assert errors == f"interrupted: 1 of 2 runs are kept; to continue, {again}"


def test_python_gets_what_an_interrupted_sweep_has_found(small: Path, tmp_path: Path) -> None:
    def stop(progress: tr.SweepProgress) -> None:
        if progress.done == 1:
            raise KeyboardInterrupt

    limits = ["5 packets", "20 packets"]
    grid = {"links.bottleneck.queue.limit": limits}
    with pytest.raises(KeyboardInterrupt) as raised:
        tr.sweep(small, tmp_path / "store", grid=grid, seeds=1, workers=1, progress=stop)
    assert isinstance(raised.value, tr.Interrupted)
    known = raised.value.known
    assert isinstance(known, tr.SweepResult)
    assert [len(rows) for rows in known.rows_by_point] == [1, 0]
    assert known.means("utilization")["runs"].to_pylist() == [1, 0]
