"""Whatever is wrong with the input: status 2, one message with place and remedy, no files."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SMALL, Printed, Tailroom
from tests.printed_text import same_as_file, shown

SECOND_LINK = """
[links.second]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
"""

# What is replaced in the small scenario, and by what.
WRONG_SCENARIOS = {
    "unknown key": ("rate =", "rat ="),
    "unknown table": ("[flows.reno]", "[flow.reno]"),
    "unknown kind of queue": ("drop_tail", "drop_tale"),
    "unknown congestion control": ("reno" + '" }', 'rino" }'),
    "unknown parameter": ('kind = "reno"', 'kind = "highspeed", low_windo = 3'),
    "missing unit": ('"10 Mbit/s"', '"10"'),
    "number instead of quantity": ('"10 Mbit/s"', "10"),
    "unit of something else": ('"10 Mbit/s"', '"10 ms"'),
    "zero rate": ('"10 Mbit/s"', '"0 Mbit/s"'),
    "negative rate": ('"10 Mbit/s"', '"-10 Mbit/s"'),
    "overflowing rate": ('"10 Mbit/s"', '"1e30 Mbit/s"'),
    "zero duration": ('"4 s"', '"0 s"'),
    "negative duration": ('"4 s"', '"-4 s"'),
    "overflowing duration": ('"4 s"', '"1e40 s"'),
    "duration that is no number": ('"4 s"', '"nan s"'),
    "loss that is no number": (
        "delay =",
        'loss = { kind = "bernoulli", probability = nan }\ndelay =',
    ),
    "loss above one": ("delay =", 'loss = { kind = "bernoulli", probability = 1.5 }\ndelay ='),
    "path to nowhere": ('path = ["bottleneck"]', 'path = ["botleneck"]'),
    "path with a loop": ('path = ["bottleneck"]', 'path = ["bottleneck", "second", "bottleneck"]'),
    "empty path": ('path = ["bottleneck"]', "path = []"),
    "RTT below the propagation": ('rtt = "20 ms"', 'rtt = "5 ms"'),
    "measured after the end": ('measure_from = "1 s"', 'measure_from = "9 s"'),
    "nothing measured": ('measure_from = "1 s"', 'measure_from = "4 s"'),
    "no flows": (SMALL[SMALL.index("[flows") :], ""),
    "zero flows": ("count = 2", "count = 0"),
    "limit of zero packets": ('"20 packets"', '"0 packets"'),
    "limit below a packet": ('"20 packets"', '"0.001 bdp"'),
    "too little memory allowed": ('duration = "4 s"', 'duration = "4 s"\nmemory_limit = "1 kB"'),
    "trace that is not there": ('rate = "10 Mbit/s"\ndelay', 'trace = "nowhere.trace"\ndelay'),
    "no TOML": ("duration =", "duration"),
    "key given twice": ("count = 2", "count = 2\ncount = 3"),
    "seed below zero": ("duration =", "seed = -1\nduration ="),
    "seed that is text": ("duration =", 'seed = "one"\nduration ='),
}


def test_wrong_scenarios(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("wrong.toml")
    messages = []
    for case, (old, new) in WRONG_SCENARIOS.items():
        assert old in SMALL
        text = SMALL.replace(old, new) + (SECOND_LINK if '"second"' in new else "")
        path.write_text(text, encoding="utf-8")
        ended = tailroom("run", path, "--out", "out")
        assert ended.status == 2
        assert "; " in ended.errors, "what is wrong is followed by a remedy"
        assert list(tmp_path.iterdir()) == [tmp_path / path]
        messages.append(f"# {case}\n{shown(ended)}")
    same_as_file("refusals_of_scenarios", "\n".join(messages))


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "No such file"),
    "directory": (lambda path: path.mkdir(), "Is a directory"),
    "not UTF-8": (lambda path: path.write_bytes(b'\ntitle = "\xff"'), "line 2: byte 11"),
    "huge": (lambda path: path.write_bytes(b"#" * ((4 << 20) + 1)), "larger than 4 MiB"),
    "empty": (lambda path: path.touch(), "duration"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable_scenario(tailroom: Tailroom, tmp_path: Path, case: str) -> None:
    make, named = UNREADABLE[case]
    path = tmp_path / "scenario.toml"
    make(path)
    ended = tailroom("run", path)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {path}: ")
    assert named in ended.errors
    assert ended.errors.count("\n") == 1


IS_ROOT = os.geteuid() == 0
LIKE_ANYBODY = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


@pytest.mark.skipif(
    IS_ROOT and not shutil.which("setpriv"), reason="root may read every file, but for setpriv"
)
@pytest.mark.parametrize("command", ["run", "size"])
def test_forbidden_scenario(command: str, small: Path) -> None:
    small.chmod(0)
    target = ["--target", "utilization >= 0.9"] if command == "size" else []
    program = [sys.executable, "-m", "tailroom", command, str(small), *target]
    ended = subprocess.run(
        [*(LIKE_ANYBODY if IS_ROOT else []), *program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {small}: ")
    assert "Permission denied" in ended.stderr


def test_wrong_options(refused: Printed, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused("run")


def test_output_directory_that_holds_files(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "kept").touch()
    ended = tailroom("run", small, "--out", out)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {out}: holds files already; ")
    assert [path.name for path in out.iterdir()] == ["kept"]


HALF = "\udcff"
"""What Python makes of a byte of an argument that is not UTF-8."""
NOT_UNICODE = {
    "value": ("run", "FILE", "--set", f"title={HALF}"),
    "key": ("run", "FILE", "--set", f"{HALF}=1"),
    "axis": ("run", "FILE", "--vary", f"links.bottleneck.queue.limit=5 packets,{HALF}"),
    "grid": ("sweep", "FILE", "--store", "STORE", "--grid", f"{HALF}=1,2"),
    "rate": ("size", "--rate", HALF, "--rtt", "3ms"),
    "rtt": ("size", "--rate", "1Gbit/s", "--rtt", f"3ms{HALF}"),
    "rate of the atlas": ("atlas", "near", "--rate", HALF, "--rtt", "3ms"),
    "control": ("evaluate", HALF),
}


@pytest.mark.parametrize("case", NOT_UNICODE)
def test_half_a_character_is_refused(
    tailroom: Tailroom, small: Path, tmp_path: Path, case: str
) -> None:
    places = {"FILE": small, "STORE": tmp_path / "store"}
    ended = tailroom(*(places.get(word, word) for word in NOT_UNICODE[case]))
    assert ended.status == 2
    assert ended.errors.count("\n") == 1
    assert r"the character \udcff is not Unicode; leave it out" in ended.errors


def test_names_of_files_that_are_not_unicode_work(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    store, out = tmp_path / f"store{HALF}", tmp_path / f"out{HALF}"
    for _ in range(2):
        swept = tailroom("sweep", small, "--store", store, "--seeds", 1)
        assert (swept.status, swept.errors) == (0, "")
    assert tailroom("results", store, "--out", tmp_path / f"{HALF}.parquet").status == 0
    assert tailroom("run", small, "--out", out).status == 0
    assert tailroom("plot", out).status == 0
