"""The harnesses in C, Rust and Python, run in a directory that has only vectors."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Tailroom
from tests.validation import transcripts
from tests.validation.frame import ROOT

SOURCES = ROOT / "examples" / "vectors"
C = ("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "harness")
RUST = ("rustc", "--edition=2021", "-D", "warnings", "-o", "harness")


@pytest.mark.parametrize(("compiler", "source"), [(C, "harness.c"), (RUST, "harness.rs")])
def test_a_harness_reads_vectors_and_its_results_are_judged(
    tailroom: Tailroom, tmp_path: Path, compiler: tuple[str, ...], source: str
) -> None:
    if not shutil.which(compiler[0]):
        pytest.skip(f"{compiler[0]} is not installed")
    subprocess.run([*compiler, SOURCES / source], cwd=tmp_path, check=True)
    for decrease, missed in (("0.5", 0), ("0.7", 2)):
        command = [str(tmp_path / "harness"), "vectors", decrease]
        assert_judged(tailroom, tmp_path, command, missed)


def test_the_harness_of_the_guide_does_so_too(tailroom: Tailroom, tmp_path: Path) -> None:
    """Without the package: -I leaves out the paths that lead to it."""
    page = (ROOT / "docs/guide/vectors.md").read_text(encoding="utf-8")
    [program] = (file["text"] for file in transcripts.FILE.finditer(page))
    for decrease, missed in (("0.5", 0), ("0.7", 2)):
        text = program.replace("decrease = 0.5", f"decrease = {decrease}")
        (tmp_path / "harness.py").write_text(text, encoding="utf-8")
        assert_judged(tailroom, tmp_path, [sys.executable, "-I", "harness.py"], missed)


def assert_judged(tailroom: Tailroom, place: Path, command: list[str], missed: int) -> None:
    """Runs a harness next to a directory of vectors, and judges what it prints."""
    vectors, results = place / "vectors", place / "results.json"
    if not vectors.exists():
        assert tailroom("vectors", "write", vectors).status == 0
    done = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, check=True)
    results.write_bytes(done.stdout)
    ended = tailroom("vectors", "check", vectors, "--against", results)
    assert ended.status == (1 if missed else 0)
    assert f"{13 - missed} of 13 expectations of 3 vectors are met" in ended.output
    assert ended.output.count("reno.halving: ") == missed
