"""The version, and what the shell completes."""

import os
import subprocess
import sys

import pytest

import tailroom as tr
from tests.conftest import Tailroom


def completed(*words: str) -> list[str]:
    """What bash offers for the last of the words."""
    asked = {
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TAILROOM_COMPLETE": "complete_bash",
    }
    start = "import sys; sys.argv[0] = 'tailroom'; from tailroom.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", start],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split()


def test_version_is_that_of_the_package(tailroom: Tailroom) -> None:
    ended = tailroom("--version")
    assert ended.status == 0
    assert ended.output == f"tailroom {tr.__version__}\n"


def test_the_shell_completes_commands() -> None:
    assert completed("tailroom", "s") == ["size", "sweep", "schema"]


def test_the_shell_completes_options_of_a_command() -> None:
    assert {"--set", "--seed"} <= set(completed("tailroom", "run", "--se"))


def test_the_shell_completes_names_of_scenarios() -> None:
    assert completed("tailroom", "run", "fir") == ["first"]


@pytest.mark.parametrize("columns", ["60", "80"])
def test_help_shows_whole_summaries(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = " ".join(tailroom("--help").output.split())
    assert (
        "Run a scenario at every point of a grid, several times each, and keep every run." in text
    )
    assert "..." not in text.replace("[OPTIONS] COMMAND [ARGS]...", "")
