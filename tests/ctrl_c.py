"""A command that gets Ctrl-C in the middle of its work."""

import signal
import subprocess
import time
from collections.abc import Callable

import pytest

START_S = 120.0
"""For the command to start and to do what is waited for; a loaded machine may need that."""
END_S = 30.0
"""For the command to end after Ctrl-C; the run alone would take minutes."""
UNDER_WAY = "2592000 s"
"""Simulated time of a run that nobody waits for: the longest that a scenario may have."""


def wait_until(there: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Waits for a sign of the work of a command; without it the command is killed."""
    deadline = time.monotonic() + START_S
    while not there():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"no sign of its work; it printed: {process.communicate()}")
        time.sleep(0.01)


def interrupt(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Sends Ctrl-C; what the command has printed at its end. A command that goes on is killed."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
