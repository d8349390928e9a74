"""CPU time per packet-hop: the engine compared with the least that an engine of its kind must do.

python benchmarks/against_limit.py [--rounds 5] [--only TEXT]

Builds the engine's benchmark `packet_hop` and the prototype in benchmarks/limit, both in release,
and runs each case of one in turn with its counterpart of the other, so that both figures come from
the same minutes. Quoted are minima and medians of the rounds, in ns. Ratios and differences are
those of the minima, which a busy machine disturbs least. What the prototype leaves out is in
benchmarks/limit/README.md. All cases take some ten minutes with five rounds.
"""

import argparse
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from engine_benchmark import REPOSITORY, NotBuiltError, build_engine_benchmark, cargo

LIMIT = REPOSITORY / "benchmarks" / "limit"
DEFAULT_JITTER = ", default jitter"
"""What the benchmark appends to a case whose senders delay packets at random, as by default."""

Figures = dict[str, list[float]]
"""By program and case, the ns per packet-hop of each round."""


@dataclass(frozen=True)
class Row:
    """A case of the engine and what it is compared with."""

    case: str
    goal: float


@dataclass(frozen=True)
class OverLimit(Row):
    """A case that is compared with the prototype; the goals are ratios."""

    limit: str
    """What the prototype is called with. With shorter RTTs it loses as large a share as the engine
    (`3 edel 10 19`: 1.26 %; `4 edel 10 24`: 3.3 %; `3 fq 10 28`: 0.47 %), which repairs more."""


@dataclass(frozen=True)
class OverCase(Row):
    """A case that is compared with another one of the engine."""

    other: str
    is_ratio: bool
    """Whether the goal is a ratio; otherwise it is a difference in ns."""


OVER_LIMIT = [
    OverLimit("10 HighSpeed flows, 1 Gbit/s", 2.5, "1 edel"),
    OverLimit("100 Reno flows, 10 Gbit/s", 2.5, "2 edel"),
    OverLimit("10,000 Reno flows, 100 Gbit/s", 3.2, "3 edel 10 19"),
    OverLimit("100,000 Reno flows, 400 Gbit/s", 3.5, "4 edel 10 24"),
    OverLimit("fair, scheduler = deficit_round_robin, 10,000 flows", 3.3, "3 fq 10 28"),
    OverLimit("fair, scheduler = start_time, 10,000 flows", 3.3, "3 fq 10 28"),
    OverLimit("fq_codel, 10,000 flows", 3.3, "3 fq 10 28"),
    OverLimit("fq_pie, 10,000 flows", 3.3, "3 fq 10 28"),
    OverLimit("codel, 10 flows", 2.5, "1 ecodel"),
    OverLimit("red, 10 flows", 2.5, "1 edelred"),
    OverLimit("two_hops: 10 HighSpeed flows", 2.5, "1 e2"),
]
OVER_CASES = [
    OverCase("pie, 10 flows", 8.0, "drop_tail, 10 flows", is_ratio=False),
    OverCase("bbr1 control, 10 flows", 35.0, "reno control, 10 flows", is_ratio=False),
    OverCase("bbr3 control, 10 flows", 35.0, "reno control, 10 flows", is_ratio=False),
    OverCase(
        "finite flows of 100 packets, 10 Gbit/s",
        1.1,
        "1500 permanent flows, 10 Gbit/s",
        is_ratio=True,
    ),
]


def build_limit() -> Path:
    """Builds the prototype; returns the program."""
    target = REPOSITORY / "target" / "limit"
    cargo("build", "--release", "--locked", "--target-dir", str(target), directory=LIMIT)
    return target / "release" / "tailroom-limit"


def time_case(benchmark: Path, case: str) -> float:
    """Nanoseconds per packet-hop of one run of a case of the engine.

    Raises:
        ValueError: The benchmark has no case of this name.
    """
    command = [str(benchmark), "--exact", "--runs", "1", case]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(rf"^{re.escape(case)} +([\d.]+) ns", output, re.MULTILINE)
    if found is None:
        raise ValueError(f"the benchmark packet_hop has no case with the name {case!r}")
    return float(found[1])


