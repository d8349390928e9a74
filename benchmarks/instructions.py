"""Instructions per packet-hop: a guard of the engine's speed that needs no clock.

python benchmarks/instructions.py [--update]

Counts the instructions of every case of the benchmark `instructions` (its source is
crates/tailroom-engine/benches/instructions.rs) under callgrind, and compares them with
benchmarks/instructions.toml. Building takes up to a minute, counting less than two. `--update`
writes the file; commit it with the change of the engine that moved the counts.

Exit status: 0 if no count has risen by more than 3 %; 1 if one has, or if the file and the
benchmark do not have the same cases; 77 if valgrind or cargo is not installed. Counts of another
compiler or processor architecture are not comparable: the script reports them and exits with 0.
"""

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from engine_benchmark import REPOSITORY, NoCargoError, NotBuiltError, build_engine_benchmark

RECORD = REPOSITORY / "benchmarks" / "instructions.toml"
LARGEST_RISE = 0.03
"""A change of the engine may raise a count by this fraction."""

TOOL_IS_MISSING = 77
"""The exit status by which test drivers, such as Automake's, know a skipped test."""


@dataclass(frozen=True)
class Counts:
    """Instructions per packet-hop of each case, and what they depend on apart from the engine."""

    compiler: str
    """As `rustc --version` prints it."""

    architecture: str
    instructions: dict[str, float]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a file that `save` wrote."""
        return cls(**tomllib.loads(path.read_text(encoding="utf-8")))

    def save(self, path: Path) -> None:
        """Writes a TOML file."""
        lines = [
            "# Instructions per packet-hop; written by `benchmarks/instructions.py --update`.",
            f'compiler = "{self.compiler}"',
            f'architecture = "{self.architecture}"',
            "",
            "[instructions]",
            *(f"{case} = {count:.1f}" for case, count in self.instructions.items()),
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Comparison:
    """What the script prints, and whether the engine has become slower."""

    lines: list[str]
    has_failed: bool


def compare(counted: Counts, recorded: Counts) -> Comparison:
    """Compares counts with the recorded ones, case by case."""
    lines, faults = [], []
    for case in recorded.instructions | counted.instructions:
        before = recorded.instructions.get(case)
        now = counted.instructions.get(case)
        if before is None:
            lines.append(f"{case:20} {'':>8} {now:8.1f}")
            faults.append(f"{case} is not in {RECORD.name}: run this script with --update")
        elif now is None:
            faults.append(
                f"{case} is in {RECORD.name} and not in the benchmark: "
                "run this script with --update"
            )
        else:
            change = now / before - 1
            lines.append(f"{case:20} {before:8.1f} {now:8.1f} {change:+8.1%}")
            if change > LARGEST_RISE:
                faults.append(
                    f"{case} takes {change:.1%} more instructions than recorded, "
                    f"and {LARGEST_RISE:.0%} are allowed"
                )
    for what in ("compiler", "architecture"):
        ours, theirs = getattr(counted, what), getattr(recorded, what)
        if ours != theirs:
            lines.append(
                f"The recorded counts are those of another {what} ({theirs}; here: {ours}), "
                "so that they are not comparable."
            )
            faults = []
    return Comparison(lines + faults, bool(faults))


def count(program: Path, case: str) -> float:
    """Instructions per packet-hop of a case.

    Raises:
        ValueError: Callgrind or the benchmark printed something else than counts.
    """
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        "--toggle-collect=*instructions*measured*",
        str(program),
        case,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if collected is None or not done.stdout.strip().isdigit():
        raise ValueError(f"{' '.join(command)} printed no counts:\n{done.stdout}{done.stderr}")
    return int(collected[1]) / int(done.stdout)


def count_all(program: Path) -> Counts:
    """Counts the instructions of every case of the benchmark."""

    def output(*command: str) -> str:
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    cases = output(str(program)).split()
    return Counts(
        compiler=output("rustc", "--version"),
        architecture=platform.machine(),
        instructions={case: count(program, case) for case in cases},
    )


def main() -> int:
    """Counts, and writes or compares; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--update", action="store_true", help=f"write {RECORD.name} anew")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed (Debian: apt-get install valgrind): nothing was counted")
        return TOOL_IS_MISSING
    try:
        program = build_engine_benchmark("instructions")
    except NoCargoError as error:
        print(f"{error}: nothing was counted")
        return TOOL_IS_MISSING
    except NotBuiltError as error:
        print(error)
        return 1
    counted = count_all(program)
    if options.update:
        counted.save(RECORD)
        print(RECORD.read_text(encoding="utf-8"), end="")
        return 0
    comparison = compare(counted, Counts.load(RECORD))
    print(f"{'case':20} {'recorded':>8} {'now':>8} {'change':>8}", *comparison.lines, sep="\n")
    return int(comparison.has_failed)


if __name__ == "__main__":
    sys.exit(main())
