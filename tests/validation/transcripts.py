"""Whether the commands in the documents print what the documents say.

python -m tests.validation.transcripts [--write] [FILE ...]

A transcript is a `console` block that begins with `$ ` and a command. It is run from the root of
the repository, 80 columns wide, and what it prints on standard output is compared with the block.
The speed of a run is left out, as it is never the same. A comment above the block changes this:

<!-- first N lines -->    shortens the output; also <!-- last N lines -->
<!-- exit status N -->    the command ends with this status; errors are part of the output
<!-- not run -->          the block is no transcript

The commands of a document with the comment `<!-- run in a directory of its own -->` are run one
after the other in a directory that is empty but for the files of the document. These are the blocks
below a comment `<!-- file NAME -->`, and copies of files of the repository that a comment names:
`<!-- file of the repository: PATH -->`. `--write` writes the output into the documents instead.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
TUTORIAL = tuple(
    path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs/tutorial").glob("?-*.md"))
)
DOCUMENTS = (
    "README.md",
    "docs/guide/atlas.md",
    "docs/guide/choices.md",
    "docs/guide/data-center.md",
    "docs/guide/headroom.md",
    "docs/guide/lossless.md",
    "docs/guide/own-control.md",
    "docs/guide/own-discipline.md",
    "docs/guide/questions.md",
    "docs/guide/vectors.md",
    *TUTORIAL,
)
BLOCK = re.compile(
    r"(?<!<!-- not run -->\n)(?P<head>(?:<!-- (?P<part>first|last) (?P<lines>\d+) lines -->\n)?"
    r"(?:<!-- exit status (?P<status>\d+) -->\n)?```console\n)"
    r"\$ (?P<command>.*?[^\\])\n(?P<output>.*?)```\n",
    re.DOTALL,
)
FILE = re.compile(r"<!-- file (?P<name>[\w.-]+) -->\n```\w+\n(?P<text>.*?)```\n", re.DOTALL)
COPIED = re.compile(r"<!-- file of the repository: (?P<path>[\w./-]+) -->\n")
OWN_DIRECTORY = "<!-- run in a directory of its own -->\n"
SHOWN_DIRECTORY = "/home/me/tutorial"
"""Where a tutorial's reader is, in what commands print."""
SPEED = re.compile(r"^([\d,]+ packet-hops) in .* times real time$", re.MULTILINE)
"""The last line of a run; the number of packets stays."""
OUT = re.compile(r"\bOUT\b")
"""A new directory, in a command."""
LONGEST_S = 600


@contextmanager
def directory_of(text: str) -> Iterator[Path]:
    """The directory in which the commands of a document are run, with the document's files."""
    if OWN_DIRECTORY not in text:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as made:
        place = Path(made).resolve()
        write_files(text, place)
        yield place


def write_files(text: str, place: Path) -> None:
    """Writes the files of a document into a directory."""
    for file in FILE.finditer(text):
        (place / file["name"]).write_text(file["text"], encoding="utf-8")
    for file in COPIED.finditer(text):
        shutil.copy(ROOT / file["path"], place)


def transcribe(command: str, lines: int | None, place: Path = ROOT, status: int = 0) -> str:
    """Runs a command, and returns what it prints, in the form of a document.

    Args:
        command: A command line.
        lines: How many lines are shown: the first, or the last if negative; `None` for all.
        place: The directory in which the command is run.
        status: The exit status of the command.

    Raises:
        CalledProcessError: The command ends with another status.
    """
    environment = {
        **os.environ,
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with tempfile.TemporaryDirectory() as out:
        ended = subprocess.run(
            OUT.sub(lambda _: out, command),
            shell=True,
            cwd=place,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if status else None,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        if ended.returncode != status:
            raise subprocess.CalledProcessError(ended.returncode, command, ended.stdout)
        printed = ended.stdout.replace(out, "OUT")
    if place != ROOT:
        printed = printed.replace(str(place), SHOWN_DIRECTORY)
    plain = [line.rstrip() for line in SPEED.sub(r"\1", printed).strip("\n").splitlines()]
    if lines is not None and len(plain) > abs(lines):
        plain = [*plain[:lines], "..."] if lines > 0 else ["...", *plain[lines:]]
    return "\n".join(plain) + "\n"


def renewed(block: re.Match[str], show: Callable[[str], object], place: Path = ROOT) -> str:
    """The block with the output of today."""
    show(f"$ {block['command']}")
    lines = int(block["lines"]) * (-1 if block["part"] == "last" else 1) if block["lines"] else None
    now = transcribe(block["command"], lines, place, int(block["status"] or 0))
    return f"{block['head']}$ {block['command']}\n{now}```\n"


def stale_blocks(
    text: str, show: Callable[[str], object] = print
) -> Iterator[tuple[re.Match[str], str]]:
    """Yields each transcript that prints something else now, with the block of today."""
    with directory_of(text) as place:
        for block in BLOCK.finditer(text):
            now = renewed(block, show, place)
            if now != block[0]:
                yield block, now


def main(arguments: Sequence[str] = (), show: Callable[[str], object] = print) -> int:
    """Compares every transcript with what the command prints; 0 if all are the same."""
    is_writing = "--write" in arguments
    names = [one for one in arguments if not one.startswith("--")] or DOCUMENTS
    stale = 0
    for name in names:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        parts, done = [], 0
        for block, now in stale_blocks(text, show):
            stale += 1
            parts += [text[done : block.start()], now]
            done = block.end()
            if not is_writing:
                show(f"FAILS: {name}: prints now\n{now}")
        if is_writing:
            path.write_text("".join([*parts, text[done:]]), encoding="utf-8")
    return 0 if is_writing else min(stale, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
