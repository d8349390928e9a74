"""Without the optional libraries: `run` and `size` work, and others name what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

from tailroom.cli.main import app

WITHOUT = r"""
import re, sys
from importlib import metadata

def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()

# What `pip install tailroom` installs: the package, what it requires, and what that requires.
base, further = set(), ["tailroom"]
while further:
    name = plain(further.pop())
    if name not in base:
        base.add(name)
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # of another system
            continue
        further += [re.match(r"[\w.-]+", one)[0] for one in required if "extra ==" not in one]
missing = {
    module
    for module, owners in metadata.packages_distributions().items()
    if not base & set(map(plain, owners))
}
assert {"duckdb", "matplotlib", "pandas", "pyarrow", "scipy"} <= missing
assert missing.isdisjoint({"numpy", "rich", "tomli_w", "typer"})

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Nowhere())
"""
COMMAND = f"{WITHOUT}\nfrom tailroom.cli import main\nmain()"
QUESTION = ["--rate", "5Mbit/s", "--rtt", "20ms", "--target", "utilization>=80%"]


def without(code: str, *arguments: object, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


SHORT = ["--set", "duration=2 s", "--set", "measure_from=1 s"]
BY_NUMPY_ALONE = [
    ["run", "first", *SHORT],
    ["run", "first", *SHORT, "--seed", "2", "--phase-check", "--workers", "2"],
    ["run", "first", *SHORT, "--vary", "links.bottleneck.queue=codel,pie"],
    ["run", "first", *SHORT, "--seeds", "3", "--metric", "utilization", "--json"],
    ["run", "first", *SHORT, "--allow-code", "--allow-files", "--explain"],
    ["size", *QUESTION, "--flows", "2", "--congestion", "reno", "--duration", "10 s"],
    ["size", *QUESTION, "--max-seeds", "4", "--host", "plain", "--no-atlas", "--json"],
    ["size", *QUESTION, "--max-seeds", "4", "--precision", "0.5", "--workers", "2", "--explain"],
    [
        "size",
        *QUESTION,
        "--max-seeds",
        "4",
        "--subscribers",
        "80",
        "--active",
        "5%",
        "--access-rate",
        "2Mbit/s",
    ],
    ["size", *QUESTION, "--max-seeds", "4", "--most-loss", "none", "--config", "eos"],
    [
        "size",
        *QUESTION,
        "--max-seeds",
        "4",
        "--link",
        "bottleneck",
        "--vary",
        "links.bottleneck.queue.limit",
    ],
    ["size", *QUESTION, "--max-seeds", "4", "--vary", "links.bottleneck.rate=5Mbit/s,6Mbit/s"],
    ["size", *QUESTION, "--max-seeds", "4", "--set", "seed=2", "--allow-code", "--allow-files"],
]
"""Commands that together have every option of `run` and `size` that needs no extra."""
BY_EXTRAS = {
    *("--out", "--store", "--cluster"),
    "--no-title",  # of a picture
    # Packets are written from tables.
    *("--pcap", "--packets", "--qlog", "--at", "--from", "--to", "--only-flows", "--every"),
    *("--direction", "--ip"),
}
"""Options that need an extra, as README says."""


@pytest.mark.parametrize("arguments", BY_NUMPY_ALONE, ids=lambda words: " ".join(words)[:60])
def test_run_and_size_need_numpy_alone(arguments: list[str], tmp_path: Path) -> None:
    ended = without(COMMAND, *arguments, cwd=tmp_path)
    assert ended.returncode in (0, 4), ended.stderr
    assert "utilization" in ended.stdout


@pytest.mark.parametrize("command", ["run", "size"])
def test_every_option_is_tried_without_the_extras_or_needs_one(command: str) -> None:
    options = {
        name
        for one in app.load(command).params
        for name in (*one.opts, *one.secondary_opts)
        if name.startswith("--")
    }
    tried = {word for words in BY_NUMPY_ALONE if words[0] == command for word in words}
    assert options - BY_EXTRAS - {"--help", "--atlas"} <= tried


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["run", "first", "--out", "out"], "tables"),
        (["sweep", "first", "--vary", "links.*.queue.limit=1 packet", "--store", "s"], "tables"),
        (["atlas"], "tables"),
        (["plot", "out"], "tables"),
    ],
)
def test_a_command_names_the_extra_before_it_works(
    arguments: list[str], extra: str, tmp_path: Path
) -> None:
    ended = without(COMMAND, *arguments, cwd=tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert f"install it with: pip install 'tailroom[{extra}]'\n" in ended.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("statement", "extra"),
    [
        ("tailroom.sweep", "tables"),
        ("tailroom.atlas()", "tables"),
        ("RESULT.link_series", "tables"),
        ("RESULT.table('links')", "tables"),
        ("RESULT.save('out')", "tables"),
        ("RESULT.plot()", "plots"),
    ],
)
def test_a_function_names_the_extra(statement: str, extra: str, tmp_path: Path) -> None:
    code = f"""{WITHOUT}
import tailroom
RESULT = tailroom.run("first", set={{"duration": "6 s", "measure_from": "5 s"}}, series_samples=5)
try:
    {statement}
except tailroom.MissingLibraryError as error:
    print(error)
"""
    ended = without(code, cwd=tmp_path)
    assert f"'tailroom[{extra}]'\n" in ended.stdout, ended.stderr
    assert not list(tmp_path.iterdir())
