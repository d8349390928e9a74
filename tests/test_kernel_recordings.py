"""The recorded runs of the Linux kernel's TCP are whole, and tailroom agrees with them."""

from pathlib import Path

import pytest

from tests.validation import kernel
from validation.kernel import matrix
from validation.kernel.experiment import Experiment

LIMIT_BYTES = 10_000_000
"""Recordings and traces together, so that a checkout stays small."""


def test_every_experiment_is_recorded() -> None:
    names = {experiment.name for experiment in matrix.experiments()}
    assert {path.name.removesuffix(".json.xz") for path in kernel.RECORDED.glob("*.xz")} == names


def test_recordings_are_small() -> None:
    files = [path for path in kernel.RECORDED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LIMIT_BYTES


@pytest.mark.parametrize("experiment", matrix.experiments(), ids=lambda one: one.name)
def test_a_recording_is_of_its_experiment_and_valid(experiment: Experiment) -> None:
    recorded = kernel.load(kernel.RECORDED / f"{experiment.name}.json.xz")
    assert recorded["scenario"] == experiment.scenario
    assert [run["invalid"] for run in recorded["runs"]] == [[]] * matrix.REPETITIONS


def test_another_control_is_noticed() -> None:
    lines: list[str] = []
    only = ["--only", "alone-reno-50-mbit-100-packets"]
    assert kernel.main([*only, "--set", "flows.flow.congestion=cubic"], lines.append) == 1
    assert any("MISSES" in line for line in lines)


def test_a_directory_of_new_recordings_is_compared(tmp_path: Path) -> None:
    name = "alone-reno-50-mbit-100-packets"
    recorded = kernel.RECORDED / f"{name}.json.xz"
    (tmp_path / recorded.name).write_bytes(recorded.read_bytes())
    lines: list[str] = []
    assert kernel.main(["--recorded", str(tmp_path), "--markdown"], lines.append) == 0
    assert lines[0].startswith(f"| `{name}` | 1.000\N{NO-BREAK SPACE}/")
    assert "0 of 5 goals are missed" in lines[1]


@pytest.mark.slow
def test_no_goal_is_missed_but_those_that_are_known() -> None:
    lines: list[str] = []
    assert kernel.main([], lines.append) == 0, "\n".join(lines)
