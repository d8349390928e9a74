"""What `size` says while it searches: bracket, best answer so far, and how much is left."""

import shutil
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.cli import progress
from tailroom.studies.size_study.answer import SizeProgress


def test_the_search_reports_bracket_and_expected_runs(small: Path) -> None:
    told: list[SizeProgress] = []
    found = tr.size(
        small, ["utilization >= 85%"], max_seeds=8, progress=told.append, most_loss=None
    )
    assert all(one.total >= one.done for one in told)
    assert told[-1].total == told[-1].done
    # The best answer so far only gets smaller, and the largest buffer that misses only larger.
    answers = [one.high for one in told]
    assert answers == sorted(answers, reverse=True)
    assert answers[-1] == found.limit_packets
    assert told[-1].low == found.too_small_packets
    # What follows the search may take long: each stage is told when it begins.
    stages = list(dict.fromkeys(one.stage for one in told))
    assert stages[0] == "search"
    assert [stage for stage in stages if stage in ("confirm", "phases", "models")] == [
        "confirm",
        "phases",
        "models",
    ]


def test_an_interrupted_search_without_a_store_writes_its_runs_into_one(small: Path) -> None:
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
    assert with_it <= set(known.store.columns().keys)
    shutil.rmtree(known.store.directory)


@pytest.mark.parametrize(
    ("low", "high", "line"),
    [
        (140, 692, "692 packets suffice, 140 packets are too few"),
        (0, 692, "692 packets suffice, no buffer is known to be too small"),
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
