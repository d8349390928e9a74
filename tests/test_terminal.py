"""What all commands share on the terminal: one notation of losses, colours that words repeat."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import tailroom as tr
from tailroom.cli import size_report
from tailroom.studies.size_study.regression import Crossing
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

LIMITS = "links.bottleneck.queue.limit=5 packets, 20 packets"
COMMANDS = {
    "run": (),
    "choices": ("--vary", LIMITS, "--seeds", 2),
    "sweep": ("--grid", LIMITS, "--seeds", 2),
    "model": (),
    "curves": ("--over", LIMITS, "--seeds", 2),
    "compare": ("--seeds", 2),
    "size": ("--target", "utilization >= 50%", "--max-seeds", 4),
}
NAMES = {"choices": "run", "curves": "model"}
"""Commands that have several forms."""


@pytest.mark.parametrize("form", COMMANDS)
def test_a_loss_is_a_percentage(
    tailroom: Tailroom,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = tailroom(NAMES.get(form, form), small, *COMMANDS[form])
    assert ended.status == 0, ended.errors
    assert "loss" in ended.output.lower()
    assert re.search(r"\d%", ended.output)
    assert not re.search(r"\de-\d\d", ended.output)


@pytest.mark.parametrize(
    ("is_terminal", "no_color", "is_coloured"),
    [(True, "", True), (True, "1", False), (False, "", False)],
)
def test_colours_are_for_terminals_and_words_for_all(
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
    no_color: str,
    is_coloured: bool,
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    found = tr.size(small, ["utilization >= 50%"], max_seeds=4, workers=1)
    text = io.StringIO()
    size_report.show(found, Console(file=text, force_terminal=is_terminal, width=80))
    green = "\x1b[32m"
    assert (f"{green}meets all" in text.getvalue()) is is_coloured
    assert (f"{green}╭" in text.getvalue()) is is_coloured
    assert "meets all" in text.getvalue()


def test_an_answer_whose_own_runs_miss_a_target_says_what_decides(small: Path) -> None:
    found = tr.size(small, ["utilization >= 50%"], max_seeds=4, workers=1)
    found = replace(found, interval=Crossing(17.0, 16.0, 18.0))
    text = io.StringIO()
    for bound in (0.5, 1.0):
        target = replace(found.targets[0], metric="links.bottleneck.utilization", bound=bound)
        one = replace(found, feasible=(replace(found.feasible[0], target=target),))
        size_report.show(one, Console(file=text, width=200))
    assert text.getvalue().count("what decides is the fit to all") == 1
