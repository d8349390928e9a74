"""Time per bottleneck packet: tailroom beside htsim on the same network, in turn, on one core.

python benchmarks/against_htsim.py [--rounds 5] [--only TEXT]

Needs benchmarks/htsim/dumbbell; benchmarks/against_htsim.md says how to build it, and what each of
the two includes. Quoted are medians of CPU time of whole runs, set-up and slow start included, over
the packets that left the bottleneck, in ns.
"""

import argparse
import re
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import tailroom as tr
from tailroom.scenario.types import DropTailQueue, Flows, Link

DUMBBELL = Path(__file__).parent / "htsim" / "dumbbell"


@dataclass(frozen=True)
class Case:
    """A network of Reno flows, for both programs."""

    name: str
    htsim: str
    """The arguments of `dumbbell`, where its defaults do not fit."""

    recovery: str = "sack"
    rtt: tuple[int, int] = (36, 44)
    """Shortest and longest RTT in ms."""

    is_large: bool = False
    """10,000 flows at 100 Gbit/s instead of ten at 1 Gbit/s."""

    links: tuple[str, ...] = ("bottleneck",)

    def scenario(self) -> tr.Scenario:
        """The network as tailroom takes it."""
        rate, limit = ("100 Gbit/s", 41_666) if self.is_large else ("1 Gbit/s", 999)
        link = Link(
            rate=rate,
            delay="1 ms",
            queue=DropTailQueue(kind="drop_tail", limit=f"{limit} packets"),
        )
        flows = Flows(
            count=10_000 if self.is_large else 10,
            path=list(self.links),
            congestion="reno",
            packet_size="1500 B",
            rtt={"from": f"{self.rtt[0]} ms", "to": f"{self.rtt[1]} ms"},
            start={"from": "0 s", "to": "0.5 s" if self.is_large else "1 s"},
            delayed_ack=False,
            initial_window=10,
            initial_ssthresh=40 if self.is_large else 100,
            min_rto="250 ms",
        )
        return tr.Scenario(
            duration="3 s" if self.is_large else "60 s",
            measure_from="0 s",
            links=dict.fromkeys(self.links, link),
            defaults={"host": "plain"},
            flows={"reno": flows},
        )


LARGE = (
    "-flows 10000 -gbps 100 -buffer 41667 -duration 3 -warm-up 1 -starts-within 0.5 -ssthresh 40"
)
LARGE_RTTS = f"{LARGE} -shortest 40 -longest 60"
TWO_LINKS = ("bottleneck", "second")
CASES = [
    Case("10 flows, NewReno", "", recovery="newreno"),
    Case("10 flows, SACK", ""),
    Case("10 flows, one RTT and one pipe", "-one-pipe 1", rtt=(40, 40)),
    Case("10 flows, two links", "-links 2", links=TWO_LINKS),
    Case("10,000 flows", LARGE_RTTS, rtt=(40, 60), is_large=True),
    Case("10,000 flows, one RTT and one pipe", f"{LARGE_RTTS} -one-pipe 1", rtt=(50, 50),
         is_large=True),
]  # fmt: skip


def cpu_seconds() -> float:
    """CPU time so far of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def time_tailroom(case: Case) -> float:
    """Nanoseconds per packet that left the bottleneck."""
    before = cpu_seconds()
    result = tr.run(case.scenario(), set={"flows.reno.recovery": case.recovery})
    spent = cpu_seconds() - before
    return spent * 1e9 / int(result.links["bottleneck"]["departures_packets"])


def time_htsim(case: Case) -> float:
    """The same for htsim, over the packets that reached a receiver.

    Raises:
        ValueError: The program printed no time.
    """
    command = [str(DUMBBELL), *case.htsim.split()]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.search(r"whole=([\d.]+)", printed)
    if found is None:
        raise ValueError(f"{' '.join(command)} printed no time: {printed!r}")
    return float(found[1])


def main() -> None:
    """Prints the medians of each case and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="runs of each, in turn (5)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases that contain this text")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    if not DUMBBELL.exists():
        sys.exit(f"{DUMBBELL} is not built: see benchmarks/against_htsim.md")
    print(f"{'case':36} {'tailroom':>9} {'htsim':>9} {'ratio':>6}")
    for case in CASES:
        if options.only not in case.name:
            continue
        times = [(time_tailroom(case), time_htsim(case)) for _ in range(options.rounds)]
        ours, theirs = (statistics.median(each) for each in zip(*times, strict=True))
        print(f"{case.name:36} {ours:9.1f} {theirs:9.1f} {theirs / ours:6.1f}", flush=True)


if __name__ == "__main__":
    main()
