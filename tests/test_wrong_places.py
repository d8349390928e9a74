"""A place that takes no runs is refused before any work: planning, models, simulations."""

from collections.abc import Callable
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.execution.runner import Runner
from tailroom.studies import prediction
from tailroom.studies.size_study import study as size_study
from tailroom_papers.framework import run as reproduction
from tests.conftest import Tailroom

UTILIZATION = "utilization >= 0.9"
COMMANDS: dict[str, tuple[str, ...]] = {
    "atlas": ("atlas", "run", "dsl-10Mbit-20-60ms-1-cubic-drop_tail", "--store", "STORE"),
    "choices": ("run", "FILE", "--vary", "flows.reno.count=1, 2", "--store", "STORE"),
    "compare": ("compare", "FILE", "--seeds", "2", "--store", "STORE"),
    "evaluate": ("evaluate", "reno", "--quick", "--store", "STORE"),
    "frontier": (
        *("size", "FILE", "--target", UTILIZATION, "--vary", "flows.reno.count=1, 2"),
        *("--store", "STORE"),
    ),
    "papers": ("papers", "run", "su-2005-fhstcp", "--quick", "--out", "STORE"),
    "size": ("size", "FILE", "--target", UTILIZATION, "--store", "STORE"),
    "sweep": ("sweep", "FILE", "--grid", "flows.reno.count=1, 2", "--store", "STORE"),
}
"""A call of every command that keeps runs."""


def a_file(place: Path) -> None:
    place.write_text("a file")


def of_something_else(place: Path) -> None:
    place.mkdir()
    (place / "letter.txt").write_text("of somebody")


PLACES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file": (a_file, "is a file"),
    "of something else": (of_something_else, "is not a store|holds something else"),
}


def unwanted(*_: object, **__: object) -> None:
    raise AssertionError("the place was not refused before")


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets models, planning and runs fail."""
    monkeypatch.setattr(prediction, "ask", unwanted)
    monkeypatch.setattr(size_study, "ask", unwanted)
    monkeypatch.setattr(reproduction, "plan_parts", unwanted)
    monkeypatch.setattr(Runner, "complete", unwanted)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_place_is_refused_before_any_work(
    tailroom: Tailroom, small: Path, tmp_path: Path, command: str, kind: str
) -> None:
    make, problem = PLACES[kind]
    make(place := tmp_path / "place")
    ended = tailroom(*_filled(command, small, place))
    assert ended.status == 2
    assert str(place) in ended.errors
    assert any(words in ended.errors for words in problem.split("|")), ended.errors
    assert ended.output == ""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs a directory without room")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "papers"])
def test_a_store_that_takes_no_runs_is_refused_before_the_first(
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """The directory of its runs is one of `/proc`, in which not even the superuser may write."""
    monkeypatch.setattr("tailroom.execution.runner._Work.next_task", unwanted)
    place = tr.Store.create(tmp_path / "place").directory
    (place / "runs").rmdir()
    (place / "runs").symlink_to("/proc/self/task")
    ended = tailroom(*_filled(command, small, place))
    assert ended.status == 1
    assert f"error: {place / 'runs'}: " in ended.errors
    assert "make it writable" in ended.errors


def test_a_wrong_cluster_is_refused_before_the_run_whose_phases_are_checked(
    tailroom: Tailroom, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(tr, "run", unwanted)
    ended = tailroom("run", small, "--phase-check", "--cluster", "nowhere://x:1")
    assert ended.status == 2
    assert ended.errors.startswith("error: cluster nowhere://x:1: ")


@pytest.mark.usefixtures("no_work")
def test_a_wrong_number_of_seeds_is_refused_before_the_curves(
    tailroom: Tailroom, small: Path
) -> None:
    ended = tailroom("model", small, "--over", "limit=5 packets, 10 packets", "--seeds", "-1")
    assert ended.status == 2
    assert "--seeds" in ended.errors


def test_a_store_that_takes_no_runs_gives_those_it_has(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tr.choices(small, seeds=2, store=tmp_path / "place")
    monkeypatch.setattr(tr.Store, "check_writable", unwanted)
    again = tr.choices(small, seeds=2, store=tmp_path / "place")
    assert again.choices[0].metrics == here.choices[0].metrics


def _filled(command: str, scenario: Path, place: Path) -> list[str]:
    places = {"FILE": str(scenario), "STORE": str(place)}
    return [places.get(word, word) for word in COMMANDS[command]]
