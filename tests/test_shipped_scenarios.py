"""Shipped scenarios by name, and scenarios from standard input."""

import io
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.shipped_scenarios import shipped_scenarios
from tests.conftest import SMALL, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

TITLE = "One Reno flow, half a bandwidth-delay product of buffer"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No directory `scenarios` is near."""
    monkeypatch.chdir(tmp_path)


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    "command",
    [
        ["run"],
        ["run", "--json"],
        ["sweep", "--seeds", "1"],
        ["model"],
        ["plot"],
    ],
)
def test_every_command_finds_a_shipped_scenario_by_name(
    tailroom: Tailroom, command: list[str]
) -> None:
    ended = tailroom(command[0], "first", *command[1:])
    assert ended.status == 0, ended.errors


def test_python_finds_a_shipped_scenario_by_name(tmp_path: Path) -> None:
    assert tr.run("first").summary["title"] == TITLE
    swept = tr.sweep("first", store=tmp_path / "store", seeds=1)
    assert swept.record.title == TITLE
    assert swept.record.id.startswith("first-")
    assert tr.predict("first").link.name == "bottleneck"


def test_a_file_of_that_name_comes_first(tmp_path: Path) -> None:
    (tmp_path / "first").write_text(SMALL, encoding="utf-8")
    assert tr.run("first").summary["title"] == "Two Reno flows"


def test_a_directory_of_that_name_is_no_scenario(tailroom: Tailroom) -> None:
    assert tailroom("run", "first", "--out", "first").status == 0
    assert tailroom("run", "first").status == 0


def test_the_last_part_of_a_name_suffices_where_it_is_the_only_one(tailroom: Tailroom) -> None:
    short, full = (Scenario.of(name, {}) for name in ("figure-3", "barman-2004/figure-3"))
    assert short.text == full.text
    ended = tailroom("run", "figure-4")
    assert ended.status == 2
    assert "choose one of auge-roberts-2006/figure-4, barman-2004/figure-4" in ended.errors


def test_an_unknown_name_is_answered_with_the_nearest(tailroom: Tailroom) -> None:
    ended = tailroom("run", "frist")
    assert ended.status == 2
    assert "give the path of a scenario file (TOML), or a name that" in ended.errors
    assert ended.errors.endswith("did you mean first?\n")


def test_an_unknown_file_is_answered_with_a_file_next_to_it(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "office.toml").write_text("", encoding="utf-8")
    (tmp_path / "office.md").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("offce.toml", "office"):
        assert tailroom("run", name).errors.endswith("did you mean office.toml?\n")
    ended = tailroom("run", tmp_path / "offce.toml")
    assert ended.errors.endswith(f"did you mean {tmp_path / 'office.toml'}?\n")
    assert "did you mean" not in tailroom("run", tmp_path / "nowhere" / "offce.toml").errors


def test_list_prints_names_that_can_be_typed(tailroom: Tailroom) -> None:
    lines = tailroom("list", "scenarios").output.splitlines()
    names = [line for line in lines if not line.startswith("  ")]
    assert names == list(shipped_scenarios())
    assert {"first", "barman-2004/figure-3"} < set(names)
    assert lines[lines.index("first") + 1] == f"  {TITLE}"


@pytest.mark.parametrize("command", ["run", "sweep", "model"])
def test_a_dash_reads_standard_input(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    piped(monkeypatch, SMALL)
    ended = tailroom(command, "-")
    assert ended.status == 0, ended.errors


def test_standard_input_may_be_needed_twice(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, SMALL)
    ended = tailroom("run", "-", "--phase-check")
    assert ended.status == 0, ended.errors


def test_what_is_wrong_with_standard_input_is_named(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, SMALL.replace("rate", "rat"))
    ended = tailroom("run", "-")
    assert ended.status == 2
    assert ended.errors.startswith("error: stdin: line 9, links.bottleneck.rat: ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "duration"),
    [
        *((name, "30 s") for name in ("dsl", "home-router", "lte", "satellite", "two-way")),
        *((name, "60 s") for name in ("docsis", "low-orbit", "wifi")),
        ("peering", "6 s"),
        ("data-center", "0.5 s"),
    ],
)
def test_no_preset_asks_for_an_undo(name: str, duration: str) -> None:
    """Packets keep their order and no delay outlasts a timer, so that what is sent again was lost,
    but for tail loss probes."""
    sums = sums_of_groups(name, duration)
    assert sums["undone_reductions"] == 0
    assert sums["duplicate_packets"] <= max(1, 0.01 * sums["retransmissions"])


def test_a_falling_rate_outlasts_timers_as_the_comment_of_cellular_says() -> None:
    settings: tuple[dict[str, Any], ...] = ({}, {"defaults.undo": False, "defaults.frto": False})
    with_undo, without = (
        sum(
            (sums_of_groups("cellular", "300 s", seed=seed, **keys) for seed in (1, 2, 3)),
            Counter(),
        )
        for keys in settings
    )
    assert with_undo["undone_reductions"] > 0
    assert with_undo["duplicate_packets"] <= with_undo["loss_probes"] + with_undo["timeouts"]
    assert without["undone_reductions"] == 0
    assert without["duplicate_packets"] > without["loss_probes"] + without["timeouts"]


def sums_of_groups(name: str, duration: str, **changes: object) -> Counter[str]:
    """What the groups counted, added up."""
    values = {"duration": duration, "measure_from": "0 s", **changes}
    groups: Any = tr.run(name, set=values).summary["groups"]
    keys = ("retransmissions", "duplicate_packets", "timeouts", "loss_probes", "undone_reductions")
    return Counter({key: sum(group[key] or 0 for group in groups.values()) for key in keys})
