"""The version, and the help of the root command."""

import tomllib
from pathlib import Path

import pytest

import tailroom as tr
from tailroom import _engine
from tests.conftest import Tailroom

CARGO = Path(__file__).parents[1] / "Cargo.toml"


@pytest.mark.parametrize(
    ("profile", "build"),
    [
        ("release", "release build"),
        ("editable", "development build"),
        ("debug", "development build"),
    ],
)
def test_version_names_the_profile_of_the_build(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch, profile: str, build: str
) -> None:
    """`make setup-release` looks for the word "release" in it."""
    monkeypatch.setattr(_engine, "profile", lambda: profile)
    ended = tailroom("--version")
    assert (ended.status, ended.output) == (0, f"tailroom {tr.__version__} ({build})\n")


def test_the_engine_knows_its_profile() -> None:
    profiles = tomllib.loads(CARGO.read_text(encoding="utf-8"))["profile"]
    assert _engine.profile() in {*profiles, "debug"}


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
