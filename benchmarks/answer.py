"""How long a user waits for an answer.

Each question is asked in a process of its own, without imports: three of `size`, a run that
simulates next to nothing (the median of 200 in one process), and 10,000 such runs through one
store. The table gives CPU and wall time and the goal, which is of CPU time but for the store. An
answer of `size` has its runs and the half-width of its interval, relative to the estimate.

The page's question is that of `node page/benchmark/verdict.mjs`.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

PREPARE = """\
import sys, tempfile, time
from statistics import median
import tailroom as tr
import tailroom.studies.size_study.study
import tailroom.studies.sweep_study.study
TINY = {
    "duration": "1 ms",
    "links": {
        "b": {
            "rate": "10 Mbit/s",
            "delay": "1 ms",
            "queue": {"kind": "drop_tail", "limit": "9 packets"},
        }
    },
    "flows": {"f": {"path": ["b"], "rtt": "4 ms", "congestion": "reno"}},
}
REPEATED = 200
tr.run(TINY)
def size(**question):
    found = tr.size(**question)
    runs = sum(len(tried.point.finished) for tried in found.tried)
    interval = found.interval
    wide = "no interval"
    if interval:
        half = (interval.high - interval.low) / 2 / interval.estimate
        wide = f"+-{100 * half:.1f} %"
    return f"{found.smallest} packets, {wide}, {runs} runs"
def repeated():
    clocks = [(time.process_time(), time.perf_counter())]
    for _ in range(REPEATED):
        tr.run(TINY)
        clocks.append((time.process_time(), time.perf_counter()))
    for clock in (0, 1):
        times = [later[clock] - one[clock] for one, later in zip(clocks, clocks[1:])]
        spent.append(median(times))
    return ""
def stored():
    with tempfile.TemporaryDirectory() as place:
        tr.sweep(TINY, seeds=10_000, store=f"{place}/store")
    return ""
spent = []
begun = time.process_time(), time.perf_counter()
"""
REPORT = """
spent = spent or [time.process_time() - begun[0], time.perf_counter() - begun[1]]
print(*spent, said, sep="|")
"""


@dataclass(frozen=True)
class Case:
    """A question and its goal."""

    name: str
    code: str
    """An expression in Python, which returns what is to be said of the answer."""
    goal_s: float
    is_wall: bool = False
    """Whether the goal is of the time by the clock, on two cores."""


CASES = (
    Case(
        "size: the README's question",
        'size(rate="1Gbps", rtt="40ms", flows=10, congestion="cubic", '
        'target=["utilization >= 98%", "queue_delay_s_p99 <= 6ms"])',
        8.0,
    ),
    Case("size: home router", 'size(scenario="home-router", target="utilization >= 95%")', 3.0),
    Case(
        "size: 500 CUBIC and 100 BBR",
        'size(rate="10Gbps", rtt="5ms to 200ms", flows="500 cubic, 100 bbr3", '
        'target="utilization >= 98%")',
        60.0,
    ),
    Case("run: a tiny scenario", "repeated()", 1.2e-3),
    Case("sweep: 10,000 tiny runs", "stored()", 20.0, is_wall=True),
)


def ask(case: Case) -> tuple[float, float, str]:
    """CPU and wall time of a question in seconds, and what is to be said of its answer."""
    code = f"{PREPARE}said = {case.code}{REPORT}"
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    cpu, wall, said = ended.stdout.strip().split("|")
    return float(cpu), float(wall), said


def seconds(value: float) -> str:
    """A time with its unit."""
    return f"{value:.1f} s" if value >= 0.1 else f"{1e3 * value:.2f} ms"


def chosen(parts: Sequence[str]) -> list[Case]:
    """The questions whose names contain one of these parts; without parts, all.

    Raises:
        ValueError: No question's name contains one of them.
    """
    for part in parts:
        if not any(part in case.name for case in CASES):
            names = "".join(f"\n  {case.name}" for case in CASES)
            raise ValueError(f"no question has {part!r} in its name; the questions are:{names}")
    return [case for case in CASES if not parts or any(part in case.name for part in parts)]


def main() -> None:
    """Asks the questions whose names contain one of the arguments, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help="part of the name of a question; default: all"
    )
    try:
        cases = chosen(parser.parse_args().parts)
    except ValueError as error:
        parser.error(str(error))
    print(f"{'question':30} {'CPU':>10} {'wall':>10} {'goal':>12}  answer")
    for case in cases:
        cpu, wall, said = ask(case)
        goal = f"{seconds(case.goal_s)} {'wall' if case.is_wall else 'CPU'}"
        line = f"{case.name:30} {seconds(cpu):>10} {seconds(wall):>10} {goal:>12}  {said}"
        print(line.rstrip(), flush=True)


if __name__ == "__main__":
    main()
