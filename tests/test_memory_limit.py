"""A run takes no more memory than `memory_limit` allows, whatever an event or a file asks for."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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


FLOOD = """
title = "more flows than anybody can serve"
duration = "1 s"
memory_limit = "{limit_mb} MB"
[links.b]
rate = "100 Gbit/s"
delay = "2 ms"
queue = {queue}
[flows.f]
path = ["b"]
rtt = "20 ms"
{flow}
"""
MOST_BEYOND_MB = 64
"""What a run may take beyond its limit."""


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
        ("WINDOW 1e9", 3, "on_ack returned 1000000000; a window is"),
        ("WINDOW 1e300", 3, "on_ack returned 1e300; a window is"),
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


MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A small process: the peak of a child begins with the memory of its parent."""


def peak_mb(scenario: Path) -> tuple[float, str]:
    """Runs a scenario; the largest resident memory of the process in MB, and what it printed."""
    command = [sys.executable, "-c", MEASURE, sys.executable, "-m", "tailroom", "run"]
    done = subprocess.run(
        [*command, str(scenario)], capture_output=True, text=True, check=True, timeout=300
    )
    return float(done.stdout) / 1e3, done.stderr


@pytest.fixture(scope="module")
def idle_mb(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Memory of a command that refuses its scenario at once."""
    path = tmp_path_factory.mktemp("idle") / "scenario.toml"
    path.write_text("duration = 1")
    return peak_mb(path)[0]


@pytest.mark.parametrize(
    "queue",
    ['{ kind = "drop_tail", limit = "50 packets" }', '{ kind = "fair", limit = "9000 packets" }'],
    ids=["drop_tail", "fair"],
)
@pytest.mark.parametrize(
    "flow",
    [
        'congestion = "bbr3"\nsource = { kind = "finite_flows", load = 40, size = "10 kB" }',
        'congestion = "reno"\nsource = { kind = "finite_flows", load = 40, size = "10 kB" }',
        'source = { kind = "streaming", load = 40, rate = "1 Mbit/s", duration = "1 s" }',
        'congestion = "cubic"\n'
        'source = { kind = "web", model = "ieee80216m", pages = 5, load = 40 }',
    ],
    ids=["bbr3", "reno", "streaming", "web"],
)
def test_flows_that_pile_up_stay_within_the_limit(
    tmp_path: Path, idle_mb: float, flow: str, queue: str
) -> None:
    limit_mb = 300
    path = tmp_path / "scenario.toml"
    path.write_text(FLOOD.format(limit_mb=limit_mb, flow=flow, queue=queue))
    used_mb, errors = peak_mb(path)
    assert f"more than memory_limit ({limit_mb}000000 bytes)" in errors
    assert used_mb <= idle_mb + limit_mb + MOST_BEYOND_MB


def test_a_small_file_with_millions_of_flows_is_refused(tmp_path: Path, idle_mb: float) -> None:
    rows = 20_000_000
    columns = {"start_s": np.zeros(rows), "bytes": np.full(rows, 1_000)}
    pq.write_table(pa.table(columns), tmp_path / "flows.parquet", compression="zstd")
    assert (tmp_path / "flows.parquet").stat().st_size < 1_000_000
    path = tmp_path / "scenario.toml"
    listed = 'congestion = "reno"\nsource = { kind = "trace", file = "flows.parquet" }'
    queue = '{ kind = "drop_tail", limit = "50 packets" }'
    path.write_text(FLOOD.format(limit_mb=100, flow=listed, queue=queue))
    used_mb, errors = peak_mb(path)
    assert "line 13, flows.f.source.file" in errors
    assert "raise memory_limit, or give a shorter file" in errors
    assert used_mb <= idle_mb + 100 + MOST_BEYOND_MB