def time_limit(limit: Path, arguments: str) -> float:
    """Nanoseconds per packet-hop of one run of the prototype, in its last 70 %.

    Raises:
        ValueError: The prototype printed no time.
    """
    command = [str(limit), *arguments.split()]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"steady=([\d.]+)", output)
    if found is None:
        raise ValueError(f"{' '.join(command)} printed no time: {output!r}")
    return float(found[1])


def measure(benchmark: Path, limit: Path, row: Row, rounds: int) -> Figures:
    """Runs a row's case, with and without the default jitter, and its counterpart, in turn."""
    figures: Figures = defaultdict(list)
    for _ in range(rounds):
        for case in (row.case, row.case + DEFAULT_JITTER):
            figures[case].append(time_case(benchmark, case))
        if isinstance(row, OverLimit):
            figures[row.limit].append(time_limit(limit, row.limit))
        elif isinstance(row, OverCase):
            for case in (row.other, row.other + DEFAULT_JITTER):
                figures[case].append(time_case(benchmark, case))
    return figures


def least_and_median(times: list[float]) -> str:
    """Both figures, in ns."""
    return f"{min(times):6.1f} {statistics.median(times):6.1f}"


def print_over_limit(row: OverLimit, figures: Figures) -> None:
    """One line: the case without and with jitter, the prototype, both ratios, the goal."""
    plain, jitter = figures[row.case], figures[row.case + DEFAULT_JITTER]
    limit = figures[row.limit]
    ratios = f"{min(plain) / min(limit):5.2f} {min(jitter) / min(limit):5.2f}"
    print(
        f"{row.case.replace('scheduler = ', ''):40} {least_and_median(plain)}"
        f"  {least_and_median(jitter)}  {row.limit:12} {least_and_median(limit)}  {ratios}"
        f"  {row.goal:4.1f}",
        flush=True,
    )


def print_over_case(row: OverCase, figures: Figures) -> None:
    """One line: the case and the other one, both without jitter, their comparison, the goal."""

    def compare(suffix: str) -> float:
        case, other = min(figures[row.case + suffix]), min(figures[row.other + suffix])
        return case / other if row.is_ratio else case - other

    unit = " x" if row.is_ratio else "ns"
    print(
        f"{row.case:40} {least_and_median(figures[row.case])}  {row.other:32}"
        f" {least_and_median(figures[row.other])}  {compare(''):6.2f} {unit}"
        f" {compare(DEFAULT_JITTER):6.2f} {unit}  {row.goal:4.1f}",
        flush=True,
    )


def print_tables(benchmark: Path, limit: Path, rounds: int, only: str) -> None:
    """Measures and prints the rows whose case contains the text."""
    print(f"minima and medians of {rounds}, ns per packet-hop")
    over_limit = [row for row in OVER_LIMIT if only in row.case]
    if over_limit:
        print(
            f"\n{'case':40} {'no jitter':>13}  {'def. jitter':>13}  {'limit':12} {'':13}"
            f"  {'ratios':>11}  goal"
        )
    for row in over_limit:
        print_over_limit(row, measure(benchmark, limit, row, rounds))
    over_cases = [row for row in OVER_CASES if only in row.case]
    if over_cases:
        print(
            f"\n{'case':40} {'no jitter':>13}  {'other case':32} {'no jitter':>13}"
            f"  {'none':>9} {'default':>9}  goal"
        )
    for case in over_cases:
        print_over_case(case, measure(benchmark, limit, case, rounds))


def main() -> None:
    """Builds both programs and prints two tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="runs of each case, in turn (5)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases that contain this text")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    if not any(options.only in row.case for row in (*OVER_LIMIT, *OVER_CASES)):
        parser.error(f"--only {options.only!r}: no case contains this text")
    try:
        benchmark, limit = build_engine_benchmark("packet_hop"), build_limit()
    except NotBuiltError as error:
        sys.exit(f"against_limit.py: {error}")
    print_tables(benchmark, limit, options.rounds, options.only)


if __name__ == "__main__":
    main()
