"""Builds benchmarks of the engine for scripts that run them."""

import json
import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


class NotBuiltError(Exception):
    """A program cannot be built; the message says why."""


class NoCargoError(NotBuiltError):
    """Cargo is not installed."""


def cargo(*arguments: str, directory: Path) -> str:
    """Runs cargo and returns its standard output.

    Raises:
        NoCargoError: Cargo is not installed.
        NotBuiltError: Cargo has failed.
    """
    if shutil.which("cargo") is None:
        raise NoCargoError("cargo is not installed: get Rust from https://rustup.rs")
    done = subprocess.run(
        ["cargo", *arguments], cwd=directory, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotBuiltError(f"cargo {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def build_engine_benchmark(name: str) -> Path:
    """Builds a benchmark of the engine in release; returns the program.

    Raises:
        NotBuiltError: As `cargo`, or cargo names no program.
    """
    messages = cargo(
        *("bench", "--locked", "--package", "tailroom-engine", "--bench", name),
        *("--no-run", "--message-format", "json"),
        directory=REPOSITORY,
    )
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return Path(message["executable"])
    raise NotBuiltError(f"cargo did not say where the benchmark {name} is")
