"""What commands print, reviewed as the files of `tests/printed`; `UPDATE_PRINTED=1` writes them.

A file has commands after `$`, comments after `#`, and below each command what it prints: output
indented, errors after the exit status.
"""

import os
import re
import shlex
import sys
from pathlib import Path
from unittest.mock import patch

from tests.conftest import Finished, Tailroom

PRINTED = Path(__file__).with_name("printed")
TIMES = re.compile(r"(?<=packet-hops in )[\d.]+|[\d.,]+(?= ns per packet-hop| times real time)")


def same_as_file(name: str, text: str) -> None:
    """Compares a text, without times and the current directory, with `tests/printed/NAME.txt`."""
    path = PRINTED / f"{name}.txt"
    text = text.replace(f"{Path.cwd()}{os.sep}", "").replace(str(Path.cwd()), ".")
    text = TIMES.sub("TIME", text)
    text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    if os.environ.get("UPDATE_PRINTED"):
        path.write_text(text, encoding="utf-8", newline="\n")
    if sys.platform == "win32":
        return  # whose paths and messages of the system are others
    assert text == path.read_text(encoding="utf-8")


def shown(ended: Finished) -> str:
    """Output, indented, and errors, each with the exit status."""
    lines = [f"  {line}" for line in ended.output.splitlines()]
    errors = ended.errors.splitlines() or [""] * (ended.status != 0)
    return "\n".join([*lines, *(f"[{ended.status}] {line}" for line in errors)])


def commands_print_what_the_file_has(name: str, tailroom: Tailroom) -> None:
    """Repeats the commands of `tests/printed/NAME.txt` in the current directory."""
    text = []
    for line in (PRINTED / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(("#", "$")):
            text.append(line)
        if line.startswith("$"):
            command = shlex.split(line)[1:]
            with patch.object(sys, "argv", command):
                text.append(shown(tailroom(*command[1:])))
    same_as_file(name, "\n".join(text))
