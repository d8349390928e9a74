"""`tailroom new`: a commented scenario to begin with."""

import io
from pathlib import Path

import pytest

from tailroom.scenario.shipped_scenarios import shipped_scenarios
from tests.conftest import Printed, Tailroom

PRESETS = [name for name in shipped_scenarios() if "/" not in name]


def test_a_preset_becomes_a_file_that_runs(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = tailroom("new", "mine.toml", "--preset", "dsl")
    assert ended.status == 0
    assert "tailroom run mine.toml" in ended.output
    shipped = shipped_scenarios()["dsl"].read_text(encoding="utf-8")
    assert Path("mine.toml").read_text(encoding="utf-8") == shipped
    assert tailroom("run", "mine.toml", "--set", "duration=12 s").status == 0


def test_the_file_is_named_as_the_preset(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tailroom("new", "--preset", "barman-2004/figure-3").status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["figure-3.toml"]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_commented(tailroom: Tailroom, preset: str) -> None:
    text = tailroom("new", "-", "--preset", preset).output
    assert text.startswith("# ")
    assert "\ntitle = " in text


def test_wrong_names_are_refused(refused: Printed, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("# years of work\n", encoding="utf-8")
    (tmp_path / "link.toml").symlink_to("absent/mine.toml")
    refused("new")


@pytest.mark.parametrize(
    ("file", "quoted"), [("my link.toml", "'my link.toml'"), ("-link.toml", "./-link.toml")]
)
def test_the_commands_shown_are_those_that_a_shell_reads(
    tailroom: Tailroom,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    quoted: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = tailroom("new", "--preset", "dsl", "--", file)
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert f"tailroom run {quoted} " in ended.output
    assert f"tailroom explore {quoted} " in ended.output


class Typed(io.StringIO):
    """A terminal at which this text is typed."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_asked(tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch) -> None:
    number = PRESETS.index("home-router") + 1
    monkeypatch.setattr("sys.stdin", Typed(f"99\n{number}\n"))
    ended = tailroom("new", "-")
    assert f"{number}  home-router" in ended.errors
    assert ended.errors.count("Number or name:") == 2, "99 is none of them"
    assert ended.output.startswith("# A home's download link")
