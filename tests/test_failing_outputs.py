"""A full disk and a kill at any call that writes an output: nothing half-written has its name.

What a command prints may be cut off; it says so.
"""

import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tailroom.vectors.sets import all_vectors
from tests.conftest import SMALL
from tests.failing_sweeps import CAN_FAIL, build, calls_in, failing

ROWS = "# speed cable size xon xoff threshold\n40000 5m 1 2 40000 0\n"
VECTOR = min(vector.id for vector in all_vectors())
OUTPUTS = {
    "vectors": f"vectors write out/new {VECTOR}",
    "traces of vectors": f"vectors run {VECTOR} --qlog out/new > out/results.json",
    "packets": "run small.toml --at links.bottleneck --pcap out/x.pcapng --packets out/x.parquet",
    "traces": "run small.toml --qlog out/new",
    "headroom": "headroom --speed 400G --cable 300m --json > out/answer.json",
    "headroom of a switch": "headroom --check rows.ini --json > out/answer.json",
}
"""Commands that write below `out`; what follows `>` is their standard output."""

pytestmark = pytest.mark.skipif(not CAN_FAIL, reason="needs Linux and a C compiler")


def contents(directory: Path) -> dict[str, bytes]:
    """The files of a directory, by their path in it."""
    files = (file for file in directory.rglob("*") if file.is_file())
    return {str(file.relative_to(directory)): file.read_bytes() for file in files}


class Place:
    """A directory with an empty `out`, in which a command runs."""

    def __init__(self, directory: Path, library: Path, command: str) -> None:
        self.directory, self.library = directory, library
        self.out = directory / "out"
        words, _, printed = command.partition(" > ")
        self.command = [sys.executable, "-m", "tailroom", *shlex.split(words)]
        self.printed = directory / printed if printed else None
        (directory / "elsewhere").mkdir(parents=True)
        (directory / "small.toml").write_text(SMALL.replace('"4 s"', '"2 s"'), encoding="utf-8")
        (directory / "rows.ini").write_text(ROWS, encoding="utf-8")
        self.empty()

    def empty(self) -> None:
        """Removes what was written."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()

    def run(self, number: int = 0, *, kills: bool = False) -> subprocess.CompletedProcess[str]:
        """Runs the command, with a call that fails or in front of which it is killed."""
        environment = failing(self.library, self.out, number, kills=kills)
        environment |= {"TMPDIR": str(self.directory / "elsewhere")}
        with (self.printed or Path("/dev/null")).open("w") as printed:
            return subprocess.run(
                self.command,
                cwd=self.directory,
                env=environment,
                stdout=printed,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )


@pytest.mark.parametrize("few", [2, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kills", [False, True], ids=["full", "killed"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_is_whole_or_absent(tmp_path: Path, name: str, few: int, *, kills: bool) -> None:
    place = Place(tmp_path / "place", build(tmp_path), OUTPUTS[name])
    status = place.run().returncode
    right, calls = contents(place.out), calls_in(place.out)
    printed = place.printed.name if place.printed else ""
    assert right
    assert calls >= 1
    for number in range(1, calls + 1, max(calls // few, 1)):
        place.empty()
        ended = place.run(number, kills=kills)
        where = f"call {number} of {calls}: {ended.stderr}"
        left = contents(place.out)
        if kills:
            assert ended.returncode == -signal.SIGKILL, where
            left = {path: text for path, text in left.items() if ".partial" not in path}
        else:
            assert "Traceback" not in ended.stderr, where
            assert "bug in tailroom" not in ended.stderr, where
            assert ended.returncode in (1, 2), where
            assert ended.stderr.startswith("error: "), where
        cut = left.pop(printed, b"")
        assert right.get(printed, b"").startswith(cut), where
        # What found no place is kept under its own name in a directory next to it.
        assert all(text == right[_name(path)] for path, text in left.items()), where
        for path in place.out.glob("*-kept-*"):
            shutil.rmtree(path)
        again = place.run()
        assert again.returncode == (status if not left else again.returncode), again.stderr
        if not left:
            assert contents(place.out) == right, "what a killed process left is removed"


def _name(path: str) -> str:
    """The path of a file that was kept elsewhere, as it would have been."""
    first, _, rest = path.partition("/")
    begin, kept, _ = first.partition("-kept-")
    return path if not kept else f"{begin}/{rest}" if begin == "new" else rest
