"""Commands and Python of the guides run, commands in the shortest form that checks their words.

The transcripts of the documents (tests/validation/transcripts.py) are compared word for word
instead.
"""

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
]
BLOCK = re.compile(
    r"^(?: *<!-- exit status (?P<status>\d+) -->\n)? *```(?P<kind>sh|console)\n"
    r"(?P<text>.*?)^ *```",
    re.MULTILINE | re.DOTALL,
)
LINE = {
    "console": re.compile(r"^ *\$ (?P<command>.*)$", re.MULTILINE),
    "sh": re.compile(r"^ *(?P<command>\S.*)$", re.MULTILINE),
}
"""A line with a command, by the kind of block; below it stands what it prints."""
COMMAND = re.compile(r"(?:\.venv/bin/)?tailroom ")
ERROR = re.compile(r"^ *(?P<line>error: .*)$", re.MULTILINE)
INPUT_WRONG = 2
"""The exit status of a command below which a page shows an error, unless the page says another."""
SAME = 40
"""Characters of an error that are as the page shows them; the reader's paths may follow."""
SHORTER = {
    "tailroom evaluate": "--quick",
    "tailroom size": "--max-seeds 8 --precision 0.5",
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
    "import.md": "names networks that no capture here has (tests/test_import.py)",
    "papers.md": "takes minutes (tests/papers)",
    "vectors.md": "reads what a command writes, so its transcript runs it",
}
"""Pages whose Python is not run, and why."""


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Command:
    """A command, and how it ends.

    Attributes:
        text: The command.
        error: The first line of the error that its page shows below it.
        status: Its exit status.
    """

    text: str
    error: str | None
    status: int


def commands(page: Path) -> Iterator[Command]:
    """The `tailroom` commands of a page, without its transcripts."""
    is_checked = page.is_relative_to(ROOT) and str(page.relative_to(ROOT)) in transcripts.DOCUMENTS
    yield from commands_in(_text(page), is_checked=is_checked)


def commands_in(page: str, *, is_checked: bool) -> Iterator[Command]:
    """The `tailroom` commands of a page, without the transcripts if these are checked elsewhere."""
    checked = {block.end("head") for block in transcripts.BLOCK.finditer(page) if is_checked}
    for block in BLOCK.finditer(page):
        if block.start("text") in checked:
            continue
        text = block["text"].replace("\\\n", " ")
        found = [*LINE[block["kind"]].finditer(text)]
        ends = [*(match.start() for match in found[1:]), len(text)]
        for match, end in zip(found, ends, strict=False):
            if COMMAND.match(match["command"]):
                error = ERROR.search(text, match.end(), end)
                status = int(block["status"] or INPUT_WRONG) if error else 0
                yield Command(match["command"], error and error["line"], status)


def shortened(command: str) -> str:
    """The command with the options that make it short, before a comment at its end."""
    words, mark, comment = command.partition(" #")
    options = [more for part, more in SHORTER.items() if part in words]
    return f"{' '.join([words, *options])}{mark}{comment}"


def is_left_out(command: Command) -> bool:
    """Whether the command is not run here."""
    return any(part in command.text for part in LEFT_OUT)


def ends_as_shown(command: Command, ended: subprocess.CompletedProcess[str]) -> bool:
    """Whether the exit status is that of the page, and the error begins as the page shows it."""
    if ended.returncode != command.status:
        return False
    lines = ended.stderr.splitlines()
    return not command.error or any(line.startswith(command.error[:SAME]) for line in lines)


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
    transcripts.write_files(_text(page), place)
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
        assert ends_as_shown(command, ended), f"{command.text}\n{ended.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in WITHOUT_PYTHON and PYTHON.search(_text(page))],
    ids=lambda page: page.relative_to(ROOT / "docs").as_posix(),
)
def test_the_python_of_a_page_runs(page: Path, place: Path) -> None:
    """The blocks of a page one after the other, as in a session."""
    transcripts.write_files(_text(page), place)
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
    assert all(any(part in text for text in texts) for part in (*LEFT_OUT, *SHORTER))
    with_python = {page.name for page in PAGES if PYTHON.search(_text(page))}
    assert with_python.issuperset(WITHOUT_PYTHON)


PAGE = """\
```console
$ tailroom run good.toml
Links
$ tailroom run bad.toml
error: bad.toml: line 1, rat: there is no such key here; did you mean `rate`?
```

<!-- exit status 4 -->
```console
$ tailroom size bad.toml
error: no buffer
```

```sh
tailroom list
tailroom run other.toml \\
    --json
cargo run
```
"""


def test_a_command_is_shown_to_fail_by_the_error_before_the_next_one() -> None:
    found = [*commands_in(PAGE, is_checked=False)]
    shown = [(command.text.split(), command.error, command.status) for command in found]
    unknown = "error: bad.toml: line 1, rat: there is no such key here; did you mean `rate`?"
    assert shown == [
        (["tailroom", "run", "good.toml"], None, 0),
        (["tailroom", "run", "bad.toml"], unknown, 2),
        (["tailroom", "size", "bad.toml"], "error: no buffer", 4),
        (["tailroom", "list"], None, 0),
        (["tailroom", "run", "other.toml", "--json"], None, 0),
    ]


def test_transcripts_are_left_to_their_own_test_and_other_blocks_are_not() -> None:
    found = [command.text for command in commands_in(PAGE, is_checked=True)]
    assert [text.split()[1] for text in found] == ["list", "run"]


@pytest.mark.parametrize(
    ("status", "errors", "expected"),
    [
        (2, "warning: slow\nerror: bad.toml: line 1, rat: there is no such key here\n", True),
        (2, "error: bad.toml: line 9, rtt: has no unit\n", False),
        (1, "Traceback (most recent call last):\n", False),
        (1, "error: bad.toml: line 1, rat: there is no such key here\n", False),
        (0, "", False),
    ],
)
def test_a_command_that_fails_in_another_way_is_noticed(
    status: int, errors: str, expected: bool
) -> None:
    _, command, *_ = commands_in(PAGE, is_checked=False)
    ended = subprocess.CompletedProcess("", status, stdout="", stderr=errors)
    assert ends_as_shown(command, ended) == expected


@pytest.mark.parametrize(
    ("page", "folder", "names"),
    [
        ("own-control", "python-control", {"delay_bound.py", "scenario.toml"}),
        ("own-discipline", "python-discipline", {"pi.py", "scenario.toml"}),
    ],
)
def test_files_of_the_pages_on_own_code_are_shown_or_linked(
    page: str, folder: str, names: set[str]
) -> None:
    text = _text(ROOT / f"docs/guide/{page}.md")
    assert all(f"](../../{file['path']})" in text for file in transcripts.COPIED.finditer(text))
    examples = {
        path.name: _text(path)
        for path in (ROOT / "examples" / folder).iterdir()
        if path.suffix in (".py", ".toml")
    }
    shown = {file["name"]: file["text"] for file in transcripts.FILE.finditer(text)}
    assert names <= shown.keys() & examples.keys()
    assert all(examples[name].endswith(shown[name]) for name in shown.keys() & examples.keys())


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
