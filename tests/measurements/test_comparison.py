"""`tailroom compare --measured`: a measurement compared with a simulation."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

import tailroom as tr
from tests.conftest import Printed, Tailroom
from tests.measurements import measurement_files
from tests.measurements.measurement_files import SAMPLE, Link

MOST_DIFFERENCE = 0.05
"""Largest relative difference of what a simulation gives and what was measured in the same run; a
sample of 0.2 s and one of 1 s see the same queue at other instants. Stated before it was run."""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The scenario of the sample."""
    path = tmp_path / "link.toml"
    path.write_text(measurement_files.SCENARIO.format(**vars(Link())), encoding="utf-8")
    return path


def test_a_run_agrees_with_what_was_measured_in_it(scenario: Path, tmp_path: Path) -> None:
    seen = measurement_files.simulated(Link(), 7)
    path = measurement_files.iperf3(seen, tmp_path / "file")
    found = tr.compare_measured(path, scenario, seed=7)
    for name in ("throughput_bps", "rtt_s_p50", "rtt_s_p95", "rtt_s_p99", "retransmitted_fraction"):
        measured, simulated = found.quantities[name]
        assert measured == pytest.approx(simulated, rel=MOST_DIFFERENCE), name
    assert found.quantities["buffer_bytes"][1] == 250e3


def test_a_smaller_buffer_gives_shorter_rtts_than_measured(scenario: Path) -> None:
    small = {"links.bottleneck.queue.limit": "50 kB"}
    found = tr.compare_measured(SAMPLE, scenario, set=small).quantities
    measured, simulated = found["rtt_s_p95"]
    assert measured is not None
    assert simulated is not None
    # At 50 Mbit/s, 250 kB delay by 40 ms and 50 kB by 8 ms.
    assert measured == pytest.approx(0.020 + 0.040, rel=0.05)
    assert simulated == pytest.approx(0.020 + 0.008, rel=0.1)


@pytest.mark.usefixtures("scenario")
def test_the_command_prints_measured_and_simulated(printed: Printed, tmp_path: Path) -> None:
    shutil.copy(SAMPLE, tmp_path / "measured.flent.gz")
    printed("compare_measured")


def test_the_command_needs_no_scenario(tailroom: Tailroom, tmp_path: Path) -> None:
    picture = tmp_path / "rtts.png"
    ended = tailroom("compare", "--measured", SAMPLE, "--out", picture)
    assert ended.status == 0
    assert "simulated" not in ended.output.replace(str(SAMPLE), "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_has_the_numbers_of_python(tailroom: Tailroom) -> None:
    printed = json.loads(tailroom("compare", "--measured", SAMPLE, "--json").output)
    assert printed == json.loads(json.dumps(tr.compare_measured(SAMPLE).as_dict()))
    assert printed["buffer"]["low_bytes"] < 250e3 < printed["buffer"]["high_bytes"]


@pytest.mark.parametrize("text", ["20 ms", "20000us", "0.02 s"])
def test_an_idle_rtt_replaces_that_of_the_measurement(tailroom: Tailroom, text: str) -> None:
    given = tailroom("compare", "--measured", SAMPLE, "--idle-rtt", text, "--json")
    expected = tr.compare_measured(SAMPLE, idle_rtt_s=0.02).as_dict()
    assert json.loads(given.output)["buffer"]["buffer_bytes"] == expected["buffer"]["buffer_bytes"]


def test_a_measurement_leads_to_the_buffer_that_the_link_should_have(tailroom: Tailroom) -> None:
    *_, command = tailroom("compare", "--measured", SAMPLE).output.splitlines()
    asked = shlex.split(command)
    # The link of the sample has 50 Mbit/s and an RTT of 20 ms.
    number, unit = asked[asked.index("--rate") + 1].split()
    assert unit == "Mbit/s"
    assert float(number) == pytest.approx(50, rel=0.02)
    assert asked[asked.index("--rtt") + 1] == "20 ms"
    answered = tailroom(*asked[1:], "--max-seeds", "4", "--duration", "5 s", "--json")
    assert answered.status == 0, answered.errors
    assert json.loads(answered.output)["limit"]["packets"] > 1


def test_an_idle_rtt_that_lacks_is_asked_for_until_it_is_given(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    measured = measurement_files.iperf3(
        measurement_files.simulated(Link(flows=2), seed=3), tmp_path / "upload.json"
    )
    without = tailroom("compare", "--measured", measured).output
    assert "next: measure the RTT" in without
    assert "--idle-rtt" in without
    given = tailroom("compare", "--measured", measured, "--idle-rtt", "20 ms").output
    assert "idle RTT 20.0 ms" in given
    assert "next: measure the RTT" not in given


def test_wrong_arguments_are_refused(refused: Printed, tmp_path: Path) -> None:
    shutil.copy(SAMPLE, tmp_path / "measured.flent.gz")
    refused("compare")


def test_a_link_without_permanent_flows_is_refused(scenario: Path) -> None:
    text = scenario.read_text(encoding="utf-8")
    cbr = 'source = { kind = "cbr", rate = "1 Mbit/s" }'
    scenario.write_text(text.replace('congestion = "cubic"', cbr), encoding="utf-8")
    with pytest.raises(tr.ScenarioError, match="no permanent flow"):
        tr.compare_measured(SAMPLE, scenario)


def test_idle_rtts_out_of_range_are_refused() -> None:
    for value in (-1.0, float("nan"), 1e9, True):
        with pytest.raises(tr.ArgumentError, match="idle_rtt_s"):
            tr.compare_measured(SAMPLE, idle_rtt_s=value)
