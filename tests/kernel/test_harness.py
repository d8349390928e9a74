"""Recordings of the kernel: they use the link fully, and leave nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ctrl_c import interrupt, wait_until
from validation.kernel import Experiment, harness, missing, record, recovery, summarize
from validation.kernel.harness import RecordingError, build

ROOT = Path(__file__).parents[2]
CUBIC = """\
duration = "5 s"
measure_from = "1 s"

[links.bottleneck]
rate = "20 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", limit = "1 bdp" }

[flows.cubic]
path = ["bottleneck"]
congestion = "cubic"
packet_size = "1500 B"
header_size = "52 B"
rtt = "40 ms"
"""

REQUESTS = """
[flows.requests]
path = ["bottleneck"]
congestion = "cubic"
packet_size = "1500 B"
header_size = "52 B"
rtt = "20 ms"
stop = "3 s"
source = { kind = "finite_flows", size = "14480 B", arrivals_per_second = 20 }
"""

needs_root = pytest.mark.skipif(missing() is not None, reason=missing() or "nothing is missing")


def traces() -> dict[str, list[str]]:
    """What recordings could leave behind, outside their own processes."""
    directories = [Path("/sys/class/net"), Path("/run/netns"), Path("/var/run/netns")]
    return {str(path): sorted(os.listdir(path)) for path in directories if path.exists()}


def children(parent: int) -> list[int]:
    """The children of a process that are links."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = stat.read_text(encoding="utf-8").rsplit(")", 1)
        except OSError:
            continue  # it has just ended
        if "(tailroom-kernel" in name and int(fields.split()[1]) == parent:
            found.append(int(stat.parent.name))
    return found


def has_ended(process: int) -> bool:
    return not Path(f"/proc/{process}").exists()


