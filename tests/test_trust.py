"""What a scenario file from somebody else can do: nothing outside its directory, and no code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tailroom as tr
from tests.conftest import SMALL, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

CONTROL = """\
from pathlib import Path

Path(__file__).with_name("imported").touch()

class Control:
    def on_ack(self, event):
        return event.cwnd_packets + 1 / event.cwnd_packets

    def on_congestion(self, event):
        return event.cwnd_packets / 2

def make():
    Path(__file__).with_name("called").touch()
    return Control()
"""
RENO = '{ kind = "reno" }'
OWN = '"somebodys:Control"'


@pytest.fixture(autouse=True)
def nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No permission from the environment of the tests."""
    for name in ("TAILROOM_ALLOW_CODE", "TAILROOM_ALLOW_FILES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def named(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario file that names a control next to it."""
    monkeypatch.delitem(sys.modules, "somebodys", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (small.parent / "somebodys.py").write_text(CONTROL, encoding="utf-8")
    small.write_text(SMALL.replace(RENO, OWN), encoding="utf-8")
    return small


def was_imported(scenario: Path) -> bool:
    return (scenario.parent / "imported").exists()


COMMANDS = {
    "run": ("run", "FILE"),
    "vary": ("run", "FILE", "--vary", "title=a,b"),
    "phase check": ("run", "FILE", "--phase-check"),
    "compare": ("compare", "FILE"),
    "compare seeds": ("compare", "FILE", "--seeds", "2"),
    "plot": ("plot", "FILE"),
    "sweep": ("sweep", "FILE", "--seeds", "1"),
    "size": ("size", "FILE", "--target", "utilization >= 0.9"),
    "model": ("model", "FILE"),
    "curves": ("model", "FILE", "--over", "links.bottleneck.queue.limit=5 packets, 9 packets"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_loads_code_that_a_file_names(
    tailroom: Tailroom, named: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(named.parent)
    ended = tailroom(*(named if word == "FILE" else word for word in COMMANDS[name]))
    assert ended.status == 2
    assert f'{named}: line 16, flows.reno.congestion: "somebodys:Control" is ' in ended.errors
    assert "--allow-code" in ended.errors
    assert "TAILROOM_ALLOW_CODE=1" in ended.errors
    assert not was_imported(named)


def test_the_api_loads_no_code_that_a_file_names(named: Path, tmp_path: Path) -> None:
    for call in (
        lambda: tr.run(named),
        lambda: tr.choices(named, {"title": ["a", "b"]}),
        lambda: tr.sweep(named, store=tmp_path / "store"),
        lambda: tr.predict(named),
        lambda: tr.phase_check(named),
        lambda: tr.size(named, ["utilization >= 0.9"]),
    ):
        with pytest.raises(tr.ScenarioError, match="allow_code=True"):
            call()
    assert not was_imported(named)


def test_code_is_loaded_if_the_user_allows_it(
    tailroom: Tailroom, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tr.run(named, allow_code=True).summary["title"] == "Two Reno flows"
    assert tailroom("run", named, "--allow-code").status == 0
    assert tailroom("model", named, "--allow-code").status == 0
    assert tailroom("run", named).status == 2  # nothing is remembered
    monkeypatch.setenv("TAILROOM_ALLOW_CODE", "1")
    assert tailroom("run", named).status == 0


def test_what_the_user_names_is_the_users_own(
    tailroom: Tailroom, named: Path, tmp_path: Path
) -> None:
    named.write_text(SMALL, encoding="utf-8")
    key = "flows.reno.congestion"
    for value in (OWN, "somebodys:Control", '{ kind = "custom", control = "somebodys:Control" }'):
        assert tailroom("run", named, "--set", f"{key}={value}").status == 0
    assert tailroom("run", named, "--vary", f"{key}=reno,somebodys:Control").status == 0
    grid = ("--grid", f"{key}=reno,somebodys:Control", "--store", tmp_path / "a", "--seeds", 1)
    assert tailroom("sweep", named, *grid).status == 0
    tr.run(named, congestion={"reno": "somebodys:Control"})
    tr.sweep(named, store=tmp_path / "b", grid={key: ["somebodys:Control"]}, seeds=1)


def test_a_sweep_in_a_file_names_no_code(tailroom: Tailroom, named: Path, tmp_path: Path) -> None:
    swept = f'[sweep.grid]\n"flows.reno.congestion" = ["reno", {OWN}]\n'
    named.write_text(f"{SMALL}\n{swept}", encoding="utf-8")
    ended = tailroom("sweep", named, "--store", tmp_path / "store", "--seeds", 1)
    assert ended.status == 2
    assert "--allow-code" in ended.errors
    assert not was_imported(named)


def test_only_classes_with_the_methods_of_a_control_are_called(
    tailroom: Tailroom, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAILROOM_ALLOW_CODE", "1")
    touched = named.parent / "PWNED"
    for control, problem in (
        ("subprocess:run", "is not a class but a value of type function"),
        ("subprocess:Popen", "has no method on_ack"),
        ("somebodys:make", "is not a class but a value of type function"),
    ):
        evil = f'{{ kind = "custom", control = "{control}", parameters = {{ args = [] }} }}'
        evil = evil.replace("[]", json.dumps(["touch", str(touched)]))
        named.write_text(SMALL.replace(RENO, evil), encoding="utf-8")
        ended = tailroom("run", named)
        assert ended.status == 2
        assert problem in ended.errors
    assert not touched.exists()
    assert not (named.parent / "called").exists()


TRACE = 'trace = "PATH"'


@pytest.fixture
def traced(small: Path) -> Path:
    """A scenario in a directory of its own that names a trace outside it."""
    directory = small.parent / "theirs"
    directory.mkdir()
    (small.parent / "secret").write_text("1\n2\n3\n", encoding="utf-8")
    path = directory / "traced.toml"
    text = SMALL.replace('rate = "10 Mbit/s"', TRACE.replace("PATH", "../secret"))
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_names_no_file_outside_its_directory(
    tailroom: Tailroom, traced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = traced.parents[1] / "secret"
    text = traced.read_text(encoding="utf-8")
    (traced.parent / "link").symlink_to(secret)
    for path in ("../secret", str(secret), "link", "x/../../secret"):
        traced.write_text(text.replace("../secret", path), encoding="utf-8")
        ended = tailroom("run", traced)
        assert ended.status == 2
        place = f"error: {traced}: line 9, links.bottleneck.trace: "
        problem = f'cannot read "{path}": it is not below the directory of the scenario file'
        assert ended.errors.startswith(place + problem)
        assert "--allow-files" in ended.errors
        assert tailroom("model", traced).errors == ended.errors
    traced.write_text(text, encoding="utf-8")
    assert tailroom("run", traced, "--allow-files").status == 0
    assert tailroom("run", traced, "--set", f"links.bottleneck.trace={secret}").status == 0
    assert tr.run(traced, allow_files=True).scenario
    monkeypatch.setenv("TAILROOM_ALLOW_FILES", "1")
    assert tailroom("run", traced).status == 0


def test_a_sweep_in_a_file_names_no_file_outside_its_directory(
    tailroom: Tailroom, traced: Path, tmp_path: Path
) -> None:
    swept = '[sweep.grid]\n"links.bottleneck.trace" = ["../secret"]\n'
    (traced.parent / "own").write_text("1\n2\n", encoding="utf-8")
    text = traced.read_text(encoding="utf-8").replace("../secret", "own")
    traced.write_text(f"{text}\n{swept}", encoding="utf-8")
    ended = tailroom("sweep", traced, "--store", tmp_path / "store", "--seeds", 1)
    assert ended.status == 2
    assert 'cannot read "../secret": it is not below the directory' in ended.errors


def test_no_message_quotes_a_file_that_is_no_scenario(tailroom: Tailroom, traced: Path) -> None:
    secret = traced.parents[1] / "secret"
    secret.write_text("password: hunter2\n", encoding="utf-8")
    background = """
[flows.background]
path = ["bottleneck"]
source = { kind = "KIND", FILE }
"""
    empirical = 'rate = "1 Mbit/s", sizes = { kind = "empirical", file = "../secret" }'
    for change in (
        SMALL.replace('rate = "10 Mbit/s"', TRACE.replace("PATH", "../secret")),
        SMALL + background.replace("KIND", "poisson").replace("FILE", empirical),
        SMALL + background.replace("KIND", "trace").replace("FILE", 'file = "../secret"'),
    ):
        traced.write_text(change, encoding="utf-8")
        for content in (
            "hunter2\n",
            "hunter2, 1\n",
            "1500, hunter2\n",
            "start_s,bytes\n0,hunter2\n",
        ):
            secret.write_text(content, encoding="utf-8")
            ended = tailroom("run", traced, "--allow-files")
            assert ended.status == 2
            assert "hunter2" not in ended.errors


def test_a_scenario_that_is_built_in_python_names_what_it_likes(named: Path) -> None:
    source = "import tailroom as tr, tomllib; tr.run(tomllib.loads(open('small.toml').read()))"
    environment = {**os.environ, "PYTHONPATH": str(named.parent)}
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=named.parent, env=environment, check=False
    )
    assert done.returncode == 0


def test_a_stored_scenario_names_no_code(tailroom: Tailroom, named: Path, tmp_path: Path) -> None:
    store, key = tmp_path / "store", "links.bottleneck.queue.limit"
    tr.sweep(named, store=store, grid={key: ["5 packets", "9 packets"]}, seeds=1, allow_code=True)
    (named.parent / "imported").unlink()
    for module in [name for name in sys.modules if name == "somebodys"]:
        del sys.modules[module]
    drawing = ("plot", store, "--kind", "curves", "--model", "rule_of_thumb")
    ended = tailroom(*drawing)
    assert ended.status == 2
    assert "--allow-code" in ended.errors
    assert not was_imported(named)
