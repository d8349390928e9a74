"""`tailroom list`, `tailroom schema` and the shipped scenarios."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tomli_w

from tailroom import _engine
from tailroom.models import MODELS
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metric_catalogue import CATALOGUE
from tests.conftest import Printed, Tailroom

REPOSITORY = Path(__file__).parents[1]
SCENARIOS = sorted((REPOSITORY / "scenarios").rglob("*.toml"))


def test_there_are_shipped_scenarios() -> None:
    assert SCENARIOS


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenario_is_valid(path: Path) -> None:
    assert Scenario.of(path, {}).to_toml()


def test_list_shows_every_component(tailroom: Tailroom) -> None:
    for kind, components in json.loads(_engine.components()).items():
        ended = tailroom("list", kind)
        assert ended.status == 0
        for component in components:
            assert f' = "{component["kind"]}"' in ended.output


def test_list_without_a_kind_has_a_line_per_name(tailroom: Tailroom) -> None:
    ended = tailroom("list")
    assert ended.status == 0
    kinds = json.loads(_engine.components())
    named = [component["kind"] for components in kinds.values() for component in components]
    named += [
        path.relative_to(REPOSITORY / "scenarios").with_suffix("").as_posix() for path in SCENARIOS
    ]
    rows = [line.split(maxsplit=1) for line in ended.output.splitlines() if line.startswith("  ")]
    assert sorted(name for name, _ in rows) == sorted(named)
    titles = dict(rows)
    assert titles["codel"] == "Controlled Delay (RFC 8289)"
    assert titles["fhstcp"] == "FHSTCP (Su et al. 2005)"
    first = tomllib.loads((REPOSITORY / "scenarios/first.toml").read_text(encoding="utf-8"))
    assert titles["first"] == first["title"]


def test_list_shows_one_kind_with_parameters(printed: Printed) -> None:
    printed("list")


def test_list_shows_what_a_host_sets_where_and_why(tailroom: Tailroom) -> None:
    ended = tailroom("list", "host")
    assert ended.status == 0
    assert 'send_burst = "auto"' in ended.output
    assert "hystart_update() in net/ipv4/tcp_cubic.c" in " ".join(ended.output.split())
    assert "low_window" not in ended.output


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_shipped_scenario_with_defaults_is_the_one_written_out_by_hand(path: Path) -> None:
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    defaults = written.pop("defaults", {})
    # What a host sets has tests of its own; none of these defaults is among it.
    if "host" in defaults:
        written["defaults"] = {"host": defaults.pop("host")}
    written["flows"] = {name: {**defaults, **group} for name, group in written["flows"].items()}
    by_hand = Scenario.of(path).changed(text=tomli_w.dumps(written))
    assert Scenario.of(path, {}).hash == by_hand.hash


def test_the_schema_names_the_keys_that_the_shipped_scenarios_have(tailroom: Tailroom) -> None:
    ended = tailroom("schema")
    assert ended.status == 0
    schema = json.loads(ended.output)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    required = set(schema["required"])
    assert "duration" in required
    for path in SCENARIOS:
        keys = set(tomllib.loads(path.read_text(encoding="utf-8")))
        assert required <= keys <= set(schema["properties"]), path


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "tailroom", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in ("run", "plot", "list", "schema"):
        assert f"  {name} " in shown


def test_list_metrics_names_every_metric_with_its_unit(tailroom: Tailroom) -> None:
    ended = tailroom("list", "metrics")
    assert ended.status == 0
    lines = [line.split() for line in ended.output.splitlines()]
    for full, metric in CATALOGUE.items():
        name = full.rpartition(".")[2]
        assert any(line[:2] == [name, metric.unit.name] for line in lines), name


def test_list_models_names_every_model(tailroom: Tailroom) -> None:
    ended = tailroom("list", "models")
    assert ended.status == 0
    for name in MODELS:
        assert re.search(rf"^ *{name} ", ended.output, re.MULTILINE), name


def test_a_word_chooses_among_metrics_and_models(tailroom: Tailroom) -> None:
    # A word that people type for another name finds it too.
    assert "queue_delay_s_p99" in tailroom("list", "metrics", "latency").output
    assert "drops_packets" not in tailroom("list", "metrics", "latency").output
    assert "rule_of_thumb" not in tailroom("list", "models", "sawtooth").output
    assert "no metric has zzz" in tailroom("list", "metrics", "zzz").errors
    assert "no model has zzz" in tailroom("list", "models", "zzz").errors
    assert "only metrics and models take a word" in tailroom("list", "queue", "zzz").errors
