"""Builds a wheel or the source distribution, as the release does, and tries what is built.

python tools/wheel.py [--target TRIPLE] --out DIRECTORY
python tools/wheel.py --sdist --out DIRECTORY
python tools/wheel.py --python --out DIRECTORY
python tools/wheel.py --try DIRECTORY
python tools/wheel.py --compare DIRECTORY DIRECTORY

A wheel for Linux is built with Zig's linker against an old C library, so that it runs on every
distribution since 2014 (manylinux2014); maturin and Zig come from PyPI. `--try` installs what the
directory holds into a new environment and runs a scenario there. Needs Rust with the target, and
for the page `make page` (without it the result has none). `--python` builds the wheels
of tailroom-atlas and tailroom-papers, which are Python alone.

Two builds of a commit should give the same bytes: a wheel is built from a copy in the same
directory on any machine, which debug information and the list of the crates name, and times are
those of the commit. `--compare` fails unless two directories are equal.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PYTHON_ALONE = ("atlas", "papers")
"""The folders of distributions without Rust."""
PAGE = "python/tailroom/explore/page"
MATURIN = ["maturin==1.16.0", "ziglang==0.16.0"]
TRIED = ["run", "first", "--json", "--set", "duration=30 s"]
WITHOUT_EXTRAS = (
    ["run", "first", "--vary", "links.bottleneck.queue=codel,pie", "--seeds", "2"],
    ["run", "first", "--metric", "utilization"],
    ["size", "--rate", "5Mbit/s", "--rtt", "20ms", "--target", "utilization >= 80%"],
)
"""Commands that need none of the extras, as the environment has none."""
HAS_DATA = """
from importlib.resources import files
from tailroom.buffer_atlas.lookup import shipped_rows
assert len(shipped_rows()) > 1000
assert (files("tailroom") / "explore/page/index.html").is_file(), "the explorer's page is missing"
"""


def _environment(directory: Path) -> Path:
    """Makes an environment, and returns the directory of its programs."""
    venv.create(directory, with_pip=True)
    return directory / ("Scripts" if os.name == "nt" else "bin")


def _run(*command: str | Path, cwd: Path = REPOSITORY) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


def _at_a_fixed_place(place: Path) -> Path:
    """Copies the files of the repository, and the page if it is built, and returns the copy."""
    shutil.rmtree(place, ignore_errors=True)
    listed = _output("git", "ls-files", "-z").split("\0")
    page = (REPOSITORY / PAGE).rglob("*")
    for path in [*filter(None, listed), *(str(one.relative_to(REPOSITORY)) for one in page)]:
        source, copy = REPOSITORY / path, place / "source" / path
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)
    return place / "source"


def _output(*command: str) -> str:
    """Returns what a command prints."""
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=REPOSITORY
    ).stdout


def _environment_variables(place: Path) -> dict[str, str]:
    """Returns the variables with which two builds give the same bytes."""
    home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    flags = [os.environ.get("RUSTFLAGS", ""), f"--remap-path-prefix={home}=cargo"]
    return {
        "SOURCE_DATE_EPOCH": _output("git", "log", "-1", "--format=%ct").strip(),
        "RUSTFLAGS": " ".join(flags).strip(),
        "CARGO_TARGET_DIR": str(place / "target"),
    }


def differences(one: Path, other: Path) -> list[str]:
    """Returns how the distributions of two directories differ; nothing if they are the same.

    Args:
        one: Directory with distributions.
        other: Another one.
    """
    files = [
        {file.name: file.read_bytes() for file in sorted(directory.iterdir())}
        for directory in (one, other)
    ]
    if not files[0] or files[0].keys() != files[1].keys():
        held = [", ".join(names) or "nothing" for names in files]
        return [f"{one} holds {held[0]}, {other} holds {held[1]}"]
    return [
        f"{name}: {_different_members(one / name, other / name)}"
        for name in files[0]
        if files[0][name] != files[1][name]
    ]


def _different_members(one: Path, other: Path) -> str:
    """Names what differs in two archives that differ."""
    if not zipfile.is_zipfile(one) or not zipfile.is_zipfile(other):
        return "the bytes differ"
    digests = []
    for path in (one, other):
        with zipfile.ZipFile(path) as archive:
            digests.append(
                {name: hashlib.sha256(archive.read(name)).digest() for name in archive.namelist()}
            )
    names = sorted(digests[0].keys() | digests[1].keys())
    different = [name for name in names if digests[0].get(name) != digests[1].get(name)]
    return ", ".join(different) or "times or the order of the files differ"


def build(out: Path, *, target: str | None, is_source: bool) -> None:
    """Builds a wheel, or the source distribution.

    Args:
        out: Directory of the result.
        target: Rust's name of the system that the wheel is for; that of this machine if `None`.
        is_source: Whether the source distribution is built.
    """
    place = Path(tempfile.gettempdir()) / "tailroom-wheel"
    source = _at_a_fixed_place(place)
    try:
        programs = _environment(place / "tools")
        _run(programs / "python", "-m", "pip", "install", "--quiet", *MATURIN)
        # maturin finds Zig in the environment of its own Python.
        os.environ["PATH"] = os.pathsep.join([str(programs), os.environ["PATH"]])
        os.environ["VIRTUAL_ENV"] = str(place / "tools")
        os.environ.update(_environment_variables(place))
        if is_source:
            _run(programs / "maturin", "sdist", "--out", out.absolute(), cwd=source)
            return
        command: list[str | Path] = ["build", "--release", "--locked", "--out", out.absolute()]
        command += [] if target is None else ["--target", target]
        if "linux" in (target or sys.platform):
            command += ["--zig", "--compatibility", "manylinux2014"]
        _run(programs / "maturin", *command, cwd=source)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def build_python(out: Path) -> None:
    """Builds the wheels of the distributions that are Python alone.

    Args:
        out: Directory of the result.
    """
    with tempfile.TemporaryDirectory() as place:
        python = _environment(Path(place)) / "python"
        pip = (python, "-m", "pip", "wheel", "--quiet", "--no-deps")
        _run(*pip, "--wheel-dir", out.absolute(), *(REPOSITORY / name for name in PYTHON_ALONE))


def attempt(directory: Path) -> None:
    """Installs what is built into a new environment, runs a scenario, and looks for its data.

    Args:
        directory: Directory with one distribution.

    Raises:
        SystemExit: There is no distribution, or more than one, or the results are wrong.
    """
    built = [*directory.glob("*.whl"), *directory.glob("*.tar.gz")]
    if len(built) != 1:
        raise SystemExit(f"{directory}: holds {len(built)} distributions; one is needed")
    with tempfile.TemporaryDirectory() as place:
        programs = _environment(Path(place))
        _run(programs / "python", "-m", "pip", "install", "--quiet", built[0].absolute())
        answer = subprocess.run(
            [programs / "tailroom", *TRIED], check=True, capture_output=True, text=True, cwd=place
        )
        for command in WITHOUT_EXTRAS:
            subprocess.run([programs / "tailroom", *command], check=True, cwd=place)
        subprocess.run([programs / "python", "-c", HAS_DATA], check=True, cwd=place)
    utilization = json.loads(answer.stdout)["links"]["bottleneck"]["utilization"]
    if not 0.8 < utilization <= 1:
        raise SystemExit(f"{built[0].name}: a utilization of {utilization} is wrong")
    print(f"{built[0].name}: works")


def main(arguments: Sequence[str]) -> None:
    """Builds or tries what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", help="Rust's name of the system, as rustup lists it")
    parser.add_argument("--sdist", action="store_true", help="build the source distribution")
    parser.add_argument(
        "--python", action="store_true", help="build tailroom-atlas and tailroom-papers"
    )
    parser.add_argument("--out", type=Path, help="directory of the result")
    parser.add_argument("--try", type=Path, dest="tried", help="directory with what is to be tried")
    parser.add_argument("--compare", type=Path, nargs=2, help="directories with two builds")
    given = parser.parse_args(arguments)
    if given.compare is not None:
        found = differences(*given.compare)
        if found:
            raise SystemExit("\n".join(found))
    elif given.tried is not None:
        attempt(given.tried)
    elif given.out is not None and given.python:
        build_python(given.out)
    elif given.out is not None:
        build(given.out, target=given.target, is_source=given.sdist)
    else:
        parser.error("give --out, --try or --compare")


if __name__ == "__main__":
    main(sys.argv[1:])
