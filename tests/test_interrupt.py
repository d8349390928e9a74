"""Ctrl-C: the command stops at once, says so in one line and leaves nothing behind."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.studies.prediction import Answer, ask
from tailroom.traffic_import.capture import import_capture
from tests.conftest import Finished, Tailroom
from tests.ctrl_c import START_S, UNDER_WAY, interrupt, wait_until
from tests.test_given_files import DIRECTORIES, READING


def test_interrupt_stops_at_once(small: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tailroom", "run", str(small)]
    settings = ["--set", f"duration={UNDER_WAY}", "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        [*command, *settings], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until(lambda: list(tmp_path.glob(".out.*")), process)
        time.sleep(0.5)
        output, errors = interrupt(process)
    assert process.returncode == 130
    assert errors == "interrupted\n"
    assert output == ""
    assert list(tmp_path.iterdir()) == [small]


def _writes(pipe: Path, writers: list[int]) -> bool:
    """Opens a pipe to write, once somebody has opened it to read."""
    with suppress(OSError):
        writers.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    return bool(writers)


def _commands_of_files() -> list[tuple[str, str]]:
    names = [(command, name) for command, files in READING.items() for name in files]
    return [(command, name) for command, name in names if (command, name) not in NOT_OPENED]


NOT_OPENED = {
    *((command, "given") for command in DIRECTORIES),
    ("atlas run --keep", "lookup.csv"),
    ("plot place", "flow_series.parquet"),
}
"""Arguments that are refused before the file is read."""
NAMED_IN_SCENARIO = ("flows.csv", "flows.parquet", "sizes.csv", "up.trace")
QUICK = ("run scenarios", "import path")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        pytest.param(*one, marks=() if one[0] in QUICK else pytest.mark.slow)
        for one in _commands_of_files()
    ],
)
def test_a_pipe_into_which_nobody_writes_is_refused_or_left_at_once(
    tmp_path: Path, command: str, name: str
) -> None:
    pipe = tmp_path / "place" / name
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "tailroom", *map(str, READING[command][name](pipe))]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        if name in NAMED_IN_SCENARIO:
            _, errors = process.communicate(timeout=START_S)
            assert process.returncode == 2
            assert f'"{name}": it is a pipe or a device' in errors
            return
        writers: list[int] = []
        wait_until(lambda: _writes(pipe, writers), process)
        _, errors = interrupt(process)
        os.close(writers[0])
    assert process.returncode == 130
    assert errors.endswith("interrupted\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_capture_may_come_through_a_slow_pipe(tmp_path: Path) -> None:
    """As of `<(zcat capture.pcap.gz)`."""
    content = (Path(__file__).parent / "captures" / "web.pcap").read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with pipe.open("wb", buffering=0) as file:
            for start in range(0, len(content), len(content) // 3):
                file.write(content[start : start + len(content) // 3])
                time.sleep(0.1)

    writer = threading.Thread(target=write)
    writer.start()
    through_pipe = import_capture(pipe)
    writer.join()
    assert through_pipe.flows.equals(
        import_capture(Path(__file__).parent / "captures" / "web.pcap").flows
    )


LATE = """
duration = "720 h"
[links.b]
rate = "1 Gbit/s"
delay = "2 ms"
queue = { kind = "drop_tail", limit = "50 packets" }
[flows.f]
path = ["b"]
congestion = "reno"
rtt = "20 ms"
start = "4 h"
"""
SOON_S = 8.0
"""For Ctrl-C to act on a loaded machine; an hour of simulated time takes half a minute."""


def test_interrupt_acts_soon_after_hours_of_silence(tmp_path: Path) -> None:
    path = tmp_path / "late.toml"
    path.write_text(LATE)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "tailroom", "run", str(path), "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: list(tmp_path.glob(".out.*")), process)
        time.sleep(1.0)
        began = time.monotonic()
        _, errors = interrupt(process)
    assert time.monotonic() - began < SOON_S
    assert (process.returncode, errors) == (130, "interrupted\n")


GROUP = """
[flows.g{number}]
path = ["b"]
congestion = "cubic"
rtt = "20 ms"
"""


def test_ctrl_c_acts_while_the_engine_reads_many_groups(tmp_path: Path) -> None:
    text = LATE.partition("[flows.f]")[0]
    text += "".join(GROUP.format(number=number) for number in range(12_000))
    path = tmp_path / "many.toml"
    path.write_text(text)

    def read_s() -> float:
        """The CPU time of all threads, by the end of the reading or by Ctrl-C."""
        began = time.process_time()
        with suppress(KeyboardInterrupt):
            _ = tr.Scenario.of(path).handle
        return time.process_time() - began

    def interrupted_s() -> float:
        timer = threading.Timer(0.02, signal.raise_signal, [signal.SIGINT])
        timer.start()
        used_s = read_s()
        timer.join()
        return used_s

    whole_s = read_s()
    # On a loaded machine the thread that waits may wake up late.
    assert min(interrupted_s() for _ in range(3)) < whole_s / 2


def test_a_pipe_is_no_trace(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "scenario.toml"
    path.write_text(LATE.replace('rate = "1 Gbit/s"', 'trace = "pipe"'))
    with pytest.raises(tr.ScenarioError, match=r"links\.b\.trace: .* a pipe or a device"):
        tr.run(path)


def test_an_interrupted_sweep_shows_what_is_finished_and_how_to_go_on(
    small: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    command = ["sweep", str(small), "--store", str(store), "--seeds", "1", "--workers", "1"]
    # The first point takes an instant, the second longer than anybody waits.
    command += ["--grid", f"duration=3 s, {UNDER_WAY}", "--metric", "queue_packets_max"]
    with subprocess.Popen(
        [sys.executable, "-m", "tailroom", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_until(lambda: list(store.glob("runs/*.parquet")), process)
        output, errors = interrupt(process)
    assert process.returncode == 130
    assert "\n3 s " in output
    assert UNDER_WAY not in output
    # The table has the metric that was asked for.
    assert "queue_packets_max" in output
    assert "utilization" not in output
    again = f"give the same command again: tailroom {shlex.join(command)}\n"
    *plan, last = errors.splitlines(keepends=True)
    assert last == f"interrupted: 1 of 2 runs are kept; to continue, {again}"
    assert all(re.match(r"after \d+ s: [01] of 2 runs have ended", line) for line in plan)


def test_python_gets_what_an_interrupted_sweep_has_found(small: Path, tmp_path: Path) -> None:
    def stop(progress: tr.RunProgress) -> None:
        if progress.done == 1:
            raise KeyboardInterrupt

    limits = ["5 packets", "20 packets"]
    grid = {"links.bottleneck.queue.limit": limits}
    with pytest.raises(KeyboardInterrupt) as raised:
        tr.sweep(small, store=tmp_path / "store", grid=grid, seeds=1, workers=1, progress=stop)
    assert isinstance(raised.value, tr.Interrupted)
    known = raised.value.known
    assert isinstance(known, tr.SweepResult)
    assert [len(rows) for rows in known.rows_by_point] == [1, 0]
    assert known.means("utilization")["runs"].to_pylist() == [1, 0]
    # The second run was not performed.
    assert "2 points over links.bottleneck.queue.limit, 1 of 2 runs finished" in repr(known)


def pressed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def interrupted_in_picture(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch, *command: object
) -> Finished:
    """How a command ends after Ctrl-C while it saves a picture, of which a part is written."""

    def partly(_: object, path: Path, **__: object) -> None:
        path.write_bytes(b"the beginning")
        pressed()

    with monkeypatch.context() as patched:
        patched.setattr("matplotlib.figure.Figure.savefig", partly)
        patched.setattr("sys.argv", ["tailroom", *map(str, command)])
        ended = tailroom(*command)
    assert ended.status == 130
    assert ended.output
    assert ended.errors.count("\n") == 1
    return ended


@pytest.mark.usefixtures("quick_models")
def test_ctrl_c_in_the_picture_of_an_answer_loses_no_run(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "picture.png"
    asked = ("size", small, "--target", "utilization >= 50%", "--max-seeds", 4, "--out", picture)
    ended = interrupted_in_picture(tailroom, monkeypatch, *asked)
    said = re.fullmatch(
        r"interrupted: the answer is complete, but not all of it is written; finished runs are in "
        r"the store (\S+); continue with tailroom (.+)\n",
        ended.errors,
    )
    assert said
    assert not picture.exists()

    def simulated(*_: object) -> None:
        raise AssertionError("a run was repeated")

    monkeypatch.setattr("tailroom.execution.batch.Batch.add", simulated)
    again = tailroom(*shlex.split(said[2]))
    assert again.status == 0, again.errors
    assert again.output == f"{ended.output}The picture is {picture}\n"
    assert picture.exists()


def test_ctrl_c_in_the_pictures_of_a_run_keeps_what_they_show(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    ended = interrupted_in_picture(tailroom, monkeypatch, "run", small, "--out", out)
    draws = f"tailroom plot {out}"
    assert ended.errors == (
        f"interrupted: scenario, summary and series are complete in {out}; draw the pictures with "
        f"{draws}\n"
    )
    assert not list(out.glob("*.png"))
    assert tailroom(*shlex.split(draws)[1:]).status == 0
    whole = tmp_path / "whole"
    assert tailroom("run", small, "--out", whole).status == 0
    assert {one.name for one in out.iterdir()} == {one.name for one in whole.iterdir()}


def test_ctrl_c_in_the_picture_of_choices_keeps_their_tables(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    asked = ("run", small, "--vary", "limit=10 packets,20 packets", "--out", out)
    ended = interrupted_in_picture(tailroom, monkeypatch, *asked)
    assert ended.errors.startswith(
        f"interrupted: table and scenarios are complete in {out}, without pictures; to draw these, "
        "remove it and give the same command again: tailroom run "
    )
    assert (out / "choices.csv").exists()
    assert not list(out.glob("*.png"))


def test_ctrl_c_before_the_pictures_leaves_nothing(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailroom.storage.result_directory.write_scenario", pressed)
    monkeypatch.setattr("sys.argv", ["tailroom", "run", "small.toml", "--out", "out"])
    ended = tailroom("run", small, "--out", tmp_path / "out")
    assert ended.errors == (
        "interrupted: the answer is complete, but not all of it is written; to write it, give the "
        "same command again: tailroom run small.toml --out out\n"
    )
    assert list(tmp_path.iterdir()) == [small]


def test_ctrl_c_while_models_are_asked_loses_no_run(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages: list[str] = []

    def predict(*question: Any) -> Answer:
        if stages[-1:] == ["models"]:
            pressed()
        return ask(*question)

    monkeypatch.setattr("tailroom.studies.size_study.study.ask", predict)
    with pytest.raises(tr.Interrupted) as raised:
        tr.size(
            small,
            "utilization >= 50%",
            max_seeds=4,
            progress=lambda one: stages.append(one.stage),
        )
    assert isinstance(raised.value.known, tr.Size)
    assert raised.value.known.store


EXPENSIVE = """
duration = "700 h"
[links.b]
rate = "1 Gbit/s"
delay = "2 ms"
queue = { kind = "drop_tail", limit = "50 packets" }
jitter = { extra_delay = { kind = "uniform", from = "0 ms", to = "1 ms" }, every = "10 us" }
[flows.f]
path = ["b"]
rtt = "20 ms"
packet_size = "1500 B"
source = { kind = "cbr", rate = "120 bit/s" }
"""
"""A packet each 100 s, for which some ten thousands of delays are drawn."""


def test_ctrl_c_acts_while_events_are_expensive(tmp_path: Path) -> None:
    """In CPU time, of which a packet takes as much on a loaded machine as on another."""
    path = tmp_path / "expensive.toml"
    path.write_text(EXPENSIVE)

    def used_s(hours: int) -> float:
        began = time.process_time()
        with suppress(KeyboardInterrupt):
            tr.run(path, set={"duration": f"{hours} h"})
        return time.process_time() - began

    def interrupted_s() -> float:
        timer = threading.Timer(0.02, signal.raise_signal, [signal.SIGINT])
        timer.start()
        used = used_s(700)
        timer.join()
        return used

    # A seventh of the packets; a thread that waits may wake up late.
    some_s = used_s(100)
    assert min(interrupted_s() for _ in range(3)) < some_s
