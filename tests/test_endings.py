"""Every command ends with a message and a status, whatever ends it, and never with a traceback."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import tailroom as tr
from tailroom.execution.dask_cluster import Cluster
from tailroom.execution.point import Point
from tailroom.execution.runner import Runner
from tailroom.execution.task import Task, run_task
from tailroom.scenario import types
from tailroom.scenario.scenario import Scenario
from tailroom.storage.run import Run
from tailroom.storage.store import Store
from tests.conftest import SMALL, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

CONTROL = """\
import os, sys

class Control:
    def on_ack(self, event):
        {body}
        return event.cwnd_packets + 1

    def on_congestion(self, event):
        return event.cwnd_packets / 2
"""
KEY = 'flows.reno.congestion="own:Control"'


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "tailroom", *map(str, arguments)]


def test_a_negative_seed_is_refused_by_the_api(small: Path) -> None:
    with pytest.raises(tr.ArgumentError, match=r"seed: -1 is out of range"):
        tr.run(small, seed=-1)


def test_the_last_seeds_of_a_sweep_are_in_range(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    swept = ("sweep", small, "--store", tmp_path / "store", "--set", f"seed={2**63 - 1}")
    assert tailroom(*swept, "--seeds", 1).status == 0
    ended = tailroom(*swept, "--seeds", 2)
    assert ended.status in (1, 2)
    assert f"seed: {2**63} is " in ended.errors


def test_half_characters_are_refused_and_shown(small: Path) -> None:
    with pytest.raises(tr.ScenarioError, match=r"links\.bottleneck\.rate: .*ud800 is not Unicode"):
        tr.run(small, set={"links.bottleneck.rate": "\ud800"})
    with pytest.raises(tr.ScenarioError, match=r"ud800 is not Unicode"):
        tr.run(cast("types.Scenario", {"title": "\ud800"}))
    with pytest.raises(tr.ScenarioError, match=r"ud800 is not Unicode"):
        tr.run("\ud800.toml")


@pytest.mark.parametrize("name", ["run", "model", "compare"])
def test_a_long_text_is_refused(tailroom: Tailroom, small: Path, name: str) -> None:
    small.write_text(SMALL.replace("Two Reno flows", "a b " * 10_000), encoding="utf-8")
    ended = tailroom(name, small)
    assert ended.status == 2
    problem = "line 1, title: the text has 40000 characters; shorten it to 10000"
    assert ended.errors == f"error: {small}: {problem}\n"


@pytest.mark.parametrize("raised", ["BaseException('x')", "GeneratorExit()", "SystemExit(0)"])
def test_whatever_a_control_raises_is_its_error(tmp_path: Path, small: Path, raised: str) -> None:
    (tmp_path / "own.py").write_text(CONTROL.format(body=f"raise {raised}"), encoding="utf-8")
    for arguments in (("run",), ("sweep", "--store", tmp_path / "store", "--seeds", 1)):
        done = subprocess.run(
            command(arguments[0], small, *arguments[1:], "--set", KEY),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3, done.stderr
        assert f"raised {raised.partition('(')[0]}" in done.stderr
        assert done.stderr.splitlines()[-1].startswith("error: ")


def test_a_module_that_ends_the_program_is_an_error(tmp_path: Path, small: Path) -> None:
    (tmp_path / "own.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    done = subprocess.run(
        command("run", small, "--set", KEY), capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "importing own raised SystemExit: 0" in done.stderr


def test_a_control_that_closes_standard_output_is_named(tmp_path: Path, small: Path) -> None:
    body = "sys.stdout.close()"
    (tmp_path / "own.py").write_text(CONTROL.format(body=body), encoding="utf-8")
    done = subprocess.run(
        command("run", small, "--json", "--set", KEY), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output was closed during the work")
    assert done.stderr.count("\n") == 1


COMMANDS = {
    "run": ("run", "FILE"),
    "json": ("run", "FILE", "--json"),
    "model": ("model", "FILE", "--model", "sawtooth"),
    "measured": ("compare", "--measured", "tests/measurements/simulated.flent.gz"),
    "list": ("list",),
    "schema": ("schema",),
    "help": ("--help",),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_goes_away_ends_a_command_quietly(small: Path, name: str) -> None:
    arguments = [small if word == "FILE" else word for word in COMMANDS[name]]
    with subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert errors == ""
    assert process.returncode in (0, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("name", COMMANDS)
def test_output_that_does_not_fit_is_an_error_in_one_line(small: Path, name: str) -> None:
    arguments = [small if word == "FILE" else word for word in COMMANDS[name]]
    with Path("/dev/full").open("w", encoding="utf-8") as place:
        done = subprocess.run(
            command(*arguments), stdout=place, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


INTERRUPTED = """\
import signal, sys, tailroom.cli

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.default_int_handler)
tailroom.cli.main()
"""


@pytest.mark.parametrize(
    "module", ["tailroom.cli.main", "typer", "tailroom.cli.run", "rich.console", "tomllib"]
)
def test_ctrl_c_during_imports_ends_without_a_traceback(small: Path, module: str) -> None:
    program = [sys.executable, "-c", INTERRUPTED.format(module=module), "run", str(small)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


ESCAPES = "\x1b]0;owned\x07\x1b[31mRED\x9b1m \u202egnp [bold]x[/bold]"


def test_escapes_of_a_title_are_shown_and_not_obeyed(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    text = SMALL.replace('"Two Reno flows"', json.dumps(ESCAPES))
    small.write_text(text, encoding="utf-8")
    store = tmp_path / "store"
    sweep = ("sweep", small, "--store", store, "--seeds", 1)
    vary = ("run", small, "--vary", "links.bottleneck.queue.limit=5 packets,9 packets")
    for arguments in (("run", small), sweep, ("results", store), vary, ("compare", small)):
        ended = tailroom(*arguments)
        assert ended.status == 0, ended.errors
        said = ended.output + ended.errors
        assert not set("\x1b\x07\x9b\u202e") & set(said)
    assert (
        r"\x1b]0;owned\x07\x1b[31mRED\x9b1m \u202egnp [bold]x[/bold]"
        in tailroom("run", small).output
    )


@pytest.mark.parametrize(
    "more", [(), ("--vary", "links.bottleneck.queue.limit=5 packets,9 packets")]
)
def test_escapes_are_escaped_in_json(
    tailroom: Tailroom, small: Path, tmp_path: Path, more: tuple[str, ...]
) -> None:
    text = SMALL.replace('"Two Reno flows"', json.dumps(f"é {ESCAPES}"))
    small.write_text(text, encoding="utf-8")
    ended = tailroom("run", small, "--json", "--out", tmp_path / "out", *more)
    answer = json.loads(ended.output)
    title = answer["choices"][0]["title"] if more else answer["title"]
    assert title == f"é {ESCAPES}"
    assert "é" in ended.output
    assert not set("\x1b\x07\x9b\u202e") & set(ended.output)


def test_escapes_in_errors_and_exceptions_are_shown(tmp_path: Path, small: Path) -> None:
    body = r"raise ValueError('\x1b[31mRED')"
    (tmp_path / "own.py").write_text(CONTROL.format(body=body), encoding="utf-8")
    odd = tmp_path / "\x1b[31mnothing.toml"
    wrong = small.with_name("wrong.toml")
    wrong.write_text(SMALL.replace('"reno"', r'"\u001b[31mreno"'), encoding="utf-8")
    for arguments in ((small, "--set", KEY), (odd,), (wrong,)):
        done = subprocess.run(
            command("run", *arguments), capture_output=True, text=True, check=False
        )
        assert done.returncode in (2, 3)
        assert r"\x1b[31m" in done.stderr
        assert "\x1b" not in done.stderr


def test_a_cluster_without_workers_says_once_that_it_waits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    threads = [{"a": 2}, {}, {}, {"b": 1}, {}]
    cluster = object.__new__(Cluster)
    fake = SimpleNamespace(nthreads=lambda: threads.pop(0))
    for name, value in {"client": fake, "name": "tcp://192.0.2.1:8786", "threads": None}.items():
        monkeypatch.setattr(cluster, f"_{name}", value, raising=False)
    said = []
    while threads:
        monkeypatch.setattr(cluster, "_asked_at", float("-inf"), raising=False)
        assert cluster.at_a_time
        said.append(capsys.readouterr().err)
    line = (
        "tcp://192.0.2.1:8786: has no workers any more; waiting for one: "
        "dask worker tcp://192.0.2.1:8786\n"
    )
    assert said == ["", line, "", "", line]


def test_runs_that_are_under_way_ask_for_the_workers_too(small: Path, tmp_path: Path) -> None:
    asked: list[None] = []

    class Slow:
        @property
        def at_a_time(self) -> int:
            asked.append(None)
            return 10

        def submit(self, task: Task) -> "Future[Run]":
            done: Future[Run] = Future()
            ended = run_task(task, threading.Event())
            threading.Timer(1.0, done.set_result, [ended]).start()
            return done

        def cancel(self, running: object) -> None:
            """Nothing is cancelled."""

    point = Point.of(Scenario.of(small), {})
    Runner(Store.create(tmp_path / "store"), Slow()).complete([point], 1)
    assert len(asked) >= 3


@pytest.mark.parametrize("lost", ["AllExit", "CommClosedError", "CancelledError"])
def test_a_scheduler_that_goes_away_is_named(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = pytest.importorskip("distributed.client")
    comm = pytest.importorskip("distributed.comm.core")
    known = {
        "AllExit": client.AllExit,
        "CommClosedError": comm.CommClosedError,
        "CancelledError": client.CancelledError,
    }

    class Submitted:
        async def result(self) -> None:
            raise known[lost]

        def __await__(self) -> "Generator[Any, None, None]":
            return self.result().__await__()

        def release(self) -> None:
            """Nothing is held."""

    cluster = object.__new__(Cluster)
    fake = SimpleNamespace(submit=lambda *_, **__: Submitted())
    monkeypatch.setattr(cluster, "_client", fake, raising=False)
    monkeypatch.setattr(cluster, "_name", "tcp://192.0.2.1:8786", raising=False)
    task = cast("Any", SimpleNamespace(engine_build=""))
    with pytest.raises(tr.ClusterError, match="the connection to the scheduler was lost"):
        asyncio.run(cluster._outcome(task, b""))
