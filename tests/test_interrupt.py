"""Ctrl-C: the command stops at once, says so in one line and leaves nothing behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

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
