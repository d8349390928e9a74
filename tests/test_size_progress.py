"""What `size` says while it searches: bracket, best answer so far, and how much is left."""

import io
import shutil
import threading
from pathlib import Path

import pytest
from rich.console import Console

import tailroom as tr
from tailroom.cli import progress
from tailroom.execution import executors
from tailroom.execution.task import Flag, Task, run_task
from tailroom.storage.run import Run
from tailroom.studies.size_study import study
from tailroom.studies.size_study.size_progress import SizeProgress

pytestmark = pytest.mark.usefixtures("quick_models")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_is_known_and_the_bar_have_a_line_each(width: int) -> None:
    """Both wrapped into each other at 80 columns."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True)
    bar = progress.SearchProgress(
        *progress.SearchProgress.get_default_columns()[1:], console=console, auto_refresh=False
    )
    known = "1,234 packets suffice, 1,100 packets are too few"
    bar.add_task(known, total=170, completed=17)
    with console.capture() as drawn:
        console.print(bar.get_renderable())
    first, second = drawn.get().rstrip("\n").splitlines()
    assert first.rstrip() == known
    assert "10%" in second


def test_the_search_reports_bracket_and_expected_runs(small: Path) -> None:
    told: list[SizeProgress] = []
    found = tr.size(
        small, ["utilization >= 85%"], max_seeds=8, progress=told.append, most_loss=None
    )
    assert all(one.total >= one.done for one in told)
    assert told[-1].total == told[-1].done
    # The regression may revise what the runs of single buffers seemed to say.
    answers = [one.high for one in told]
    assert answers[0] == float("inf")
    assert answers[-1] == found.limit_packets
    assert told[-1].low == found.too_small
    # What follows the search may take long: each stage is told when it begins.
    stages = list(dict.fromkeys(one.stage for one in told))
    assert stages[0] == "search"
    assert [stage for stage in stages if stage in ("confirm", "phases", "models")] == [
        "confirm",
        "phases",
        "models",
    ]


def test_an_interrupted_search_without_a_store_writes_its_runs_into_one(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press_ctrl_c(state: SizeProgress) -> None:
        if state.done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(tr.Interrupted) as ended:
        tr.size(small, ["utilization >= 85%"], max_seeds=8, progress=press_ctrl_c)
    known = ended.value.known
    assert isinstance(known, tr.Size)
    assert known.store
    with_it = {key for tried in known.tried for key in tried.point.rows}
    assert with_it
    kept = known.store.columns().keys
    assert with_it <= kept
    assert len(list((known.store.directory / "runs").iterdir())) == 1
    performed: list[str] = []

    def noted(task: Task, cancelled: Flag) -> Run:
        performed.append(task.key)
        return run_task(task, cancelled)

    monkeypatch.setattr(executors, "run_task", noted)
    again = tr.size(small, ["utilization >= 85%"], max_seeds=8, store=known.store.directory)
    assert performed
    assert kept.isdisjoint(performed)
    assert again.limit_packets == tr.size(small, ["utilization >= 85%"], max_seeds=8).limit_packets
    shutil.rmtree(known.store.directory)


def test_every_finished_run_is_written_after_ctrl_c(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def press_ctrl_c(state: SizeProgress) -> None:
        done.append(state.done)
        if state.done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(tr.Interrupted) as ended:
        tr.size(small, ["utilization >= 85%"], max_seeds=8, progress=press_ctrl_c)
    known = ended.value.known
    assert isinstance(known, tr.Size)
    store = known.store
    assert store
    assert len(store.columns().keys) == max(done)
    shutil.rmtree(store.directory)


def test_what_writes_a_store_is_loaded_while_a_long_search_goes_on(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = threading.Event()
    monkeypatch.setattr(study, "_load_store", loaded.set)
    monkeypatch.setattr(study, "LOAD_AFTER_S", 0.0)

    def wait(_: SizeProgress) -> None:
        assert loaded.wait(60)

    tr.size(small, ["utilization >= 85%"], max_seeds=4, progress=wait)


def test_a_short_search_does_not_load_what_writes_a_store(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "_load_store", lambda: pytest.fail("loaded"))
    monkeypatch.setattr(study, "LOAD_AFTER_S", 3600.0)
    tr.size(small, ["utilization >= 85%"], max_seeds=4)


@pytest.mark.parametrize(
    ("low", "high", "line"),
    [
        (140, 692, "692 packets suffice, 140 packets are too few"),
        (0, 692, "692 packets suffice, nothing is known to be too small"),
        (140, float("inf"), None),
    ],
)
def test_a_long_search_prints_each_better_answer_where_nobody_sees_a_bar(
    low: int,
    high: float,
    line: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress, "FIRST_ANSWER_AFTER_S", -1.0)
    with progress.size_bar() as report:
        report(SizeProgress(done=10, total=50, low=low, high=high))
        report(SizeProgress(done=11, total=50, low=low, high=high))
    lines = capfd.readouterr().err.splitlines()
    assert [one.partition(": ")[2] for one in lines] == ([line] if line else [])


def test_each_stage_after_the_search_is_printed_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST_ANSWER_AFTER_S", -1.0)
    with progress.size_bar() as report:
        for stage in ("search", "confirm", "confirm", "phases", "phases", "models"):
            report(SizeProgress(10, 50, 140, 692, stage))
    lines = [line.partition(": ")[2] for line in capfd.readouterr().err.splitlines()]
    assert lines == [
        "692 packets suffice, 140 packets are too few",
        "repeating the answer with more seeds",
        "phase check: the answer with shifted RTTs",
        "evaluating the models at the limit of the answer",
    ]
