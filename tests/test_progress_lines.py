"""What a log says of long work: lines at growing intervals, the same for all commands."""

import re
import time
from collections.abc import Callable
from itertools import islice
from math import inf
from typing import Any

import pytest

import tailroom as tr
from tailroom.cli import progress
from tailroom.studies.size_study.size_progress import SizeProgress
from tailroom_atlas.progress import atlas_bar
from tailroom_atlas.study import AtlasProgress

STATES = {
    progress.size_bar: SizeProgress(done=6, total=50, low=0, high=inf),
    progress.runs_bar: tr.RunProgress(done=6, total=50, found=2),
    progress.progress_bar: tr.Progress(done=6.0, total=50.0),
    atlas_bar: AtlasProgress(6, 50, core_s=100.0, all_core_s=1000.0, new_runs=7),
}
LINES = {
    progress.size_bar: r"6 of about 50 runs have ended, about \d+ s left",
    progress.runs_bar: r"6 of 50 runs have ended, about \d+ s left",
    progress.progress_bar: r"6 of 50 s simulated, about \d+ s left",
    atlas_bar: r"6 of 50 cells, 7 new runs, about \d+ s left",
}


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOW_AFTER_S", 0.1)
    monkeypatch.setattr(progress, "FIRST_ANSWER_AFTER_S", 0.2)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.3)


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("bar", list(STATES))
def test_a_log_has_lines_while_the_work_goes_on(
    bar: Callable[[], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    with bar() as report:
        time.sleep(0.05)
        report(STATES[bar])
        time.sleep(1.5)
    # At 0.1 s (not of a single run), 0.2 s, and 0.3 s, 0.6 s ...
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) >= 4
    # The first is left out as it may be early: a study does not know yet how long the rest takes.
    for line in lines[2:]:
        assert re.fullmatch(f"after [0-2] s: {LINES[bar]}", line)


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("bar", [progress.size_bar, progress.runs_bar])
def test_a_log_has_the_number_of_runs_before_the_first_has_ended(
    bar: Callable[[], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    with bar() as report:
        if bar is progress.size_bar:
            report(SizeProgress(done=0, total=50, low=0, high=inf))
        else:
            report(tr.RunProgress(done=0, total=50, found=0))
        time.sleep(0.6)
    lines = capfd.readouterr().err.splitlines()
    assert {line.partition(": ")[2].replace("about ", "") for line in lines} == {
        "0 of 50 runs have ended"
    }


@pytest.mark.parametrize("bar", list(STATES))
def test_a_log_of_short_work_is_empty(
    bar: Callable[[], Any],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "SHOW_AFTER_S", 3600.0)
    with bar() as report:
        report(STATES[bar])
    assert not capfd.readouterr().err


def test_lines_come_soon_and_then_each_minute() -> None:
    assert list(islice(progress._moments(), 5)) == [1, 10, 60, 120, 180]


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [(1, "1 s"), (60, "60 s"), (120, "2 min"), (7100, "118 min"), (9000, "2.5 h")],
)
def test_durations_in_words(duration_s: float, words: str) -> None:
    assert progress.duration_words(duration_s) == words
