"""Whether the commands in the documents print what the documents say.

python -m tests.validation.transcripts [--write] [FILE ...]

A transcript is a `console` block that begins with `$ ` and a command. It is run from the root of
the repository, 80 columns wide, and what it prints on standard output is compared with the block.
The speed of a run is left out, as it is never the same. A comment `<!-- first N lines -->` above
the block shortens it. `--write` writes the output into the documents instead.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/guide/choices.md", "docs/guide/questions.md")
BLOCK = re.compile(
    r"(?P<head>(?:<!-- first (?P<lines>\d+) lines -->\n)?```console\n)"
    r"\$ (?P<command>.*?[^\\])\n(?P<output>.*?)```\n",
    re.DOTALL,
)
SPEED = re.compile(r"^([\d,]+ packet-hops) in .* times real time$", re.MULTILINE)
"""The last line of a run; the number of packets stays."""
LONGEST_S = 600


def transcribe(command: str, lines: int | None) -> str:
    """Runs a command, and returns what it prints, in the form of a document.

    Raises:
        CalledProcessError: The command fails otherwise than by saying that no buffer suffices.
    """
    environment = {
        **os.environ,
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with tempfile.TemporaryDirectory() as out:
        ended = subprocess.run(
            command.replace("OUT", out),
            shell=True,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=LONGEST_S,
            check=True,
        )
        printed = ended.stdout.replace(out, "OUT")
    plain = [line.rstrip() for line in SPEED.sub(r"\1", printed).strip("\n").splitlines()]
    if lines is not None and len(plain) > lines:
        plain = [*plain[:lines], "..."]
    return "\n".join(plain) + "\n"


def renewed(block: re.Match[str], show: Callable[[str], object]) -> str:
    """The block with the output of today."""
    show(f"$ {block['command']}")
    lines = int(block["lines"]) if block["lines"] else None
    return f"{block['head']}$ {block['command']}\n{transcribe(block['command'], lines)}```\n"


def main(arguments: Sequence[str] = (), show: Callable[[str], object] = print) -> int:
    """Compares every transcript with what the command prints; 0 if all are the same."""
    is_writing = "--write" in arguments
    names = [one for one in arguments if not one.startswith("--")] or DOCUMENTS
    stale = 0
    for name in names:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        for block in list(BLOCK.finditer(text)):
            now = renewed(block, show)
            if now == block[0]:
                continue
            stale += 1
            text = text.replace(block[0], now)
            if not is_writing:
                show(f"FAILS: {name}: prints now\n{now}")
        if is_writing:
            path.write_text(text, encoding="utf-8")
    return 0 if is_writing else min(stale, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
