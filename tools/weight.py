"""Prints the weight of the repository: lines by room, words of Markdown, megabytes to install.

python tools/weight.py [--log FILE]

Counts the files that git tracks. The lines of a room are code, documentation (docstrings and doc
comments), tests (those within a Rust file too) and generated code; the rest are comments and blank.
The megabytes are those of the required packages of Python as they are installed here, without
tailroom. FILE is the output of `make test`, whose seconds are added up.
"""

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from dependencies import python_packages
from markdown_table import markdown_table

REPOSITORY = Path(__file__).parents[1]
SOURCES = (".py", ".rs", ".ts")
ROOMS = (
    "python",
    "atlas",
    "papers",
    "tests",
    "tools",
    "page",
    "crates",
    "benchmarks",
    "validation",
)
KINDS = ("lines", "code", "documentation", "tests", "generated")
GENERATED = re.compile(r'\A(?:"""[^"]{0,99}|<!-- |# .*\n\n)Generated (?:by|from) ')
COMPUTED_PAGES = ("docs/atlas", "docs/papers")
TESTS_OF_RUST = re.compile(r"^#\[cfg\(test\)\]\nmod tests \{$.*", re.M | re.S)
DOC_COMMENTS = {".rs": re.compile(r"\s*//[/!]"), ".ts": re.compile(r"\s*(?:/\*\*|\*[ /]|\*$)")}
COMMENT = re.compile(r"\s*(?:#(?!!?\[)|//|/\*)")
DURATION = re.compile(r"\bin (?:(?P<minutes>\d+)m )?(?P<seconds>[\d.]+)s\b")


def docstring_lines(source: str) -> set[int]:
    """Returns the numbers of the lines that are docstrings, those of fields included."""
    return {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def weigh(name: PurePosixPath, text: str) -> Counter[str]:
    """Returns the lines of a source file by their kind, and how many there are."""
    lines = text.splitlines()
    weight = Counter(files=1, lines=len(lines))
    if GENERATED.match(text):
        return weight + Counter(generated=len(lines))
    if "tests" in name.parts:
        return weight + Counter(tests=len(lines))
    if name.suffix == ".rs" and (tests := TESTS_OF_RUST.search(text)):
        weight["tests"] = len(tests[0].splitlines())
        lines = lines[: -weight["tests"]]
    docstrings = docstring_lines(text) if name.suffix == ".py" else set()
    doc_comment = DOC_COMMENTS.get(name.suffix)
    for number, line in enumerate(lines, 1):
        if number in docstrings or (doc_comment and doc_comment.match(line)):
            weight["documentation"] += 1
        elif line.strip() and not COMMENT.match(line):
            weight["code"] += 1
    return weight


def megabytes(packages: set[str]) -> float:
    """Returns what packages take on the disk; those that are not installed take nothing."""
    total = 0
    for name in packages:
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:
            continue
        paths = (Path(str(file.locate())) for file in files)
        total += sum(path.stat().st_size for path in paths if path.is_file())
    return total / 1e6


def seconds(log: str) -> float:
    """Returns how long the steps of `make test` took, by what Cargo and pytest print."""
    found = DURATION.finditer(log)
    return sum(60 * int(one["minutes"] or 0) + float(one["seconds"]) for one in found)


def main(arguments: list[str]) -> None:
    """Prints the weight."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", type=Path, help="output of `make test`")
    log = parser.parse_args(arguments).log
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=REPOSITORY, text=True)
    names = [PurePosixPath(name) for name in listed.split("\0") if name]
    rooms = {room: Counter[str]() for room in (*ROOMS, "others", "all")}
    words: Counter[str] = Counter()
    for name in (name for name in names if (REPOSITORY / name).is_file()):
        if name.suffix not in (".md", *SOURCES):
            continue
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        if name.suffix != ".md":
            for room in (name.parts[0] if name.parts[0] in ROOMS else "others", "all"):
                rooms[room] += weigh(name, text)
            continue
        is_computed = GENERATED.match(text) or any(map(name.is_relative_to, COMPUTED_PAGES))
        words["computed" if is_computed else "by hand"] += len(text.split())
    headings = ["room", "files", *KINDS]
    rows = [[room, *(f"{row[kind]:,}" for kind in headings[1:])] for room, row in rooms.items()]
    print(markdown_table(headings, rows))
    said = ", ".join(f"{number:,} {kind}" for kind, number in sorted(words.items()))
    print(f"Words of Markdown: {words.total():,} ({said})")
    print(f"Files in git: {len(names):,}")
    required = {name for name, _, _ in python_packages({}, extras=False)}
    print(f"Required packages: {len(required)}, {megabytes(required):.0f} MB")
    if log is not None:
        print(f"Seconds of `make test`: {seconds(log.read_text(encoding='utf-8')):,.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
