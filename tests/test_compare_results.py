"""The tool that shows that a change of the code changes no result."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any, cast

import pytest

import compare_results
from recorded_run import record_run
from recorded_scenarios import recorded_scenarios
from shortened_scenarios import shortened
from small_scenario import MIX, Document, dumbbell
from tailroom import Scenario, ScenarioError, _engine
from tailroom.scenario.shipped_scenarios import shipped_scenarios

TWO = "recording/finite_flows"
"""Part of the names of two scenarios, which have every table of results."""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two recorded scenarios."""
    directory = tmp_path_factory.mktemp("recorded") / "before"
    assert compare_results.main(["record", str(directory), "--only", TWO]) == 0
    assert len(list(directory.glob("*.json"))) == 2
    return directory


@pytest.fixture
def after(before: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return copytree(before, tmp_path / "after")


def replace(directory: Path, old: str, new: str) -> None:
    """Replaces text in the results."""
    for path in directory.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_same_code_gives_the_same_bytes(
    before: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare_results.main(["compare", str(before), "--only", TWO]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"equal      {TWO}_drop_tail",
        f"equal      {TWO}_fair",
        "scenarios: 2 equal, 0 new, 0 missing, 0 different",
    ]


def test_nothing_that_differs_between_two_runs_is_recorded(before: Path) -> None:
    for path in before.glob("*.json"):
        summary = json.loads(path.read_text(encoding="utf-8"))["summary"]
        assert "engine_version" not in summary


def test_every_table_of_a_result_is_recorded(before: Path) -> None:
    recorded = json.loads((before / "recording.finite_flows_fair.json").read_text())
    assert list(recorded["tables"]) == [
        "arrival_dispersion",
        "flow_counts",
        "flow_log",
        "flow_series",
        "link_series",
        "packet_log",
        "packets",
    ]
    assert all(table["rows"] > 0 for table in recorded["tables"].values())
    assert "completion_time_s" in recorded["tables"]["flow_log"]["columns"]


def test_a_changed_value_is_found_with_its_place(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replace(after, '"discipline": "fair"', '"discipline": "unfair"')
    assert compare_results.main(["compare", str(before), str(after)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"equal      {TWO}_drop_tail"
    assert lines[1:3] == [
        f"different  {TWO}_fair",
        '           summary.links.bottleneck.discipline: "fair" -> "unfair"',
    ]
    assert lines[-1] == "scenarios: 1 equal, 0 new, 0 missing, 1 different"


def test_the_last_digit_of_a_number_counts(before: Path, after: Path) -> None:
    path = after / "recording.finite_flows_fair.json"
    recorded = json.loads(path.read_text())
    goodput = recorded["summary"]["flows"][0]["goodput_bps"]
    recorded["summary"]["flows"][0]["goodput_bps"] = math.nextafter(goodput, math.inf)
    path.write_text(json.dumps(recorded))
    assert compare_results.main(["compare", str(before), str(after)]) == 1


def test_a_changed_table_is_found(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = after / "recording.finite_flows_fair.json"
    recorded = json.loads(path.read_text())
    recorded["tables"]["flow_log"]["columns"]["slowdown"] = "0"
    path.write_text(json.dumps(recorded))
    assert compare_results.main(["compare", str(before), str(after)]) == 1
    assert "tables.flow_log.columns.slowdown: " in capsys.readouterr().out


def test_a_new_name_for_a_value_in_a_table_is_accepted_with_the_map(
    before: Path, after: Path, tmp_path: Path
) -> None:
    replace(after, '"overflow"', '"tail"')
    command = ["compare", str(before), str(after)]
    assert compare_results.main(command) == 1
    names = tmp_path / "map.toml"
    names.write_text('[values]\noverflow = "tail"\n')
    assert compare_results.main([*command, "--renamed", str(names)]) == 0


def test_another_order_of_keys_is_found(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = after / "recording.finite_flows_fair.json"
    recorded = json.loads(path.read_text())
    recorded["summary"] = dict(reversed(recorded["summary"].items()))
    path.write_text(json.dumps(recorded))
    assert compare_results.main(["compare", str(before), str(after)]) == 1
    assert "summary (order of keys): " in capsys.readouterr().out


def test_only_as_many_differences_as_asked_for_are_printed(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replace(after, '_packets_mean"', '_packets_average"')
    assert compare_results.main(["compare", str(before), str(after), "--differences", "2"]) == 1
    assert len(re.findall(" -> ", capsys.readouterr().out)) == 2 * 2


def test_a_renamed_key_is_accepted_with_the_map_only(
    before: Path, after: Path, tmp_path: Path
) -> None:
    replace(after, '"capacity_bps"', '"rate_bps"')
    command = ["compare", str(before), str(after)]
    assert compare_results.main(command) == 1
    for name, text in (
        ("map.toml", '[keys]\ncapacity_bps = "rate_bps"\n'),
        ("place.toml", '[keys]\n"summary.links.*.capacity_bps" = "rate_bps"\n'),
        ("map.json", '{"keys": {"capacity_bps": "rate_bps"}}'),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert compare_results.main([*command, "--renamed", str(tmp_path / name)]) == 0, name
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text('[keys]\n"summary.flows.*.capacity_bps" = "rate_bps"\n')
    assert compare_results.main([*command, "--renamed", str(elsewhere)]) == 1


def test_a_renamed_key_still_needs_the_same_value(
    before: Path, after: Path, tmp_path: Path
) -> None:
    replace(after, '"capacity_bps": 5', '"rate_bps": 6')
    names = tmp_path / "map.toml"
    names.write_text('[keys]\ncapacity_bps = "rate_bps"\n')
    assert compare_results.main(["compare", str(before), str(after), "--renamed", str(names)]) == 1


def test_renamed_values_scenarios_and_what_is_ignored_are_accepted(
    before: Path, after: Path, tmp_path: Path
) -> None:
    replace(after, '"discipline": "fair"', '"discipline": "fair_queue"')
    replace(after, '"scenario_hash": "', '"scenario_hash": "0')
    old = after / "recording.finite_flows_fair.json"
    old.rename(after / "logs.finite_flows_fair_queue.json")
    (after / "recording.finite_flows_drop_tail.json").rename(
        after / "logs.finite_flows_drop_tail.json"
    )
    names = tmp_path / "map.toml"
    names.write_text(
        'ignored = ["scenario_hash"]\n'
        '[values]\nfair = "fair_queue"\n'
        '[scenarios]\nrecording = "logs"\n'
        '"recording/finite_flows_fair" = "logs/finite_flows_fair_queue"\n'
    )
    command = ["compare", str(before), str(after)]
    assert compare_results.main(command) == 1
    assert compare_results.main([*command, "--renamed", str(names)]) == 0


def test_texts_that_are_reworded_are_accepted_as_long_as_there_are_as_many(
    before: Path, after: Path, tmp_path: Path
) -> None:
    old = copytree(before, tmp_path / "old")
    names = tmp_path / "map.toml"
    names.write_text('reworded = ["warnings"]\n')
    for directory, texts in ((old, ["slow", "short"]), (after, ["too slow", "too short"])):
        for path in directory.glob("*.json"):
            recorded = json.loads(path.read_text())
            recorded["summary"]["warnings"] = texts
            path.write_text(json.dumps(recorded))
    command = ["compare", str(old), str(after)]
    assert compare_results.main(command) == 1
    command += ["--renamed", str(names)]
    assert compare_results.main(command) == 0
    replace(after, '"too slow", ', "")
    assert compare_results.main(command) == 1


def test_a_scenario_that_is_missing_is_a_difference_and_a_new_one_is_none(
    before: Path, after: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (after / "recording.finite_flows_fair.json").unlink()
    assert compare_results.main(["compare", str(before), str(after)]) == 1
    assert f"missing    {TWO}_fair" in capsys.readouterr().out
    assert compare_results.main(["compare", str(after), str(before)]) == 0
    assert f"new        {TWO}_fair" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["record", "."], ". is not empty; give a new directory"),
        (["record", "new", "--only", "nothing"], "no scenario's name contains 'nothing'"),
        (["compare", "new"], "new: no recorded results; `record` writes them"),
        (["compare", ".", "--renamed", "map.toml"], "map.toml: unknown table key; a map has"),
    ],
)
def test_wrong_input_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("map.toml").write_text('[key]\nold = "new"\n')
    assert compare_results.main(words) == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")


def test_a_scenario_that_is_refused_is_recorded_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = {**dumbbell(MIX, {}), "memory_limit": "1 kB"}
    recorded = json.loads(record_run("network/small", scenario))
    assert recorded["error"] == "ScenarioError"
    assert recorded["message"].startswith("network.small.toml: ")
    assert Path("network.small.toml").is_file()


def test_all_times_of_a_scenario_are_shortened_by_the_same_factor() -> None:
    document = {
        **dumbbell({"late": {"congestion": "reno", "start": {"from": "4 s", "to": "8 s"}}}, {}),
        "duration": "100 s",
        "measure_from": "20 s",
    }
    document["links"]["bottleneck"] |= {
        "changes": [{"at": "90 s", "rate": "1 Mbit/s"}],
        "arrival_log": {"from": "30 s", "to": "31 s"},
    }
    # 50 Mbit/s are 416,667 packets of 1500 bytes in 100 s.
    short = shortened(document, 41_667)
    link = short["links"]["bottleneck"]
    assert short["duration"] == "10000080 us"
    assert short["measure_from"] == "2000016 us"
    assert short["flows"]["late"]["start"] == {"from": "400003 us", "to": "800006 us"}
    assert link["changes"] == [{"at": "9000072 us", "rate": "1 Mbit/s"}]
    assert link["arrival_log"] == {"from": "3000024 us", "to": "3100025 us"}


SCENARIOS = recorded_scenarios()


def tables(value: object) -> Iterator[Document]:
    """Every table in a scenario, the outer ones first."""
    if isinstance(value, dict):
        yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    for item in items:
        yield from tables(item)


OF_ONES_OWN = {"custom", "custom_flows", "custom_packets"}
"""Kinds that need code; `test_user_source.py` and its like compare them with built-in ones."""


def test_shipped_scenarios_and_components_are_all_recorded() -> None:
    assert {f"shipped/{name}" for name in shipped_scenarios()} <= SCENARIOS.keys()
    assert "example/python-control/scenario" in SCENARIOS
    assert "example/python-discipline/scenario" in SCENARIOS
    texts = {
        text for table in tables(SCENARIOS) for text in table.values() if isinstance(text, str)
    }
    for components in json.loads(_engine.components()).values():
        assert {component["kind"] for component in components} - OF_ONES_OWN <= texts


def problem(scenario: Document) -> str:
    """Why a scenario is refused; empty if it is not."""
    try:
        return "" if Scenario.of(cast(Any, scenario)).handle else "no handle"
    except ScenarioError as error:
        return str(error)


def test_no_recorded_scenario_is_refused() -> None:
    problems = {name: problem(scenario) for name, scenario in SCENARIOS.items()}
    # Files are written where the scenarios are recorded.
    assert not {name: said for name, said in problems.items() if said and "cannot read" not in said}


def test_every_source_and_every_loss_is_recorded_with_what_it_needs() -> None:
    for part in ("source", "loss"):
        for component in json.loads(_engine.components())[part]:
            if component["kind"] in OF_ONES_OWN:
                continue
            needed = {one["name"] for one in component["parameters"]}
            given = [one for one in tables(SCENARIOS) if one.get("kind") == component["kind"]]
            unused = needed - {key for table in given for key in table}
            assert not unused, component["kind"]


@pytest.mark.parametrize(
    "table", ["LinkConfig", "FlowsConfig", "ArrivalLogConfig", "AdmissionConfig"]
)
def test_every_key_is_in_a_recorded_scenario(table: str) -> None:
    schema = json.loads(_engine.schema())["$defs"][table]
    used = {key for one in tables(SCENARIOS) for key in one}
    assert set(schema["properties"]) - used <= {"most_packets"}
