"""The harnesses in C and Rust, compiled and run in a directory that has only vectors."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Tailroom
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
    assert tailroom("vectors", "write", tmp_path / "vectors").status == 0
    subprocess.run([*compiler, SOURCES / source], cwd=tmp_path, check=True)
    for decrease, missed in (("0.5", 0), ("0.7", 2)):
        command = [str(tmp_path / "harness"), "vectors", decrease]
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=True)
        (tmp_path / "results.json").write_bytes(done.stdout)
        ended = tailroom(
            "vectors", "check", tmp_path / "vectors", "--against", tmp_path / "results.json"
        )
        assert ended.status == (1 if missed else 0)
        assert f"{13 - missed} of 13 expectations of 3 vectors are met" in ended.output
        assert ended.output.count("reno.halving: ") == missed
