"""`--pcap`, `--packets` and `--qlog` that fail: told early, nothing half-written, nothing lost."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tailroom.export import pcapng
from tests.conftest import SMALL, Printed, Tailroom
from tests.ctrl_c import UNDER_WAY, interrupt, wait_until

ENDLESS = ("--set", f"duration={UNDER_WAY}", "--to", "1 s")
"""No test waits for this run."""
AT = ("--at", "links.bottleneck")
DYNAMIC = """
[flows.web]
path = ["bottleneck"]
congestion = "reno"
rtt = "20 ms"
source = { kind = "finite_flows", load = 0.1, size = "50 kB" }
[flows.alone]
path = ["bottleneck"]
source = { kind = "poisson", rate = "100 kbit/s" }
"""
BACK = """
[links.back]
rate = "1 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
"""


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that find no place are rescued into the directory of the test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.mark.parametrize("option", ["--pcap", "--packets"])
@pytest.mark.parametrize("wrong", ["is a directory", "is not a directory", "pipe", "device"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    tailroom: Tailroom, small: Path, tmp_path: Path, option: str, wrong: str
) -> None:
    (tmp_path / "taken").mkdir()
    os.mkfifo(tmp_path / "pipe")
    there = names(tmp_path)
    place = {
        "is a directory": tmp_path / "taken",
        "is not a directory": tmp_path / "nowhere" / "run.x",
        "pipe": tmp_path / "pipe",
        "device": Path(os.devnull),
    }[wrong]
    ended = tailroom("run", small, option, place, *AT, *ENDLESS)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {place}: ")
    assert wrong in ended.errors
    assert ended.errors.count("\n") == 1
    assert names(tmp_path) == there
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the system has no /proc")
@pytest.mark.parametrize("option", ["--pcap", "--packets", "--qlog"])
def test_a_directory_in_which_nobody_may_write_is_refused_before_the_run(
    tailroom: Tailroom, small: Path, option: str
) -> None:
    place = Path("/proc/self/run")
    more = () if option == "--qlog" else AT
    ended = tailroom("run", small, option, place, *more, *ENDLESS)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {place}: cannot be written: ")


def test_a_directory_of_traces_that_has_content_is_refused_before_the_run(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    ended = tailroom("run", small, "--qlog", tmp_path, *ENDLESS)
    assert ended.status == 2
    assert "holds files already" in ended.errors
    assert names(tmp_path) == ["small.toml"]


def test_colliding_outputs_and_flows_without_packets_are_refused_before_the_run(
    refused: Printed, tmp_path: Path
) -> None:
    (tmp_path / "dynamic.toml").write_text(SMALL + DYNAMIC + BACK, encoding="utf-8")
    refused("packet_files")


def test_flows_that_arrive_and_depart_have_packets_under_the_name_of_their_group(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    path, table = tmp_path / "scenario.toml", tmp_path / "run.parquet"
    path.write_text(SMALL + DYNAMIC, encoding="utf-8")
    ended = tailroom("run", path, "--packets", table, *AT, "--only-flows", "web")
    assert (ended.status, ended.errors) == (0, "")
    packets = pq.read_table(table)
    assert packets["flow"].unique().to_pylist() == ["web"]
    assert len(packets["connection"].unique()) > 5


FULL = "ulimit -f 100"
"""A shell in which a file has at most 100 KiB: a run begins, and its capture does not fit."""


def in_shell(line: str, directory: Path) -> subprocess.CompletedProcess[str]:
    called = f'tailroom() {{ "{sys.executable}" -m tailroom "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", called],
        cwd=directory,
        env={**os.environ, "TMPDIR": str(directory)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_capture_that_does_not_fit_leaves_no_part_and_the_other_outputs_are_whole(
    small: Path, tmp_path: Path
) -> None:
    """The capture has 100 bytes a packet, about 3,300 packets; the table of a second is small."""
    (tmp_path / "run.pcapng").write_text("whole")
    packets = "--packets run.parquet --at links.bottleneck --from '1 s'"
    ended = in_shell(
        f"{FULL}; tailroom run small.toml --json --pcap run.pcapng {packets}", tmp_path
    )
    assert ended.returncode == 1
    assert ended.stdout.startswith('{\n  "engine_version"')
    assert ended.stderr == (
        "error: run.pcapng: cannot be written: File too large; nothing was kept\n"
    )
    assert names(tmp_path) == ["run.parquet", "run.pcapng", "small.toml"]
    assert (tmp_path / "run.pcapng").read_text() == "whole"
    assert pq.read_table(tmp_path / "run.parquet").num_rows > 2_000


def test_traces_that_do_not_fit_leave_no_part(small: Path, tmp_path: Path) -> None:
    ended = in_shell(f"{FULL}; tailroom run small.toml --qlog traces", tmp_path)
    assert ended.returncode == 1
    assert "utilization" in ended.stdout
    assert ended.stderr.endswith("traces: cannot be written: File too large; nothing was kept\n")
    assert ended.stderr.count("\n") == 1
    assert names(tmp_path) == ["small.toml"]


def test_each_output_that_cannot_be_written_has_a_line(small: Path, tmp_path: Path) -> None:
    files = "--pcap run.pcapng --packets run.parquet --at links.bottleneck"
    ended = in_shell(f"{FULL}; tailroom run small.toml {files} --set duration='40 s'", tmp_path)
    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == ["run.pcapng", "run.parquet"]
    assert names(tmp_path) == ["small.toml"]


HALF_WRITTEN = "interrupted: the answer is complete, but not all of it is written; to write it, "


def interrupted_after(number: int) -> Iterator[None]:
    """A generator that raises as Ctrl-C does."""
    for _ in range(number):
        yield
    raise KeyboardInterrupt


def test_ctrl_c_while_the_capture_is_written_leaves_what_was_there(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet, written = pcapng.packet, interrupted_after(1_000)

    def counted(*arguments: Any, **more: Any) -> bytes:
        next(written)
        return packet(*arguments, **more)

    monkeypatch.setattr(pcapng, "packet", counted)
    (tmp_path / "run.pcapng").write_text("whole")
    files = ("--pcap", tmp_path / "run.pcapng", "--packets", tmp_path / "run.parquet")
    ended = tailroom("run", small, "--json", *files, *AT)
    assert ended.status == 130
    assert ended.errors.startswith(HALF_WRITTEN)
    assert ended.output.startswith('{\n  "engine_version"')
    assert names(tmp_path) == ["run.pcapng", "small.toml"]
    assert (tmp_path / "run.pcapng").read_text() == "whole"


def test_ctrl_c_while_a_capture_is_rescued_leaves_nothing(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packet, calls = pcapng.packet, iter(range(10_000))

    def fails_then_stops(*arguments: Any, **more: Any) -> bytes:
        call = next(calls)
        if call == 100:
            raise OSError(28, "No space left on device")
        if call == 200:
            raise KeyboardInterrupt
        return packet(*arguments, **more)

    monkeypatch.setattr(pcapng, "packet", fails_then_stops)
    ended = tailroom("run", small, "--pcap", tmp_path / "run.pcapng", *AT)
    assert ended.status == 130
    assert ended.errors.startswith(HALF_WRITTEN)
    assert names(tmp_path) == ["small.toml"]


@pytest.mark.parametrize("option", ["--pcap", "--qlog"])
def test_ctrl_c_during_the_run_leaves_what_was_there(
    small: Path, tmp_path: Path, option: str
) -> None:
    kept = ["small.toml"]
    if option == "--pcap":
        (tmp_path / "run").write_text("whole")
        kept.append("run")
    more = () if option == "--qlog" else AT
    outputs = (option, "run", *more, "--out", "out")
    line = [sys.executable, "-m", "tailroom", "run", small, *outputs, *ENDLESS]
    with subprocess.Popen(
        [str(word) for word in line],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_until(lambda: list(tmp_path.glob(".out.*")), process)
        time.sleep(0.5)
        output, errors = interrupt(process)
    assert (process.returncode, output, errors) == (130, "", "interrupted\n")
    assert names(tmp_path) == sorted(kept)


@pytest.mark.parametrize("suffix", ["pcapng", "parquet"])
def test_a_result_that_cannot_save_its_packets_leaves_no_file(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    span = {"links.bottleneck.arrival_log": {"from": "0 s", "to": "4 s"}}
    result = tr.run(small, set=span)
    save = {"pcapng": result.save_pcap, "parquet": result.save_packets}[suffix]

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tailroom.export.pcapng.packet", full)
        patch.setattr("pyarrow.parquet.write_table", full)
        with pytest.raises(OSError, match="No space"):
            save(tmp_path / f"run.{suffix}")
    assert names(tmp_path) == ["small.toml"]
    save(tmp_path / f"run.{suffix}")
    before = (tmp_path / f"run.{suffix}").read_bytes()
    with pytest.raises(FileExistsError):
        save(tmp_path / f"run.{suffix}")
    assert (tmp_path / f"run.{suffix}").read_bytes() == before
