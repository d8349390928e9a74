"""Phase checks: what shifts of RTTs by fractions of a packet time change, and what they cannot."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

import tailroom as tr
from tailroom.execution.progress import RunProgress
from tailroom.scenario.axis import setting_words
from tailroom.scenario.scenario import Scenario
from tailroom.studies.phases import phase_spread
from tailroom_papers.framework import Form, load, names
from tailroom_papers.framework.plan import plan_parts
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

CUBIC = """\
title = "Two groups of CUBIC"
duration = "40 s"
measure_from = "10 s"

[defaults]
host = "plain"

[links.link]
rate = "100 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "0.5 bdp" }

[flows.short]
count = 4
path = ["link"]
congestion = "cubic"
rtt = "40 ms"
send_jitter = "none"

[flows.long]
count = 4
path = ["link"]
congestion = "cubic"
rtt = "80 ms"
send_jitter = "none"
"""
GOODPUT = "groups.long.goodput_bps"


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    """A scenario without randomness, whose phases decide."""
    path = tmp_path / "locked.toml"
    path.write_text(CUBIC, encoding="utf-8")
    return path


def test_runs_of_one_kind_are_told_apart_in_one_case_of_twenty() -> None:
    """2,000 pairs of samples of one distribution: 5 % of false alarms, standard deviation 0.5 %."""
    draw = np.random.default_rng(7)
    samples = draw.normal(1.0, 0.5, (2_000, 2, 8))
    alarms = sum(phase_spread("x", *pair).is_phase_dependent for pair in samples)
    assert 0.03 < alarms / 2_000 < 0.065


def test_a_shifted_mean_and_a_wider_spread_are_noticed() -> None:
    narrow = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0]
    assert not phase_spread("x", narrow, narrow[::-1]).is_phase_dependent
    assert phase_spread("x", narrow, [one + 0.2 for one in narrow]).is_phase_dependent
    assert phase_spread("x", narrow, [0.6, 1.4, 0.7, 1.3, 0.8, 1.2]).is_phase_dependent
    # Runs that draw nothing at random have no spread at all.
    assert phase_spread("x", [1.0] * 4, [1.0, 1.0, 1.0, 1.5]).is_phase_dependent


def test_what_does_not_matter_is_no_phase_effect() -> None:
    """Certain, but below 1 % of the value."""
    spread = phase_spread("x", [1.0] * 4, [1.001, 1.002, 1.003, 1.002])
    assert not spread.is_phase_dependent
    assert (spread.lowest, spread.highest) == (1.001, 1.003)


def test_one_run_shows_no_spread() -> None:
    with pytest.raises(ValueError, match="at least two"):
        phase_spread("x", [1.0], [1.0, 2.0])


def test_a_check_finds_locked_phases(locked: Path) -> None:
    spreads = {one.metric: one for one in tr.phase_check(locked, seeds=4)}
    goodput = spreads[GOODPUT]
    # Seeds draw only whose packet is first where two meet.
    assert goodput.is_phase_dependent
    assert goodput.highest > 2 * goodput.seeds.mean
    assert set(spreads) >= {"links.link.utilization", "groups.short.goodput_bps"}


def test_a_check_takes_metrics_and_refuses_one_run(locked: Path) -> None:
    settings = {"duration": "12 s"}
    (jain,) = tr.phase_check(locked, metrics=["jain_index"], seeds=2, set=settings)
    assert jain.metric == "flows.jain_index"
    with pytest.raises(tr.ArgumentError, match=r"^seeds: 1 is .* at least 2"):
        tr.phase_check(locked, seeds=1)


def test_a_check_refuses_an_unknown_metric_before_any_run(locked: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with pytest.raises(tr.MetricError, match="nonsense: there is no such metric"):
        tr.phase_check(locked, metrics=["nonsense"], store=store)
    assert not store.exists()


def test_a_check_with_a_store_repeats_no_run(locked: Path, tmp_path: Path) -> None:
    settings = {"duration": "12 s"}
    reports: list[RunProgress] = []
    first, second = (
        tr.phase_check(
            locked, seeds=2, set=settings, store=tmp_path / "store", progress=reports.append
        )
        for _ in range(2)
    )
    assert first == second == tr.phase_check(locked, seeds=2, set=settings)
    assert (reports[0].found, reports[-1].found, reports[-1].total) == (0, 4, 4)


def test_run_prints_the_check(tailroom: Tailroom, locked: Path) -> None:
    quick = ("--set", "duration=15 s", "--phase-check")
    shown = tailroom("run", locked, *quick)
    assert shown.status == 0
    assert "8 shifts of less than a packet time" in shown.output
    assert "traffic phase effects" in shown.output
    ended = tailroom("run", locked, *quick, "--json")
    checked = {one["metric"]: one for one in json.loads(ended.output)["phase_check"]}
    assert checked[GOODPUT]["runs"] == 8
    assert checked[GOODPUT]["is_phase_dependent"] is True
    assert checked[GOODPUT]["shifted_highest"] > checked[GOODPUT]["mean"]


def test_a_sweep_checks_every_point_as_often_as_it_has_seeds(
    tailroom: Tailroom, locked: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    swept = locked.read_text() + (
        '\n[sweep]\nseeds = 3\nphase_check = true\n[sweep.grid]\n"flows.long.count" = [2, 4]\n'
    )
    locked.write_text(swept.replace("40 s", "20 s", 1), encoding="utf-8")
    result = tr.sweep(locked, store=store)
    points = result.record.points
    assert [len(point["shifted_runs"]) for point in points] == [3, 3]
    keys = {key for point in points for key in (*point["runs"], *point["shifted_runs"])}
    assert len(keys) == 12
    # The table of runs is that of the scenario as written.
    assert result.runs.num_rows == 6
    spreads = result.phase_spreads([GOODPUT])
    assert [len(one) for one in spreads] == [1, 1]
    concerned = [
        setting_words(point["settings"], result.record.axes)
        for point, of_point in zip(points, result.phase_spreads(), strict=True)
        if any(spread.is_phase_dependent for spread in of_point)
    ]
    (found,) = [one for one in result.warnings_by_point if one[0]["kind"] == "phase_dependent"]
    assert found[0] in result.warnings
    assert found[1] == tuple(concerned)
    assert all(one[0].is_phase_dependent for one in spreads)

    again: list[int] = []
    tr.sweep(locked, store=store, progress=lambda state: again.append(state.done - state.found))
    assert max(again) == 0
    shown = tailroom("sweep", locked, "--store", store)
    assert "shifted" in shown.output
    assert f"warning: {found[0]['text']}" in shown.output


def test_a_sweep_without_the_check_has_none(locked: Path, tmp_path: Path) -> None:
    grid = {"duration": ["12 s", "13 s"]}
    result = tr.sweep(locked, store=tmp_path / "store", grid=grid, seeds=1)
    assert result.phase_spreads() == [[], []]
    with pytest.raises(tr.ScenarioError, match="give at least 2 seeds"):
        tr.sweep(locked, store=tmp_path / "store", grid=grid, seeds=1, phase_check=True)


def test_size_checks_its_answer(tailroom: Tailroom, small: Path) -> None:
    answer = tr.size(small, ["utilization >= 0.8"], max_seeds=4)
    assert answer.chosen is not None
    assert answer.phases[0].metric == "links.bottleneck.utilization"
    assert answer.phases[0].shifts.count == len(answer.chosen.point.keys)
    asked = ("size", small, "--target", "utilization >= 0.8", "--max-seeds", 4)
    assert "Phase check" in tailroom(*asked, "--explain").output
    printed = json.loads(tailroom(*asked, "--json").output)
    assert printed["phase_check"][0]["metric"] == "links.bottleneck.utilization"


@pytest.mark.slow
def test_every_run_of_a_paper_says_which_delay_its_senders_have() -> None:
    """Papers are compared with ns-2 and tables, whose senders had none, or with machines."""
    for name in names():
        for planned in plan_parts(paper := load(name), paper.parts, Form.SMOKE):
            for point in planned.points:
                silent = silent_groups(point.source)
                assert not silent, (planned.part.name, planned.study.name, silent)


def silent_groups(source: Scenario) -> list[str]:
    """The groups with congestion control for which the scenario does not give the delay."""
    flows = source.resolved["flows"]
    tables = tomllib.loads(source.text)
    written, shared = tables["flows"], tables.get("defaults", {})
    replaced = dict(source.overrides)
    return [
        name
        for name, group in flows.items()
        if "congestion" in group
        and group["send_jitter"] == "auto"
        and "send_jitter" not in {*written.get(name, {}), *shared}
        and f"flows.{name}.send_jitter" not in replaced
    ]
