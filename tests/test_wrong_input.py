"""Whatever is wrong with the input: status 2, one message with place and remedy, no files."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import SMALL, Tailroom

SECOND_LINK = """
[links.second]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
"""

# What is replaced in the small scenario, by what, and what the message must name.
WRONG_SCENARIOS = {
    "unknown key": ("rate =", "rat =", ["links.bottleneck.rat", "`rate`"]),
    "unknown table": ("[flows.reno]", "[flow.reno]", ["flow", "`flows`"]),
    "unknown kind of queue": ("drop_tail", "drop_tale", ["links.bottleneck.queue", "drop_tail"]),
    "unknown congestion control": ("reno" + '" }', 'rino" }', ["flows.reno.congestion", "reno"]),
    "unknown parameter": (
        'kind = "reno"',
        'kind = "highspeed", low_windo = 3',
        ["flows.reno.congestion", "low_window"],
    ),
    "missing unit": ('"10 Mbit/s"', '"10"', ["links.bottleneck.rate", "bit/s"]),
    "number instead of quantity": ('"10 Mbit/s"', "10", ["links.bottleneck.rate", "bit/s"]),
    "unit of something else": ('"10 Mbit/s"', '"10 ms"', ["links.bottleneck.rate", "bit/s"]),
    "zero rate": ('"10 Mbit/s"', '"0 Mbit/s"', ["links.bottleneck.rate"]),
    "negative rate": ('"10 Mbit/s"', '"-10 Mbit/s"', ["links.bottleneck.rate"]),
    "overflowing rate": ('"10 Mbit/s"', '"1e30 Mbit/s"', ["links.bottleneck.rate"]),
    "zero duration": ('"4 s"', '"0 s"', ["duration"]),
    "negative duration": ('"4 s"', '"-4 s"', ["duration"]),
    "overflowing duration": ('"4 s"', '"1e40 s"', ["duration"]),
    "duration that is no number": ('"4 s"', '"nan s"', ["duration"]),
    "loss that is no number": (
        "delay =",
        'loss = { kind = "bernoulli", probability = nan }\ndelay =',
        ["links.bottleneck.loss.probability"],
    ),
    "loss above one": (
        "delay =",
        'loss = { kind = "bernoulli", probability = 1.5 }\ndelay =',
        ["links.bottleneck.loss.probability"],
    ),
    "path to nowhere": (
        'path = ["bottleneck"]',
        'path = ["botleneck"]',
        ["flows.reno.path", "bottleneck"],
    ),
    "path with a loop": (
        'path = ["bottleneck"]',
        'path = ["bottleneck", "second", "bottleneck"]',
        ["flows.reno.path", "bottleneck"],
    ),
    "empty path": ('path = ["bottleneck"]', "path = []", ["flows.reno.path"]),
    "RTT below the propagation": ('rtt = "20 ms"', 'rtt = "5 ms"', ["flows.reno.rtt", "10 ms"]),
    "measured after the end": (
        'measure_from = "1 s"',
        'measure_from = "9 s"',
        ["measure_from", "duration"],
    ),
    "nothing measured": ('measure_from = "1 s"', 'measure_from = "4 s"', ["measure_from"]),
    "no flows": (SMALL[SMALL.index("[flows") :], "", ["flows"]),
    "zero flows": ("count = 2", "count = 0", ["flows.reno.count"]),
    "limit of zero packets": ('"20 packets"', '"0 packets"', ["links.bottleneck.queue.limit"]),
    "limit below a packet": ('"20 packets"', '"0.001 bdp"', ["links.bottleneck.queue.limit"]),
    "too little memory allowed": (
        'duration = "4 s"',
        'duration = "4 s"\nmemory_limit = "1 kB"',
        ["memory_limit"],
    ),
    "trace that is not there": (
        'rate = "10 Mbit/s"\ndelay',
        'trace = "nowhere.trace"\ndelay',
        ["links.bottleneck.trace", "nowhere.trace"],
    ),
    "no TOML": ("duration =", "duration", ["line 2"]),
    "key given twice": ("count = 2", "count = 2\ncount = 3", ["line 15"]),
    "seed below zero": ("duration =", "seed = -1\nduration =", ["seed"]),
    "seed that is text": ("duration =", 'seed = "one"\nduration =', ["seed"]),
}


@pytest.mark.parametrize(("old", "new", "named"), WRONG_SCENARIOS.values(), ids=WRONG_SCENARIOS)
def test_wrong_scenario(
    tailroom: Tailroom, tmp_path: Path, old: str, new: str, named: list[str]
) -> None:
    assert old in SMALL
    text = SMALL.replace(old, new) + (SECOND_LINK if '"second"' in new else "")
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    ended = tailroom("run", path, "--out", tmp_path / "out")
    assert ended.status == 2
    assert ended.output == ""
    assert ended.errors.startswith(f"error: {path}: ")
    assert "; " in ended.errors, "what is wrong is followed by a remedy"
    for name in named:
        assert name in ended.errors
    assert "Traceback" not in ended.errors
    assert list(tmp_path.iterdir()) == [path]


def test_wrong_values_name_their_line(tailroom: Tailroom, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(SMALL.replace('"10 Mbit/s"', '"10 apples"'), encoding="utf-8")
    line = 1 + SMALL[: SMALL.index("10 Mbit/s")].count("\n")
    assert f"{path}: line {line}, links.bottleneck.rate: " in tailroom("run", path).errors


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


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--set", "links.bottleneck.rat=1 Mbit/s"], ["--set", "links.bottleneck.rat", "`rate`"]),
        (["--set", "links.bottleneck.rate=1"], ["--set", "links.bottleneck.rate", "bit/s"]),
        (["--set", "links.nowhere.rate=1 Mbit/s"], ["--set", "links.nowhere"]),
        (["--set", "seed"], ["--set seed", "KEY=VALUE"]),
        (["--set", "=3"], ["--set =3", "KEY=VALUE"]),
        (["--seed", "-1"], ["--seed"]),
        (["--seed", "one"], ["--seed"]),
        (["--sed", "1"], ["--sed"]),
    ],
)
def test_wrong_options(
    tailroom: Tailroom, small: Path, arguments: list[str], named: list[str]
) -> None:
    ended = tailroom("run", small, *arguments)
    assert ended.status == 2
    assert ended.output == ""
    for name in named:
        assert name in ended.errors
    assert "Traceback" not in ended.errors


def test_output_directory_that_holds_files(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "kept").touch()
    ended = tailroom("run", small, "--out", out)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {out}: holds files already; ")
    assert [path.name for path in out.iterdir()] == ["kept"]


def test_output_directory_below_a_file(tailroom: Tailroom, small: Path) -> None:
    ended = tailroom("run", small, "--out", small / "out")
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {small / 'out'}: ")
    assert ended.errors.count("\n") == 1


def test_output_directory_is_checked_before_the_run(tailroom: Tailroom, small: Path) -> None:
    ended = tailroom("run", small, "--set", "duration=1000000 s", "--out", small)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {small}: is a file; ")


@pytest.mark.parametrize("place", ["nowhere", "empty"])
def test_plot_of_what_is_no_result(tailroom: Tailroom, tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    ended = tailroom("plot", tmp_path / place)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {tmp_path / place}: ")
    assert ended.errors.count("\n") == 1


def test_list_of_what_does_not_exist(tailroom: Tailroom) -> None:
    ended = tailroom("list", "que")
    assert ended.status == 2
    assert "queue" in ended.errors


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
