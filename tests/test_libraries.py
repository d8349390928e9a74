"""Without the optional libraries: `run` and `size` work, and others name what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("duckdb", "matplotlib", "pandas", "pyarrow", "scipy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nowhere())
"""
COMMAND = f"{WITHOUT}\nfrom tailroom.cli import main\nmain()"
QUESTION = ["--rate", "5Mbit/s", "--rtt", "20ms", "--target", "utilization>=80%"]


def without(code: str, *arguments: object, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.parametrize(
    "arguments",
    [["run", "first", "--set", "duration=21 s"], ["size", *QUESTION, "--max-seeds", "4"]],
)
def test_run_and_size_need_numpy_alone(arguments: list[str], tmp_path: Path) -> None:
    ended = without(COMMAND, *arguments, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "utilization" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["run", "first", "--out", "out"], "tables"),
        (["sweep", "first", "--vary", "links.*.queue.limit=1 packet", "--store", "s"], "tables"),
        (["atlas"], "tables"),
        (["plot", "out"], "tables"),
    ],
)
def test_a_command_names_the_extra_before_it_works(
    arguments: list[str], extra: str, tmp_path: Path
) -> None:
    ended = without(COMMAND, *arguments, cwd=tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert f"install it with: pip install 'tailroom[{extra}]'\n" in ended.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("statement", "extra"),
    [
        ("tailroom.sweep", "tables"),
        ("tailroom.atlas()", "tables"),
        ("RESULT.link_series", "tables"),
        ("RESULT.table('links')", "tables"),
        ("RESULT.save('out')", "tables"),
        ("RESULT.plot()", "plots"),
    ],
)
def test_a_function_names_the_extra(statement: str, extra: str, tmp_path: Path) -> None:
    code = f"""{WITHOUT}
import tailroom
RESULT = tailroom.run("first", set={{"duration": "6 s", "measure_from": "5 s"}}, series_samples=5)
try:
    {statement}
except tailroom.MissingLibraryError as error:
    print(error)
"""
    ended = without(code, cwd=tmp_path)
    assert f"'tailroom[{extra}]'\n" in ended.stdout, ended.stderr
    assert not list(tmp_path.iterdir())
