"""The engine compiles for a processor that is not that of the tests; `make page` shows it for web
pages."""

import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def has_target(target: str) -> bool:
    """Whether the standard library of a target is installed."""
    command = ["rustc", "--print", "target-libdir", "--target", target]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return any(Path(done.stdout.strip()).glob("libcore-*.rlib"))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["aarch64-unknown-linux-gnu"])
def test_the_engine_compiles_for_another_target(target: str) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed: get Rust from https://rustup.rs")
    if not has_target(target):
        pytest.skip(f"the target is not installed: rustup target add {target}")
    command = ["cargo", "check", "--locked", "--package", "tailroom-engine", "--target", target]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
