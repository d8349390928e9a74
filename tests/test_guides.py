"""Commands and Python of the guides run, commands in the shortest form that checks their words."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.validation import transcripts

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for folder in ("guide", "models", "validation")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
    # The others are run and compared word for word.
    if page.relative_to(ROOT).as_posix() not in transcripts.DOCUMENTS
]
BLOCK = re.compile(r"^( *)```(?:sh|console)\n(?P<text>.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(?:\$ )?(?P<command>(?:\.venv/bin/)?tailroom .*)$", re.MULTILINE)
SHORTER = {
    "tailroom evaluate": "--quick",
    "tailroom size": "--at-most 4 --precision 0.5",
    "--rate 10Gbps": "--duration 4s",
}
"""Options that make a command with these words shorter; nothing else of it changes."""
LEFT_OUT = {
    "tailroom explore": "serves until it is stopped (tests/explore)",
    "tcp://": "needs a cluster (tests/test_cluster.py)",
    "run my.toml": "shows errors of a file that nobody has (tests/test_wrong_*.py)",
    "run case.toml": "its file is written by a comparison with ns-2 (make validate)",
    "papers run barman-2004 --quick": "takes minutes (tests/papers)",
    "papers run barman-2004 --figure": "takes minutes (tests/papers)",
    "papers run today": "takes hours (make papers)",
}
"""Parts of the commands that are not run, and why."""
FILES = {
    "capture.pcap": "tests/captures/web.pcap",
    "scenario.toml": "python/tailroom/scenarios/first.toml",
    "parking-lot.toml": "python/tailroom/scenarios/parking-lot.toml",
}
"""Files that a reader has, and what stands for them."""
LONGEST_S = 300
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITHOUT_PYTHON = {
    "cluster.md": "needs a cluster (tests/test_cluster.py)",
    "evaluate.md": "uses a control of the reader",
    "import.md": "names networks that no capture here has (tests/test_import_capture.py)",
    "papers.md": "takes minutes (tests/papers)",
}
"""Pages whose Python is not run, and why."""


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Command:
    """A command, and whether its page shows an error below it."""

    text: str
    fails: bool


def commands(page: Path) -> Iterator[Command]:
    """The `tailroom` commands of a page."""
    for block in BLOCK.finditer(_text(page)):
        text = block["text"].replace("\\\n", " ")
        for match in COMMAND.finditer(text):
            yield Command(match["command"], "\nerror:" in text[match.end() :])


def shortened(command: str) -> str:
    """The command with the options that make it short, before a comment at its end."""
    words, mark, comment = command.partition(" #")
    options = [more for part, more in SHORTER.items() if part in words]
    return f"{' '.join([words, *options])}{mark}{comment}"


def is_left_out(command: Command) -> bool:
    """Whether the command is not run here."""
    return any(part in command.text for part in LEFT_OUT)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with what the commands name of the repository."""
    for name in ("docs", "examples", "scenarios", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for name, source in FILES.items():
        shutil.copyfile(ROOT / source, tmp_path / name)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_every_command_of_a_page_ends_as_the_page_says(page: Path, place: Path) -> None:
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command in commands(page):
        if is_left_out(command):
            continue
        shutil.rmtree(place / "DIR", ignore_errors=True)
        ended = subprocess.run(
            ["bash", "-c", shortened(command.text)],
            check=False,
            capture_output=True,
            cwd=place,
            env={**os.environ, "PATH": programs},
            text=True,
            timeout=LONGEST_S,
        )
        assert (ended.returncode != 0) == command.fails, f"{command.text}\n{ended.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in WITHOUT_PYTHON and PYTHON.search(_text(page))],
    ids=lambda page: page.relative_to(ROOT / "docs").as_posix(),
)
def test_the_python_of_a_page_runs(page: Path, place: Path) -> None:
    """The blocks of a page one after the other, as in a session."""
    (place / "blocks.py").write_text("\n".join(PYTHON.findall(_text(page))), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", 'exec(compile(open("blocks.py").read(), "blocks.py", "exec"))'],
        check=False,
        capture_output=True,
        cwd=place,
        text=True,
        timeout=LONGEST_S,
    )
    assert ended.returncode == 0, ended.stderr


def test_nothing_is_left_out_that_no_page_has() -> None:
    texts = [command.text for page in PAGES for command in commands(page)]
    assert len(texts) > 30
    assert all(any(part in text for text in texts) for part in LEFT_OUT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", sorted({*transcripts.DOCUMENTS} - {*transcripts.TUTORIAL} - {"docs/guide/atlas.md"})
)
def test_the_commands_of_a_document_print_what_stands_there(name: str) -> None:
    """The tutorial and the atlas have tests of their own."""
    text = (ROOT / name).read_text(encoding="utf-8")
    stale = [now for _, now in transcripts.stale_blocks(text, lambda _: None)]
    assert not stale, (
        f"python -m tests.validation.transcripts --write {name} renews it:\n{stale[0]}"
    )
