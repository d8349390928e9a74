"""Writes the last section of docs/quality.md: dependencies and their licences.

python tools/dependencies.py [--check]

Names and versions come from the lock files; licences from Cargo's and npm's metadata, and of Python
packages from those that are installed. With `--check`, nothing is written, and the status is 1 if
the page is out of date.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from markdown_table import markdown_table

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "quality.md"
TARGET = "wasm32-unknown-unknown"
CLASSIFIER = "License :: OSI Approved :: "
LONGEST_LICENCE = 80
"""Some packages give the whole text of their licence as its name."""

HEAD = """\
## Dependencies and their licences

`python tools/dependencies.py` writes this section from the lock files, and `make lint` checks it.
It omits what only tests and builds use; `make deny` checks the licences of those crates.
"""

MOST_IN_ROW = 20

Row = tuple[str, str, str]
"""Name, version, licence."""


def crates(package: str, *target: str) -> list[Row]:
    """Returns the crates that a crate of this repository is compiled with.

    Args:
        package: The crate.
        target: The arguments that name its target.
    """
    form = ["--prefix=none", "--edges=normal", "--format={p}|{l}", *target]
    ended = subprocess.run(
        ["cargo", "tree", "--quiet", "--locked", f"--package={package}", *form],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    lines = (line.removesuffix(" (*)").split("|") for line in ended.stdout.splitlines())
    found = {(*name.split()[:2], licence) for name, licence in lines if str(REPOSITORY) not in name}
    return sorted((name, version.removeprefix("v"), licence) for name, version, licence in found)


def npm_packages() -> list[Row]:
    """Returns the packages whose code is part of the page."""
    document = json.loads((REPOSITORY / "page" / "package-lock.json").read_text(encoding="utf-8"))
    used = {
        name.removeprefix("node_modules/"): package
        for name, package in document["packages"].items()
        if name and not package.get("dev")
    }
    return sorted((name, one["version"], one["license"]) for name, one in used.items())


def python_packages(known: dict[tuple[str, str], str], *, extras: bool = True) -> list[Row]:
    """Returns the packages that the package needs at run time.

    Args:
        known: Licences by name and version, for those that are not installed here.
        extras: Whether those of all extras are among them.
    """
    document = tomllib.loads((REPOSITORY / "uv.lock").read_text(encoding="utf-8"))
    locked: dict[str, list[dict[str, Any]]] = {}
    for package in document["package"]:
        locked.setdefault(package["name"], []).append(package)
    rows: set[Row] = set()
    left, seen = ["tailroom"], set[str]()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        for package in locked[name]:
            left += [needed["name"] for needed in package.get("dependencies", ())]
            if name == "tailroom":
                optional = package["optional-dependencies"].values() if extras else ()
                left += [needed["name"] for extra in optional for needed in extra]
            else:
                version = package["version"]
                licence = _installed_licence(name) or known.get((name, version), "unknown")
                rows.add((name, version, licence))
    return sorted(rows)


def _installed_licence(name: str) -> str | None:
    try:
        described = metadata(name)
    except PackageNotFoundError:
        return None
    given = described.get_all("License-Expression") or described.get_all("License") or [""]
    text: str = given[0]
    if text and "\n" not in text and len(text) < LONGEST_LICENCE:
        return text
    classifiers = described.get_all("Classifier") or []
    found = [one.removeprefix(CLASSIFIER) for one in classifiers if one.startswith(CLASSIFIER)]
    return ", ".join(found) or None


def _rows_of(page: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yields name and version with the licence, of each package of the page."""
    for line in page.partition(HEAD)[2].splitlines():
        if match := re.fullmatch(r"\| (.+) \| (\S+ \d.*) \|", line):
            for package in match[2].split(", "):
                name, version = package.split(" ")
                yield (name, version), match[1]


def _section(title: str, text: str, rows: list[Row]) -> str:
    packages: dict[str, list[str]] = {}
    for name, version, licence in rows:
        packages.setdefault(licence, []).append(f"{name} {version}")
    lines = [
        (licence, ", ".join(names[first : first + MOST_IN_ROW]))
        for licence, names in sorted(packages.items())
        for first in range(0, len(names), MOST_IN_ROW)
    ]
    return f"### {title}\n\n{text}\n\n{markdown_table(['licence', 'packages'], lines)}"


def page(before: str) -> str:
    """Returns the page.

    Args:
        before: The page as it was: the text of its other sections, and licences of packages that
            are not installed here.
    """
    engine = crates("tailroom-python", "--target=all")
    inside = {name for name, _, _ in engine}
    web = [row for row in crates("tailroom-web", f"--target={TARGET}") if row[0] not in inside]
    sections = [
        _section("In every wheel", "The engine in Rust, as it is compiled.", engine),
        _section(
            "In the page of `tailroom explore`",
            "Further crates of the engine as WebAssembly, and npm packages.",
            [*web, *npm_packages()],
        ),
        _section(
            "Needed at run time",
            "The Python packages that pip installs with `tailroom[all]`.",
            python_packages(dict(_rows_of(before))),
        ),
    ]
    written_by_hand = before.partition(HEAD.splitlines()[0])[0]
    return written_by_hand + "\n".join([HEAD, *sections])


def main(arguments: list[str]) -> int:
    """Writes the section, or compares it."""
    before = PAGE.read_text(encoding="utf-8")
    now = page(before)
    if arguments == ["--check"]:
        if now != before:
            print("docs/quality.md is out of date: python tools/dependencies.py")
        return 0 if now == before else 1
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
