"""The scripts that measure how long users wait: their help, refusals, and a small run of each."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import answer
import growth

SCRIPTS = {
    "answer.py": [case.name for case in answer.CASES],
    "growth.py": list(growth.KINDS),
}
BENCHMARKS = Path(answer.__file__).parent


def started(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A script that has ended."""
    return subprocess.run(
        [sys.executable, BENCHMARKS / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_says_what_the_script_measures(script: str) -> None:
    done = started(script, "--help")
    assert done.returncode == 0
    assert ("PART" if script == "answer.py" else "KIND") in done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_unknown_name_is_refused_with_the_names_that_there_are(script: str) -> None:
    done = started(script, "nothing")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "'nothing'" in done.stderr
    assert all(name in done.stderr for name in SCRIPTS[script])


def test_the_named_question_alone_is_asked() -> None:
    heads, line = started("answer.py", "tiny scenario").stdout.splitlines()
    assert heads.split() == ["question", "CPU", "wall", "goal", "answer"]
    assert line.startswith("run: a tiny scenario")
    assert "1.20 ms CPU" in line


def test_the_growth_of_a_kind_is_printed_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def few() -> Iterator[growth.Run]:
        for links in (1, 2):
            yield growth.Run(links, growth.scenario(links, 4, 10e6, growth.SHORTEST_S))

    monkeypatch.setitem(growth.KINDS, "links", growth.Kind("links", few))
    picture = tmp_path / "growth.png"
    monkeypatch.setattr("sys.argv", ["growth.py", "links", "--out", str(picture)])
    growth.main()
    places = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert places == ["1", "2"]
    assert picture.stat().st_size > 10_000
