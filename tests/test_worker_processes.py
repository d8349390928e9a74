"""Processes that perform runs end with the command, however it ends, and whatever they run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import SMALL
from tests.ctrl_c import START_S, wait_until

ENDLESS = """\
import os, time
from pathlib import Path

class Control:
    def on_ack(self, event):
        Path(__file__).with_name(f"at-work-{os.getpid()}").touch()
        while True:
            BODY

    def on_congestion(self, event):
        return event.cwnd_packets / 2
"""
END_S = 20.0
"""For processes to end; a loaded machine may need that."""


def start(directory: Path, body: str, *command: str) -> "subprocess.Popen[str]":
    """Starts a command whose controls never return, in a group of processes of its own."""
    (directory / "endless.py").write_text(ENDLESS.replace("BODY", body), encoding="utf-8")
    scenario = directory / "endless.toml"
    scenario.write_text(SMALL.replace('{ kind = "reno" }', '"endless:Control"'), encoding="utf-8")
    name, *options = command
    arguments = [sys.executable, "-m", "tailroom", name, str(scenario), *options, "--allow-code"]
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=directory,
        # Under nohup the tests ignore SIGHUP, and a command would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509
    )
    wait_until(lambda: len(workers(directory)) == 2, process)
    return process


def workers(directory: Path) -> list[int]:
    return [int(path.name.rpartition("-")[2]) for path in directory.glob("at-work-*")]


def is_running(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_for_end(directory: Path) -> None:
    deadline = time.monotonic() + END_S
    try:
        while any(map(is_running, workers(directory))):
            assert time.monotonic() < deadline, "the processes go on"
            time.sleep(0.02)
    finally:
        for process in filter(is_running, workers(directory)):
            os.kill(process, signal.SIGKILL)


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
SWEEP = ("sweep", "--seeds", "3", "--workers", "2", "--store", "store")


@linux
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_the_processes_of_a_killed_sweep_end(tmp_path: Path, sent: signal.Signals) -> None:
    with start(tmp_path, "pass", *SWEEP) as process:
        process.send_signal(sent)
        try:
            process.communicate(timeout=START_S)
        finally:
            process.kill()
    wait_for_end(tmp_path)


@linux
@pytest.mark.parametrize("body", ["pass", "time.sleep(100)"])
@pytest.mark.parametrize(
    "command",
    [SWEEP, ("size", "--target", "utilization >= 0.9", "--workers", "2", "--store", "store")],
    ids=["sweep", "size"],
)
def test_ctrl_c_to_the_command_alone_ends_controls_that_never_return(
    tmp_path: Path, command: tuple[str, ...], body: str
) -> None:
    with start(tmp_path, body, *command) as process:
        try:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    wait_for_end(tmp_path)
