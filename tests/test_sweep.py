"""Sweeps: the numbers of single runs, none of them run twice, and what may go wrong."""

import gc
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom import _engine
from tailroom.execution import batch, executors, task
from tailroom.execution.task import Flag, Task, run_task
from tailroom.scenario.axis import Axis
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.engine_run import simulate
from tailroom.simulation.metrics import metrics_of
from tailroom.storage.run import Run
from tailroom.studies.sweep_study import plan as sweep_plan
from tailroom.studies.sweep_study.tables import runs_of
from tests.conftest import SMALL, Tailroom
from tests.killed_sweeps import RANDOM_START, measured

LIMIT = "links.bottleneck.queue.limit"
GRID = {LIMIT: ["5 packets", "20 packets"]}

CONTROL = """\
class Reno:
    def on_ack(self, event):
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event):
        return event.cwnd_packets / 2


class Raises(Reno):
    def on_ack(self, event):
        raise ZeroDivisionError("mine")
"""


class Steps:
    """Reno with a step that a scenario does not name."""

    def __init__(self, step: float) -> None:
        self.step = step

    def on_ack(self, event: tr.AckEvent) -> float:
        return event.cwnd_packets + self.step * event.acked_packets / event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        return event.cwnd_packets / 2


class Positional:
    """Makes such controls; two of them have the same name."""

    def __init__(self, step: float) -> None:
        self.step = step

    def __call__(self) -> Steps:
        return Steps(self.step)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "random.toml"
    path.write_text(SMALL + RANDOM_START, encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


class Told:
    """What a sweep reports."""

    def __init__(self) -> None:
        self.states: list[tr.RunProgress] = []

    def __call__(self, state: tr.RunProgress) -> None:
        self.states.append(state)

    @property
    def new_runs(self) -> int:
        return self.states[-1].done - self.states[-1].found


def new_runs(scenario: Path, store: Path, **options: Any) -> int:
    """How many runs a sweep did not find."""
    told = Told()
    tr.sweep(scenario, store=store, progress=told, **options)
    return told.new_runs


def test_a_key_may_be_named_by_its_end(scenario: Path) -> None:
    limits = ["5 packets", "9 packets"]
    swept = tr.sweep(scenario, grid={"limit": limits}, together={"rtt": ["20 ms"]}, seeds=1)
    assert set(swept.record.axes) == {LIMIT, "flows.reno.rtt"}
    axis = tr.Axis("queue.limit", tuple(limits))
    named = tr.sweep(scenario, grid={"limit": axis}, together={"rtt": ["20 ms"]}, seeds=1)
    assert named.record.axes == swept.record.axes
    compared = tr.choices(scenario, {"limit": limits})
    assert [choice.settings for choice in compared.choices] == [{LIMIT: limit} for limit in limits]


def test_without_a_store_the_runs_go_with_the_result(scenario: Path) -> None:
    swept = tr.sweep(scenario, grid=GRID, seeds=1)
    directory = swept.store.directory
    assert swept.to_pandas("utilization")["runs"].to_list() == [1, 1]
    assert len(tr.Store(directory).columns().keys) == 2
    del swept
    gc.collect()
    assert not directory.exists()
    kept = tr.sweep(scenario, seeds=1)
    kept.store.keep()
    directory = kept.store.directory
    del kept
    gc.collect()
    assert len(tr.Store(directory).runs()) == 1
    shutil.rmtree(directory)


def test_an_end_of_several_keys_or_of_one_key_twice_is_refused(scenario: Path) -> None:
    with pytest.raises(
        tr.ScenarioError, match=r"delay is short for several keys: links\.west\.delay, "
    ):
        tr.sweep("parking-lot", grid={"delay": ["1 ms"]})
    with pytest.raises(tr.ScenarioError, match=f"limit: the values of {LIMIT} are given twice"):
        tr.sweep(scenario, grid={LIMIT: ["5 packets"], "limit": ["9 packets"]})


def test_the_numbers_are_those_of_single_runs(scenario: Path, store: Path) -> None:
    result = tr.sweep(scenario, store=store, grid=GRID, seeds=3, workers=3)
    rows = runs_of(result.store, result.record).to_pylist()
    assert [(row[LIMIT], row["seed"]) for row in rows] == [
        (limit, seed) for limit in GRID[LIMIT] for seed in (1, 2, 3)
    ]
    for row in rows:
        alone = tr.run(scenario, seed=row["seed"], set={LIMIT: row[LIMIT]})
        summary = json.loads(row["summary"])
        assert summary == alone.summary
        metrics = metrics_of(alone.summary)
        assert {name: row[name] for name in metrics} == metrics
        assert row["scenario_hash"] == alone.summary["scenario_hash"]
        assert row["scenario"] == alone.scenario
        assert row["engine_build"] == _engine.build()
    assert len({row["links.bottleneck.queue_delay_s_mean"] for row in rows}) == 6


def test_a_metric_is_a_number_or_might_be_one(tmp_path: Path) -> None:
    path = tmp_path / "background.toml"
    poisson = """
[flows.background]
path = ["bottleneck"]
rtt = "20 ms"
source = { kind = "poisson", rate = "1 Mbit/s" }
"""
    path.write_text(SMALL + poisson, encoding="utf-8")
    metrics = metrics_of(tr.run(path).summary)
    assert metrics["groups.background.goodput_bps"]
    assert metrics["groups.background.rtt_s_mean"] is None
    # A group of permanent flows has no table of sizes, and this one no control.
    assert not {"groups.background.congestion", "groups.background.all_sizes"} & set(metrics)


def test_the_number_of_workers_changes_nothing(scenario: Path, tmp_path: Path) -> None:
    found = [
        measured(tr.sweep(scenario, store=tmp_path / f"{workers}", grid=GRID, workers=workers).runs)
        for workers in (1, 2, 7)
    ]
    assert found[0] == found[1] == found[2]


def test_processes_change_nothing(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "swept_control.py").write_text(CONTROL, encoding="utf-8")
    own = {"flows.reno.congestion": "swept_control:Reno"}
    found = [
        measured(
            tr.sweep(scenario, store=tmp_path / f"{count}", set=own, seeds=3, workers=count).runs
        )
        for count in (1, 2)
    ]
    assert found[0] == found[1]
    single = metrics_of(tr.run(scenario, seed=2, set=own).summary)
    assert {name: found[0][1][name] for name in single} == single


def test_together_goes_row_by_row_with_every_point_of_the_grid(scenario: Path, store: Path) -> None:
    together = {"links.bottleneck.rate": ["10 Mbit/s", "20 Mbit/s"], "flows.reno.count": [1, 4]}
    result = tr.sweep(scenario, store=store, grid=GRID, together=together, seeds=1)
    points = [tuple(point["settings"].values()) for point in result.record.points]
    assert points == [
        ("10 Mbit/s", 1, "5 packets"),
        ("10 Mbit/s", 1, "20 packets"),
        ("20 Mbit/s", 4, "5 packets"),
        ("20 Mbit/s", 4, "20 packets"),
    ]
    for rate, count, row in zip(
        result.runs["links.bottleneck.capacity_bps"].to_pylist(),
        result.runs["groups.reno.flows"].to_pylist(),
        points,
        strict=True,
    ):
        assert (rate, count) == ({"10 Mbit/s": 1e7, "20 Mbit/s": 2e7}[row[0]], row[1])


def test_a_value_may_come_again_in_another_row(scenario: Path, store: Path) -> None:
    together = {"links.bottleneck.rate": ["10 Mbit/s"] * 2, "flows.reno.count": [1, 4]}
    result = tr.sweep(scenario, store=store, together=together, seeds=1)
    assert result.runs["flows.reno.count"].to_pylist() == [1, 4]


def test_the_scenarios_own_sweep_is_read_and_the_arguments_add_to_it(
    scenario: Path, store: Path
) -> None:
    text = f"""
[sweep]
seeds = 2
grid.{LIMIT} = {{ from = "5 packets", to = "20 packets", points = 2 }}
together = {{ "flows.reno.count" = [1, 2], flows.reno.pacing = [false, true] }}
"""
    scenario.write_text(SMALL + RANDOM_START + text, encoding="utf-8")
    result = tr.sweep(scenario, store=store)
    assert list(result.record.axes) == ["flows.reno.count", "flows.reno.pacing", LIMIT]
    assert len(result.runs) == 8
    again = tr.sweep(scenario, store=store, grid={LIMIT: ["5 packets"]}, seeds=1)
    assert len(again.runs) == 2
    read = sweep_plan.plan(Scenario.of(scenario, {}), grid={"seed": Axis("a", (1,))})
    assert read.axes[-1] == Axis("a", (1,))


def test_what_is_missing_is_run_and_nothing_else(
    scenario: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "EVERY_S", 0.0)  # a file for each run
    first = tr.sweep(scenario, store=store, grid=GRID, seeds=3)
    right = measured(first.runs)
    lost = sorted((store / "runs").iterdir())[1:3]
    for file in lost:
        file.unlink()
    told = Told()
    assert (
        measured(tr.sweep(scenario, store=store, grid=GRID, seeds=3, progress=told).runs) == right
    )
    assert told.new_runs == 2
    assert new_runs(scenario, store, grid=GRID, seeds=3) == 0


def test_another_sweep_takes_the_runs_that_it_shares(scenario: Path, store: Path) -> None:
    assert new_runs(scenario, store, grid=GRID, seeds=2) == 4
    # 20 packets written in another way, one more limit, one more seed: 1 + 3 new ones.
    wider = {LIMIT: ["30000 B", "50 packets"]}
    assert new_runs(scenario, store, grid=wider, seeds=3, set={"title": "Two Reno flows"}) == 6
    assert new_runs(scenario, store, grid={LIMIT: ["20 packets", "50 packets"]}, seeds=3) == 1
    # Comments and the order of tables change nothing, what is simulated does.
    scenario.write_text("# A comment\n" + SMALL + RANDOM_START, encoding="utf-8")
    assert new_runs(scenario, store, grid=GRID, seeds=2) == 0
    assert new_runs(scenario, store, grid=GRID, seeds=2, set={"duration": "3 s"}) == 4


def test_series_that_were_not_kept_are_run_for(scenario: Path, store: Path) -> None:
    assert new_runs(scenario, store, seeds=2) == 2
    assert new_runs(scenario, store, seeds=2, series=True) == 2
    assert new_runs(scenario, store, seeds=2, series=True) == 0
    key = tr.sweep(scenario, store=store, seeds=2).record.points[0]["runs"][1]
    series = tr.Store(store).table(key, "link_series")
    assert series is not None
    alone = tr.run(scenario, seed=2).link_series
    assert alone is not None
    assert series.to_pydict() == alone.to_pydict()


def test_another_engine_is_told_apart(
    scenario: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = _engine.build()
    assert new_runs(scenario, store, seeds=2) == 2
    monkeypatch.setattr(_engine, "build", lambda: "0.0.0+other")
    assert new_runs(scenario, store, seeds=2) == 2
    builds = tr.Store(store).runs()["engine_build"].to_pylist()
    assert sorted(builds) == sorted([build, build, "0.0.0+other", "0.0.0+other"])


def test_a_worker_with_another_engine_is_refused(
    scenario: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(task: Task, cancelled: Flag) -> Run:
        with pytest.MonkeyPatch.context() as there:
            there.setattr(_engine, "build", lambda: "0.0.0+other")
            return run_task(task, cancelled)

    monkeypatch.setattr(executors, "run_task", elsewhere)
    with pytest.raises(tr.RunError, match=r"a worker has engine 0\.0\.0\+other, but the study"):
        tr.sweep(scenario, store=store, seeds=1, workers=1)
    assert len(tr.Store(store).runs()) == 0


def traced(scenario: Path, rate: int) -> None:
    """Has the link follow a trace of so many packets each 1,000 ms."""
    times = "\n".join(str(1 + round(packet * 1000 / rate)) for packet in range(rate))
    (scenario.parent / "link.trace").write_text(times + "\n", encoding="utf-8")


def test_the_content_of_a_trace_enters_the_key(scenario: Path, store: Path) -> None:
    text = (SMALL + RANDOM_START).replace('rate = "10 Mbit/s"', 'trace = "link.trace"')
    scenario.write_text(text, encoding="utf-8")
    traced(scenario, 800)
    assert new_runs(scenario, store, seeds=2) == 2
    assert new_runs(scenario, store, seeds=2) == 0
    traced(scenario, 400)
    assert new_runs(scenario, store, seeds=2) == 2


def test_a_file_that_changes_while_a_sweep_goes_on_fails_its_run(
    scenario: Path, store: Path
) -> None:
    text = (SMALL + RANDOM_START).replace('rate = "10 Mbit/s"', 'trace = "link.trace"')
    scenario.write_text(text, encoding="utf-8")
    traced(scenario, 800)

    def change(state: tr.RunProgress) -> None:
        if state.done == 1:
            traced(scenario, 400)

    with pytest.raises(tr.RunError, match="a file that it names has changed since the study began"):
        tr.sweep(scenario, store=store, seeds=3, workers=1, progress=change)
    assert len(tr.Store(store).runs()) == 1


@pytest.fixture
def own(scenario: Path) -> Callable[[str], str]:
    """Writes a module next to the scenario."""

    def write(text: str) -> str:
        name = f"control_of_{scenario.parent.name}"
        (scenario.parent / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    return write


def different(store: Path) -> int:
    """How many runs of a store have a queueing delay of their own."""
    delays = tr.Store(store).runs()["links.bottleneck.queue_delay_s_mean"].to_pylist()
    return len(set(delays))


def test_the_code_of_a_control_enters_the_key(
    tailroom: Tailroom, scenario: Path, store: Path, own: Callable[[str], str]
) -> None:
    name = own(CONTROL)
    given = {"reno": f"{name}:Reno"}
    assert new_runs(scenario, store, seeds=2, congestion=given) == 2
    assert new_runs(scenario, store, seeds=2, congestion=given) == 0
    own(CONTROL.replace("/ 2", "* 0.7"))
    # This process still has the old code, and must not store its results as the new code's.
    with pytest.raises(tr.ScenarioError, match="has changed since it was imported; start Python"):
        tr.sweep(scenario, store=store, seeds=2, congestion=given)
    del sys.modules[name]
    assert new_runs(scenario, store, seeds=2, congestion=given) == 2
    assert different(store) == 4


def test_arguments_of_a_control_enter_the_key(scenario: Path, store: Path) -> None:
    def with_step(step: float) -> dict[str, ControlFactory]:
        return {"reno": Positional(step)}

    assert new_runs(scenario, store, seeds=1, congestion=with_step(1.0)) == 1
    assert new_runs(scenario, store, seeds=1, congestion=with_step(1.0)) == 0
    assert new_runs(scenario, store, seeds=1, congestion=with_step(4.0)) == 1
    assert different(store) == 2


def test_a_control_that_no_process_can_take_over_is_refused(scenario: Path, store: Path) -> None:
    with pytest.raises(tr.ScenarioError, match=r"cannot be sent to another process .*top level"):
        tr.sweep(scenario, store=store, seeds=1, congestion={"reno": lambda: Steps(1.0)})
    assert not store.exists()


def test_an_exception_in_a_control_ends_the_sweep_with_its_traceback(
    tailroom: Tailroom, scenario: Path, store: Path, own: Callable[[str], str]
) -> None:
    control = f"{own(CONTROL)}:Raises"
    with pytest.raises(tr.ControlError, match="on_ack raised ZeroDivisionError: mine"):
        tr.sweep(scenario, store=store, seeds=3, congestion={"reno": control})
    setting = f'flows.reno.congestion="{control}"'
    ended = tailroom("sweep", scenario, "--store", store, "--set", setting)
    assert ended.status == 3
    assert re.search(
        r'\.py", line 11, in on_ack\n +raise ZeroDivisionError\("mine"\)', ended.errors
    )
    assert "error: flows.reno.congestion: " in ended.errors.splitlines()[-1]


ONE_RAISES = """\
import os


class Reno:
    def __init__(self):
        self.calls = 0

    def on_ack(self, event):
        self.calls += 1
        if self.calls == 1000:
            try:
                os.close(os.open({flag!r}, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return event.cwnd_packets
            raise ZeroDivisionError("the first")
        return event.cwnd_packets

    def on_congestion(self, event):
        return event.cwnd_packets / 2
"""


def test_an_exception_in_a_control_stops_the_other_processes(
    scenario: Path, store: Path, own: Callable[[str], str], tmp_path: Path
) -> None:
    control = f"{own(ONE_RAISES.format(flag=str(tmp_path / 'flag')))}:Reno"
    with pytest.raises(tr.ControlError, match="the first"):
        # The other run would take half an hour.
        tr.sweep(
            scenario,
            store=store,
            seeds=2,
            workers=2,
            set={"duration": "2000000 s"},
            congestion={"reno": control},
        )


def failing(monkeypatch: pytest.MonkeyPatch, seeds: set[int]) -> None:
    """Runs with these seeds fail."""

    def failing_simulate(source: Any, *, seed: int, **options: Any) -> tr.Result:
        if seed in seeds:
            raise tr.RunError("the account of packets does not balance")
        return simulate(source, seed=seed, **options)

    monkeypatch.setattr(task, "simulate", failing_simulate)


def test_a_run_that_fails_keeps_the_others(
    tailroom: Tailroom, scenario: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        failing(patched, {2})
        message = r"2 of 6 runs failed, the others are kept; the first: seed 2 at .*5 packets"
        with pytest.raises(tr.RunError, match=message):
            tr.sweep(scenario, store=store, grid=GRID, seeds=3)
        assert len(tr.Store(store).runs()) == 4
        ended = tailroom("sweep", scenario, "--store", store, "--seeds", 3)
        assert ended.status == 1
        assert "1 of 3 runs failed" in ended.errors
        shown = tailroom("results", store, "--sweep", tr.Store(store).sweeps()[0].id)
        assert shown.status == 0
    assert new_runs(scenario, store, grid=GRID, seeds=3) == 2


def test_progress_counts(scenario: Path, store: Path) -> None:
    tr.sweep(scenario, store=store, grid={LIMIT: ["20 packets"]}, seeds=2)
    told = Told()
    tr.sweep(scenario, store=store, grid=GRID, seeds=3, workers=1, progress=told)
    states = told.states
    assert (states[-1].done, states[-1].found, states[-1].total) == (6, 2, 6)
    assert [state.done for state in states] == sorted(state.done for state in states)
    # Both points are looked up, then four runs end.
    assert [state.done for state in states][-5:] == [2, 3, 4, 5, 6]


def test_an_exception_in_progress_stops_the_sweep_and_keeps_what_is_done(
    scenario: Path, store: Path
) -> None:
    def interrupt(state: tr.RunProgress) -> None:
        if state.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tr.sweep(scenario, store=store, seeds=50, workers=2, progress=interrupt)
    assert len(tr.Store(store).runs()) >= 3
    assert len(tr.Store(store).sweeps()[0].points[0]["runs"]) == 50
    assert new_runs(scenario, store, seeds=5) <= 2


def test_points_are_repeated_until_their_interval_is_narrow(scenario: Path, store: Path) -> None:
    until = tr.Precision("utilization", 0.004, at_least=4, at_most=60)
    told = Told()
    result = tr.sweep(scenario, store=store, grid=GRID, until=until, progress=told)
    means = result.means("utilization").to_pylist()
    assert all(row["half_width"] <= 0.004 for row in means)
    assert {row["runs"] for row in means} != {4}, "a point needs more runs than the least"
    assert told.states[-1].done == sum(row["runs"] for row in means)
    assert result.imprecise == []
    assert new_runs(scenario, store, grid=GRID, until=until) == 0
    # The seeds are those of a fixed number of runs.
    most = max(row["runs"] for row in means)
    fewer = sum(most - row["runs"] for row in means)
    assert new_runs(scenario, store, grid=GRID, seeds=most) == fewer


def test_points_that_stay_imprecise_are_given_up_and_named(
    tailroom: Tailroom, scenario: Path, store: Path
) -> None:
    limits = f"{LIMIT}=5 packets, 20000 packets"
    command = ("sweep", scenario, "--store", store, "--grid", limits, "--max-seeds", 6)
    ended = tailroom(*command, "--until", "loss_fraction<1e-6")
    assert ended.status == 0
    text = " ".join(ended.output.split())
    # Nothing is lost at 20,000 packets.
    warning = text.split("warning: ")[1]
    assert warning.startswith("at 1 of 2 points: loss_fraction is not within ±1e-06 after 6 runs:")
    assert "raise --max-seeds" in warning
    assert f"{LIMIT} = 5 packets" in warning
    assert f"{LIMIT} = 20000 packets" not in warning
    record = tr.Store(store).sweeps()[0]
    assert len(record.points[0]["runs"]) == 6
    (found,) = [
        one
        for one in tr.SweepResult(tr.Store(store), record).warnings_by_point
        if one[0]["kind"] == "imprecise"
    ]
    assert "raise max_seeds" in found[0]["text"]
    assert found[1] == (f"{LIMIT} = 5 packets",)
    shown = tailroom("results", store, "--sweep", record.id)
    assert "loss_fraction is not within" in " ".join(shown.output.split())


def test_a_sweep_in_which_seeds_make_no_difference_says_so(
    tailroom: Tailroom, small: Path, scenario: Path, store: Path
) -> None:
    still = ("--set", "flows.reno.send_jitter=none")
    assert "draws nothing at random" in tailroom("sweep", small, "--store", store, *still).output
    assert "draws nothing at random" not in tailroom("sweep", scenario, "--store", store).output


def test_means_and_runs_of_a_metric(tailroom: Tailroom, scenario: Path, store: Path) -> None:
    result = tr.sweep(scenario, store=store, grid=GRID, seeds=4)
    values = result.runs["links.bottleneck.utilization"].to_pylist()
    means = result.means("utilization").to_pylist()
    assert [row[LIMIT] for row in means] == GRID[LIMIT]
    assert means[1]["mean"] == pytest.approx(sum(values[4:]) / 4, rel=1e-12)
    with_texts = runs_of(result.store, result.record)
    assert with_texts.drop_columns(["scenario", "summary"]).equals(result.runs)
    for name in ("seed", "wall_s", "title", "scenario", "utilisation"):
        with pytest.raises(ValueError, match=f"{name}: there is no such metric"):
            result.means(name)
    ended = tailroom("results", store, "--metric", "jain_index", "--sweep", "random-")
    assert ended.output.splitlines()[0] == f"{LIMIT},mean,half_width,low,high,runs,planned_runs"
    assert len(ended.output.splitlines()) == 3


def test_questions_in_sql_and_files(
    tailroom: Tailroom, scenario: Path, store: Path, tmp_path: Path
) -> None:
    result = tr.sweep(scenario, store=store, grid=GRID, seeds=2)
    sql = (
        f'SELECT "{LIMIT}" AS buffer, count(*) AS n FROM "{result.record.id}" GROUP BY 1 ORDER BY 1'
    )
    assert (
        tailroom("results", store, "--sql", sql).output == "buffer,n\n20 packets,2\n5 packets,2\n"
    )
    assert tailroom("results", store, "--sql", "SELECT count(*) FROM runs").output.endswith("\n4\n")
    for name in ("runs.csv", "runs.parquet"):
        assert tailroom("results", store, "--out", tmp_path / name).status == 0
        before = (tmp_path / name).read_bytes()
        again = tailroom("results", store, "--out", tmp_path / name)
        assert again.status == 2
        assert (tmp_path / name).read_bytes() == before
