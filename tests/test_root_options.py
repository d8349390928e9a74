"""The version, and the help of the root command."""

import pytest

import tailroom as tr
from tests.conftest import Tailroom


def test_version_is_that_of_the_package(tailroom: Tailroom) -> None:
    ended = tailroom("--version")
    assert ended.status == 0
    builds = ("release build", "development build")
    assert ended.output in [f"tailroom {tr.__version__} ({build})\n" for build in builds]


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
