"""`[defaults]`, `host` and kinds that are only named, from the command line to the results."""

import json
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.types import Defaults, Flows, Link
from tailroom.simulation.metrics import metrics_of
from tests.conftest import Tailroom

SHORT = """
title = "shared keys"
duration = "3 s"
measure_from = "1 s"

[links.down]
rate = "10mbit"
delay = "5ms"
queue = "codel"

[defaults]
path = ["down"]
host = "linux"
congestion = "cubic"
rtt = "30 ms"

[flows.download]
count = 2

[flows.bbr]
congestion = "bbr3"

[flows.call]
packet_size = "200B"
source = { kind = "cbr", rate = "100kbit" }
"""

BY_HAND = """
title = "shared keys"
duration = "3 s"
measure_from = "1 s"

[links.down]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "codel" }

[flows.download]
count = 2
path = ["down"]
congestion = { kind = "cubic" }
rtt = "30 ms"
prr = true
slow_start = "hystart"
window_validation = true
recovery = "rack"
header_size = "52 B"
handshake = true
delayed_ack = true
quick_acks = 16
sack_compression = true
timestamp_tick = "1 ms"
rack_timer_margin = "2 ms"
send_burst = "auto"
undo = true
frto = true

[flows.bbr]
path = ["down"]
congestion = { kind = "bbr3" }
rtt = "30 ms"
recovery = "rack"
header_size = "52 B"
handshake = true
delayed_ack = true
quick_acks = 16
sack_compression = true
timestamp_tick = "1 ms"
rack_timer_margin = "2 ms"
send_burst = "auto"
undo = true
frto = true

[flows.call]
path = ["down"]
rtt = "30 ms"
packet_size = "200 B"
source = { kind = "cbr", rate = "100 kbit/s" }
"""


@pytest.fixture
def short(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(SHORT, encoding="utf-8")
    return path


def test_the_same_scenario_by_hand_has_the_same_hash_and_the_same_results(short: Path) -> None:
    by_hand = short.with_name("by_hand.toml")
    by_hand.write_text(BY_HAND, encoding="utf-8")
    first, second = tr.run(short), tr.run(by_hand)
    assert first.scenario == second.scenario
    assert "defaults" not in first.scenario
    assert Scenario.of(short, {}).hash == Scenario.of(by_hand, {}).hash
    assert json.dumps(first.summary) == json.dumps(second.summary)


def test_json_prints_what_host_and_defaults_came_to(tailroom: Tailroom, short: Path) -> None:
    ended = tailroom("run", str(short), "--json")
    assert ended.status == 0, ended.errors
    groups = json.loads(ended.output)["groups"]
    settings = {name: group["settings"] for name, group in groups.items()}
    assert settings["download"]["host"] == "linux"
    assert settings["download"]["delayed_ack"] is True
    assert settings["download"]["send_burst"] == "auto"
    assert settings["download"]["recovery"] == "rack"
    assert settings["download"]["slow_start"] == {"kind": "hystart"}
    assert settings["download"]["rtt"] == "30 ms"
    assert settings["bbr"]["slow_start"] == {"kind": "standard"}
    assert settings["bbr"]["window_validation"] is False
    assert settings["call"]["source"] == "cbr"
    assert not {"host", "delayed_ack"} & set(settings["call"])


@pytest.mark.parametrize(
    ("changes", "hosts"),
    [
        ([], "host linux"),
        (["defaults.host=plain"], "host plain"),
        (["flows.bbr.host=ns2"], "hosts linux (download), ns2 (bbr)"),
    ],
)
def test_a_run_names_the_hosts_below_the_title(
    tailroom: Tailroom, short: Path, changes: list[str], hosts: str
) -> None:
    short.write_text(SHORT.replace('host = "linux"\n', ""), encoding="utf-8")
    settings = (word for change in changes for word in ("--set", change))
    ended = tailroom("run", str(short), *settings)
    assert ended.output.splitlines()[1] == f"seed 1, statistics from 1 s to 3 s, {hosts}"


def test_settings_are_no_metrics(short: Path) -> None:
    assert not [name for name in metrics_of(tr.run(short).summary) if "settings" in name]


def test_a_sweep_varies_hosts_and_defaults(tailroom: Tailroom, short: Path) -> None:
    axes = ["--grid", "flows.download.host=linux,plain", "--grid", "defaults.rtt=20ms,40ms"]
    store = short.with_name("store")
    ended = tailroom("sweep", str(short), *axes, "--seeds", "1", "--store", str(store))
    assert ended.status == 0, ended.errors
    assert "4 runs of 4 points" in ended.output
    for value in ("linux", "plain", "20ms", "40ms"):
        assert value in ended.output


def test_a_scenario_of_python_objects_has_defaults_too() -> None:
    scenario = tr.Scenario(
        duration="2 s",
        links={"down": Link(rate="10mbit", delay="5 ms", queue="fq_codel")},
        defaults=Defaults(path=["down"], host="linux", congestion="cubic", rtt="30 ms"),
        flows={"first": Flows(count=2), "second": Flows(host="plain")},
    )
    groups = tr.run(scenario).groups
    assert groups["first"]["settings"]["delayed_ack"] is True
    assert groups["second"]["settings"]["delayed_ack"] is False


def test_all_that_is_wrong_with_a_file_is_printed(tailroom: Tailroom, short: Path) -> None:
    """Defect 15."""
    wrong = SHORT.replace("count = 2", "cuont = 2").replace('"5ms"', '"5 msec"')
    short.write_text(wrong, encoding="utf-8")
    ended = tailroom("run", str(short), "--set", "flows.call.rtt=20")
    assert ended.status == 2
    lines = ended.errors.splitlines()
    assert len(lines) == 3
    for line, place in zip(
        lines,
        ("line 8, links.down.delay:", "line 18, flows.download.cuont:", "--set flows.call.rtt:"),
        strict=True,
    ):
        assert line.startswith(f"error: {short}: {place}")


def test_an_error_of_several_lines_names_the_place_in_each() -> None:
    with pytest.raises(tr.ScenarioError) as caught:
        tr.run({"duration": "1", "measure_form": "1 s"})  # type: ignore[arg-type]
    keys = [line.split(": ")[:2] for line in str(caught.value).splitlines()]
    assert keys == [["scenario", "duration"], ["scenario", "measure_form"]]


def test_no_line_is_named_of_a_text_that_nobody_wrote(tailroom: Tailroom) -> None:
    ended = tailroom("size", "--rate", "10G", "--rtt", "100us", "--congestion", "dctcp")
    assert ended.status == 2
    assert ended.errors.startswith("error: scenario: flows.flows.ecn: dctcp counts marked packets")
