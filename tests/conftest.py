"""What the tests of the Python package share: a small scenario and the command line."""

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tailroom.cli.completion import BEGUN, join_words
from tailroom.cli.main import app

if TYPE_CHECKING:
    from tailroom_atlas.study import AtlasRuns

# Where the tests run in the background of a script, Ctrl-C is ignored, in the commands that they
# start too; some of them are about what it does.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Without it, a failure does not show what differs.
pytest.register_assert_rewrite("tests.printed_text")

# They need pseudo-terminals, or limits of memory, and cannot be imported without.
collect_ignore = (
    ["test_completion.py", "test_generated_scenarios.py", "test_memory_limit.py"]
    if sys.platform == "win32"
    else []
)

SMALL = """\
title = "Two Reno flows"
duration = "4 s"
measure_from = "1 s"

[defaults]
host = "plain"

[links.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }

[flows.reno]
count = 2
path = ["bottleneck"]
congestion = { kind = "reno" }
rtt = "20 ms"
"""


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    status: object
    output: str
    errors: str


Tailroom = Callable[..., Finished]
Completed = Callable[..., list[str]]
Printed = Callable[[str], None]
Make = Callable[[str], str]
"""Writes a module with a text, and returns the module's name."""


@pytest.fixture
def tailroom(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tailroom:
    """Runs the command line in this process, which says nothing of its progress."""
    monkeypatch.setattr("tailroom.cli.progress.SHOW_AFTER_S", 3600.0)

    def call(*arguments: object) -> Finished:
        with pytest.raises(SystemExit) as ended:
            app([str(argument) for argument in arguments], prog_name="tailroom")
        captured = capfd.readouterr()
        return Finished(ended.value.code, captured.out, captured.err)

    return call


@pytest.fixture
def completed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Completed:
    """Says what a shell offers for the last of the words."""

    def ask(*words: str, shell: str = "bash") -> list[str]:
        monkeypatch.setenv("_TAILROOM_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv(BEGUN, "")
        monkeypatch.setenv("COMP_WORDS", "\n".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", " ".join(words))
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        join_words()
        with pytest.raises(SystemExit):
            app([], prog_name="tailroom")
        captured = capfd.readouterr()
        assert captured.err == ""
        return captured.out.split("\n")[:-1] if captured.out.strip() else []

    return ask


@pytest.fixture
def code_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets scenario files name controls in Python, for tests that are about something else."""
    monkeypatch.setenv("TAILROOM_ALLOW_CODE", "1")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file that runs in an instant."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def printed(tailroom: Tailroom, small: Path, monkeypatch: pytest.MonkeyPatch) -> Printed:
    """Compares what commands print next to the file `small.toml` with a file of `tests/printed`."""
    from tests.printed_text import commands_print_what_the_file_has  # noqa: PLC0415 - imports this

    monkeypatch.chdir(small.parent)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return lambda name: commands_print_what_the_file_has(name, tailroom)


@pytest.fixture
def refused(printed: Printed, tmp_path: Path) -> Printed:
    """Compares refusals with `tests/printed/refusals_of_NAME.txt`; they write no file."""
    from tests.printed_text import PRINTED  # noqa: PLC0415 - as above

    def files() -> dict[Path, tuple[int, bytes] | None]:
        return {
            path: (path.stat().st_mtime_ns, path.read_bytes()) if path.is_file() else None
            for path in tmp_path.rglob("*")
        }

    def compare(name: str) -> None:
        before = files()
        printed(f"refusals_of_{name}")
        assert files() == before
        text = (PRINTED / f"refusals_of_{name}.txt").read_text(encoding="utf-8")
        assert all(line.startswith(("#", "$", "[2]")) for line in text.splitlines())

    return compare


@pytest.fixture(scope="module")
def quick_models() -> Iterator[None]:
    """Leaves out the models that take a second, for tests of what is done with predictions."""
    from tailroom.models import MODELS  # noqa: PLC0415 - loads NumPy

    with pytest.MonkeyPatch.context() as patch:
        for name in ("fluid", "partial_synchronization"):
            patch.delitem(MODELS, name)
        yield


@pytest.fixture(scope="session")
def tiny_atlas(tmp_path_factory: pytest.TempPathFactory) -> "tuple[AtlasRuns, Path]":
    """The tiny cell, computed, and its store."""
    from tailroom_atlas.study import compute_atlas  # noqa: PLC0415 - loads SciPy
    from tests.atlas.tiny import TINY  # noqa: PLC0415

    store = tmp_path_factory.mktemp("atlas") / "store"
    return compute_atlas([TINY], store), store


@pytest.fixture
def shipped_atlas(
    tiny_atlas: "tuple[AtlasRuns, Path]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A package whose atlas has the tiny cell."""
    from tailroom.buffer_atlas import data, lookup  # noqa: PLC0415 - as above

    tiny_atlas[0].write(tmp_path)
    monkeypatch.setattr(data, "SHIPPED", tmp_path)
    monkeypatch.setattr(lookup, "SHIPPED", tmp_path)
    lookup.shipped_rows.cache_clear()
    yield tmp_path
    lookup.shipped_rows.cache_clear()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes a module next to the scenario and gives its name."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)

    def write(text: str) -> str:
        name = f"code_of_{tmp_path.name}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    yield write
    for name in set(sys.modules) - known:
        if name.startswith("code_of_"):
            del sys.modules[name]