@contextmanager
def long_recording(directory: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that records for a minute, and its link, once packets flow."""
    scenario = directory / "long.toml"
    scenario.write_text(CUBIC.replace('"5 s"', '"60 s"'), encoding="utf-8")
    build()
    command = [sys.executable, "-m", "validation.kernel", str(scenario)]
    with subprocess.Popen(
        [*command, "--out", str(directory / "out")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(directory)},
    ) as process:
        # A plan is made before the run; only the run has two hosts and two threads.
        def running() -> list[int]:
            links = children(process.pid)
            return [link for link in links if len(list(Path(f"/proc/{link}/task").glob("*"))) > 1]

        wait_until(running, process)
        yield process, running()[0]


@needs_root
@pytest.mark.slow
def test_a_cubic_flow_fills_the_link_and_repairs_every_loss(tmp_path: Path) -> None:
    before = traces()
    experiment = Experiment("cubic", CUBIC, repetitions=1)
    path = record(experiment, tmp_path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    (run,) = stored["runs"]
    summary = summarize(run)
    if not summary.is_valid:
        pytest.skip(f"this machine is too busy: {run['invalid']}")
    assert 0.9 < summary.utilization <= 1.001
    (flow,) = summary.flows
    assert flow.share == 1.0
    assert flow.drops_packets > 0
    assert summary.unrepaired_packets <= 2
    assert run["kernel"] == os.uname().release
    assert run["settings"]["tcp_no_metrics_save"] == "1"
    samples = run["flows"][0]["samples"]
    assert len(samples["time_s"]) > 50
    # The RTT is the propagation before the queue builds up, and never below it.
    assert 40_000 <= min(rtt for rtt in samples["srtt_us"] if rtt > 0) < 45_000
    assert traces() == before
    assert children(os.getpid()) == []


@needs_root
@pytest.mark.slow
def test_requests_under_random_loss_complete_and_their_losses_are_repaired(tmp_path: Path) -> None:
    links, _ = CUBIC.split("[flows.cubic]")
    loss = 'loss = { kind = "bernoulli", probability = 0.05 }\n'
    scenario = links.rstrip() + "\n" + loss + REQUESTS
    path = record(Experiment("requests", scenario, repetitions=1, is_coarse=True), tmp_path)
    (run,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    if run["invalid"]:
        pytest.skip(f"this machine is too busy: {run['invalid']}")
    (flow,) = run["flows"]
    requests = flow["requests"]
    assert flow["is_complete"]
    assert len(requests["start_s"]) > 30
    # Ten packets need at least their transmission, a round trip, and nothing of the handshake.
    assert min(requests["transfer_us"]) > 20_000 + 10 * 600
    assert min(requests["handshake_us"]) > 20_000
    repairs = recovery(run)
    assert repairs.lost_packets > 0
    # Every lost packet was sent again; a tail loss probe may repeat one that was not lost.
    assert repairs.sent_again_packets >= repairs.lost_packets
    assert run["directions"][0]["drop_times_s"] == []
    assert flow["received_bytes"] == 14_480 * len(requests["start_s"])


@needs_root
@pytest.mark.slow
def test_writes_to_an_open_connection_are_timed_from_when_they_are_due(tmp_path: Path) -> None:
    links, flow = CUBIC.split("[flows.cubic]")
    source = (
        'source = { kind = "objects", size = "14480 B", arrivals = ["1 s", "1.001 s", "3 s"] }\n'
    )
    scenario = f"{links}[flows.cubic]{flow}{source}"
    path = record(Experiment("writes", scenario, repetitions=1, is_coarse=True), tmp_path)
    (run,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    if run["invalid"]:
        pytest.skip(f"this machine is too busy: {run['invalid']}")
    (flow,) = run["flows"]
    writes = flow["writes"]
    assert flow["received_bytes"] == 3 * 14_480
    assert (writes["start_s"], writes["size_bytes"]) == ([1, 1.001, 3], [14_480] * 3)
    # Ten packets of 0.6 ms leave at once; the second write waits for the ACKs of the first.
    first, second, third = (time / 1e3 for time in writes["completion_us"])
    assert 45 < first < 50
    assert 80 < second < 100
    assert 45 < third < 50


@needs_root
@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_recording_leaves_nothing(tmp_path: Path, signal_number: int) -> None:
    before = traces()
    with long_recording(tmp_path) as (process, link):
        if signal_number == signal.SIGINT:
            _, errors = interrupt(process)
        else:
            process.send_signal(signal_number)
            _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "interrupted\n")
    assert has_ended(link)
    assert traces() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.toml"]


@needs_root
@pytest.mark.slow
def test_a_killed_recording_takes_its_link_along(tmp_path: Path) -> None:
    before = traces()
    with long_recording(tmp_path) as (process, link):
        process.kill()
        process.communicate()
    deadline = time.monotonic() + 30
    while not has_ended(link) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert has_ended(link)
    assert traces() == before


@needs_root
@pytest.mark.slow
def test_what_the_kernel_lacks_is_named(tmp_path: Path) -> None:
    experiment = Experiment("lacking", CUBIC, controls={"cubic": "none_such"})
    with pytest.raises(RecordingError, match="lacks the congestion controls none_such"):
        record(experiment, tmp_path)
    with pytest.raises(RecordingError, match=r"\[flows.cubic\]"):
        record(Experiment("wrong", CUBIC.replace('"cubic"', '"vegas"', 1)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_the_machine_lacks_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr("os.geteuid", lambda: 1_000)
    monkeypatch.setattr(harness, "PROBE", "print('the device /dev/net/tun')")
    lacks = "cargo, which builds the link, the rights of root, the device /dev/net/tun"
    assert missing() == f"recordings of the kernel need {lacks}"


@pytest.mark.parametrize(("valid_attempt", "rejected"), [(1, 0), (3, 2), (9, 2)])
def test_an_invalid_run_is_repeated_up_to_three_times(
    valid_attempt: int, rejected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = []

    def run(_experiment: Experiment, seed: int, _options: object) -> dict[str, object]:
        attempts.append(seed)
        return {"invalid": [] if len(attempts) == valid_attempt else [f"fault {len(attempts)}"]}

    monkeypatch.setattr(harness, "_run", run)
    monkeypatch.setattr(harness, "missing", lambda: None)
    monkeypatch.setattr(harness, "_missing_controls", lambda _experiment: None)
    path = record(Experiment("faulty", CUBIC, repetitions=1), tmp_path)
    (result,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    assert attempts == [1] * (rejected + 1)
    assert result["rejected"] == [[f"fault {at + 1}"] for at in range(rejected)]
    assert result["invalid"] == ([] if valid_attempt <= 3 else ["fault 3"])


def test_an_experiment_is_recorded_again_only_if_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    def run(_experiment: Experiment, seed: int, _options: object) -> dict[str, object]:
        seeds.append(seed)
        return {"invalid": []}

    monkeypatch.setattr(harness, "_run", run)
    monkeypatch.setattr(harness, "missing", lambda: None)
    monkeypatch.setattr(harness, "_missing_controls", lambda _experiment: None)
    record(Experiment("same", CUBIC, repetitions=2), tmp_path)
    record(Experiment("same", CUBIC, repetitions=2), tmp_path)
    assert seeds == [1, 2]
    record(Experiment("same", CUBIC, {"cubic": "bbr"}, repetitions=1), tmp_path)
    assert seeds == [1, 2, 1]


def test_only_invalid_runs_of_a_recorded_experiment_are_recorded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = []

    def run(_experiment: Experiment, seed: int, _options: object) -> dict[str, object]:
        seeds.append(seed)
        return {"invalid": ["busy"] if seed == 2 and len(seeds) <= 4 else [], "at": len(seeds)}

    monkeypatch.setattr(harness, "_run", run)
    monkeypatch.setattr(harness, "missing", lambda: None)
    monkeypatch.setattr(harness, "_missing_controls", lambda _experiment: None)
    experiment = Experiment("busy", CUBIC)
    for _ in range(2):
        path = record(experiment, tmp_path)
    assert seeds == [1, 2, 2, 2, 3, 2]
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    assert [run["at"] for run in runs] == [1, 6, 5]


def test_the_summary_compares_drops_with_retransmissions() -> None:
    def counts(sent_bytes: int, drops: int, losses: int) -> dict[str, int]:
        return {
            "departures_bytes": sent_bytes,
            "drops_packets": drops,
            "random_losses_packets": losses,
            "marks_packets": 0,
        }

    there = [counts(3_000_000, 5, 1), counts(1_000_000, 2, 0)]
    run = {
        "invalid": [],
        "measured_from_s": 1.0,
        "measured_to_s": 3.0,
        "stalls": {"total_s": 0.01},
        "directions": [
            {
                "utilization": 0.5,
                "queue_delay_s_mean": 0.001,
                "queue_delay_s_p99": 0.002,
                "measured": there,
                "whole": there,
            },
            {"measured": [counts(0, 0, 0)] * 2, "whole": [counts(0, 0, 0)] * 2},
        ],
        "flows": [
            {"name": "a", "control": "reno", "direction": 0, "retransmissions_packets": 6},
            {"name": "b", "control": "bbr", "direction": 0, "retransmissions_packets": 5},
        ],
    }
    summary = summarize(run)
    assert summary.is_valid
    assert [flow.share for flow in summary.flows] == [0.75, 0.25]
    assert [flow.throughput_bps for flow in summary.flows] == [12e6, 4e6]
    assert summary.unrepaired_packets == 3
