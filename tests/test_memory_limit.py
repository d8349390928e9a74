"""A run takes no more memory than `memory_limit` allows, whatever a single event asks for."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

# Python with its libraries maps about 1 GB; the packets below would take 2 GB.
ADDRESS_SPACE = 2_500_000_000

CONTROL = """
class Greedy:
    def __init__(self, window):
        self.window = window

    def on_ack(self, event):
        return self.window

    def on_congestion(self, event):
        return event.cwnd_packets / 2
"""

SCENARIO = """
title = "one event"
duration = "1 s"
memory_limit = "100 MB"
[links.b]
rate = "10 Mbit/s"
delay = "2 ms"
queue = {{ kind = "drop_tail", limit = "50 packets" }}
[flows.f]
path = ["b"]
rtt = "20 ms"
initial_ssthresh = 2
{flow}
"""


def run(directory: Path, flow: str) -> subprocess.CompletedProcess[str]:
    (directory / "greedy.py").write_text(CONTROL)
    (directory / "scenario.toml").write_text(SCENARIO.format(flow=flow))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))

    command = [sys.executable, "-m", "tailroom", "run", str(directory / "scenario.toml")]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=limit, timeout=300
    )


@pytest.mark.parametrize(
    ("flow", "status", "named"),
    [
        ('congestion = "reno"\ninitial_window = 90_000_000', 2, "smaller initial_window"),
        ('congestion = "reno"\ninitial_window = 1_000_000_000', 2, "initial_window"),
        ('congestion = { kind = "fixed_window", window = 9e7 }', 2, "smaller fixed window"),
        ('congestion = { kind = "fixed_window", window = 1e9 }', 2, "window"),
        ("WINDOW 1e9", 2, "on_ack returned 1000000000; a window is"),
        ("WINDOW 1e300", 2, "on_ack returned 1e300; a window is"),
        ("WINDOW 9e7", 1, "more than memory_limit (100000000 bytes)"),
    ],
)
@pytest.mark.usefixtures("code_allowed")
def test_a_window_that_memory_cannot_hold_ends_the_command(
    tmp_path: Path, flow: str, status: int, named: str
) -> None:
    if flow.startswith("WINDOW"):
        window = f"{{ window = {flow.split()[1]} }}"
        flow = (
            f'congestion = {{ kind = "custom", control = "greedy:Greedy", parameters = {window} }}'
        )
    ended = run(tmp_path, flow)
    assert ended.returncode == status, ended.stderr
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr
