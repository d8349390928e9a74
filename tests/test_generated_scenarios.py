"""Whatever a scenario says, it is refused with place and remedy, or it runs and repeats itself."""

import json
import os
import re
import signal
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tomli_w
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import tailroom as tr
from tailroom import _engine
from tailroom.simulation.result_tables import ResultTables
from tests.hostile import trial
from tests.hostile.from_schema import EXTREME, QUANTITY, RANGES, USUAL
from tests.hostile.scenarios import FILES, GROUPS, LINKS, OWN, schema, usual_scenarios
from tests.hostile.search import search
from tests.hostile.trial import GOOD, Trials, outcome

REPOSITORY = Path(__file__).parents[1]
CORPUS = sorted((REPOSITORY / "fuzz" / "corpus" / "scenario").iterdir())
CASES = int(os.environ.get("TAILROOM_CASES", "1"))
FIRST_SEED = 7


@pytest.mark.parametrize("kind", ["usual", "hostile", "sweeps"])
@pytest.mark.parametrize("examples", [25, pytest.param(600 * CASES, marks=pytest.mark.slow)])
def test_any_scenario_ends_well(kind: str, examples: int) -> None:
    endings, found = search(kind, examples, FIRST_SEED)
    if found:
        pytest.fail(
            f"{found.outcome.ending}: {found.outcome.detail}\n{found.text()}\n"
            f"when it is mended, keep this scenario as fuzz/corpus/scenario/NAME.toml"
        )
    assert endings.total() >= examples
    least = {"usual": 0.4, "hostile": 0.02, "sweeps": 0.1}[kind]
    # How far one comes in its processor time depends on what else the machine does.
    begun = endings["ran"] + endings["interrupted"]
    assert begun >= int(least * examples), "the generator makes what runs"
    assert endings["refused"] >= int(0.02 * examples)


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    """A process for trials, which the tests share."""
    shared = Trials()
    yield shared
    shared.end()


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_past_findings_end_well(trials: Trials, path: Path) -> None:
    ended = trials.outcome(tomllib.loads(path.read_text(encoding="utf-8")))
    assert ended.ending in GOOD, ended.detail


def _keys(part: Any) -> Iterator[str]:
    """The keys of all tables of a part of the schema."""
    if isinstance(part, dict):
        yield from part.get("properties", ())
    for item in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _keys(item)


@settings(max_examples=300, database=None, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(usual_scenarios(extremes=0))
def test_generated_scenarios_name_only_keys_of_the_schema(scenario: dict[str, Any]) -> None:
    """A scenario without extremes is refused for contradictions only, at keys that exist."""
    message = ""
    try:
        text = tomli_w.dumps(scenario)
        _engine.Scenario(text, Path(), (), files=([*FILES], "")).check()
    except tr.ScenarioError as error:
        message = str(error)
    assert "no such key" not in message
    assert "write a string" not in message
    for place in re.findall(r"line \d+, ([^: ]+):", message):
        key = re.sub(r"\[\d+\]", "", place).split(".")[-1]
        assert key in {*_keys(schema()), *LINKS, *GROUPS}, message


FEATURES = {
    f"{OWN}:Rule", f"{OWN}:Scheduler", f"{OWN}:Packets", f"{OWN}:Flows", f"{OWN}:Control",
    "pools", "pause", "ingress", "line", "reorder", "incast", "collective", "d.leaf1", "s.outside",
    "objects", "stepped", "ports_per_pool", "pause_frames_wait",
}  # fmt: skip
"""Words of scenarios that say what they are about."""


def test_generated_scenarios_have_every_feature() -> None:
    """Among 6,000; usually a few hundred have them all."""
    made = set[str]()

    @settings(max_examples=300, database=None, deadline=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(usual_scenarios())
    def draw(scenario: dict[str, Any]) -> None:
        made.update(re.findall(r'"([^"]+)"', json.dumps(scenario)))

    for number in range(20):
        if not made >= FEATURES:
            seed(number)(draw)()
    assert made >= FEATURES, FEATURES - made


def test_every_quantity_of_the_schema_has_values() -> None:
    names = {part[QUANTITY] for part in schema()["$defs"].values() if QUANTITY in part}
    assert USUAL.keys() == EXTREME.keys() == names
    assert RANGES.keys() <= names


@pytest.fixture
def files_at(tmp_path: Path) -> Path:
    """A directory with the files that generated scenarios name."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def result(utilization: float) -> SimpleNamespace:
    tables = dict.fromkeys(field.name for field in fields(ResultTables))
    return SimpleNamespace(summary={"links": {"b": {"utilization": utilization}}}, **tables)


def raising(error: BaseException) -> Callable[..., tr.Result]:
    def run(*_arguments: object, **_options: object) -> tr.Result:
        raise error

    return run


def returning(*utilizations: float) -> Callable[..., SimpleNamespace]:
    left = iter(utilizations)
    return lambda *_arguments, **_options: result(next(left))


ENDINGS: dict[str, tuple[Callable[..., object], str, str]] = {
    "good": (returning(0.5, 0.5, 0.5), "ran", ""),
    "not the same": (returning(0.5, 0.6), "wrong", "same seed"),
    "not the same in steps": (returning(0.5, 0.5, 0.6), "wrong", "in steps"),
    "not a number": (returning(float("nan")), "wrong", "utilization is nan"),
    "no fraction": (returning(1.2), "wrong", "utilization is 1.2"),
    "a bug": (raising(TypeError("x")), "wrong", "TypeError: x"),
    "a panic": (raising(BaseException("panicked")), "wrong", "panicked"),
    "no remedy": (raising(tr.ScenarioError("s.toml: links.b: wrong")), "wrong", "no remedy"),
    "no place": (raising(tr.ScenarioError("wrong; mend it")), "wrong", "no place"),
    "refused": (raising(tr.ScenarioError("links.b: wrong; mend it")), "refused", ""),
    "memory": (raising(tr.RunError("too many packets; raise memory_limit")), "failed", ""),
    "failed": (raising(tr.RunError("no")), "wrong", "no"),
    "interrupted": (raising(trial.TooLongError()), "interrupted", ""),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_what_does_not_hold_is_noticed(
    files_at: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    run, ending, detail = ENDINGS[name]
    monkeypatch.setattr(tr, "run", run)
    monkeypatch.setattr(trial, "_run_in_steps", run)
    ended = outcome({"title": "x"}, files_at)
    assert ended.ending == ending, ended
    assert detail in ended.detail


def abort(connection: Connection) -> None:
    """A process that a scenario aborts."""
    connection.send(None)
    connection.recv()
    os.kill(os.getpid(), signal.SIGKILL)


def hang(connection: Connection) -> None:
    """A process that never answers."""
    connection.send(None)
    while connection.recv():
        signal.pause()


def spin(connection: Connection) -> None:
    """A process that works without end."""
    connection.send(None)
    trial.limit_processor_time(0.1)
    while connection.recv():
        while True:
            pass


@pytest.mark.parametrize(("serve", "ending"), [(abort, "aborted"), (hang, "hung"), (spin, "hung")])
def test_aborts_and_hangs_are_noticed(serve: Callable[[Connection], None], ending: str) -> None:
    hostile = Trials(serve, waits=1_000 if serve is spin else 4)
    for _ in range(2):  # the process is replaced
        assert hostile.outcome({"title": "x"}).ending == ending


def _largest(scenario: dict[str, Any]) -> int:
    return max((len(group["path"]) for group in scenario["flows"].values()), default=0)


def refuse(connection: Connection) -> None:
    """A process that refuses whatever it gets."""
    connection.send(None)
    while connection.recv():
        connection.send(trial.Outcome("refused"))


def test_a_process_that_begins_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "START_S", 0)
    late = Trials(refuse)
    assert late.outcome({"title": "x"}).ending == "refused"
    late.end()


def test_a_sweep_of_own_code_is_tried(trials: Trials) -> None:
    link = {
        "rate": "10 Mbit/s",
        "delay": "1 ms",
        "queue": {"kind": "custom", "discipline": f"{OWN}:Rule", "limit": "20 packets"},
    }
    scenario = {
        "duration": "20 ms",
        "links": {"a": link},
        "flows": {"f": {"path": ["a"], "rtt": "100 ms", "congestion": "reno"}},
        "sweep": {"seeds": 2, "grid": {"links.a.rate": ["8 Mbit/s", "9 Mbit/s"]}},
    }
    ended = trials.outcome(scenario)
    assert ended.ending == "ran", ended.detail


@pytest.mark.slow
def test_scenarios_shrink() -> None:
    """What is left of a scenario with a path of two links is hardly more than such a path."""
    smallest: list[dict[str, Any]] = []

    @settings(max_examples=300, database=None, deadline=None, derandomize=True,
              suppress_health_check=list(HealthCheck), report_multiple_bugs=False)  # fmt: skip
    @given(st.builds(deepcopy, usual_scenarios()))
    def has_short_paths(scenario: dict[str, Any]) -> None:
        if _largest(scenario) > 1:
            smallest.append(scenario)
            raise AssertionError

    with pytest.raises(AssertionError):
        has_short_paths()
    assert len(smallest[-1]["links"]) == 2
    assert len(smallest[-1]["flows"]) == 1
    assert len(json.dumps(smallest[-1])) < 400
