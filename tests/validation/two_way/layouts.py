"""Two-way traffic compared with ns-2, with the private delay on the one side or the other.

`ns2.csv` holds what ns-2 gives, a row for each case and seed. It was made by `two_way.tcl` with

    python -m tests.validation.two_way.layouts --make

which needs ns-2 (Debian's package ns2, 2.35); comparing with it does not.
"""

import csv
import itertools
import statistics
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tailroom as tr
from tailroom_papers.framework import below
from tests.validation.frame import Claim, Item, Table, Validation

DIRECTORY = Path(__file__).parent
REFERENCE = DIRECTORY / "ns2.csv"
SCRIPT = DIRECTORY / "two_way.tcl"
SEEDS = range(1, 6)
FROM_S, UNTIL_S = 50, 250
DELAY_MS, PRIVATE_MS = 10, 60
DATA_BYTES, PAYLOAD_BYTES, ACK_BYTES = 1000, 960, 40
ACCESS_MBPS = 10_000
STUDENT = 2.306
"""95 % quantile with 8 degrees of freedom: two means of five seeds."""
LARGEST_DIFFERENCE = 0.05
"""Of a share that the seeds do not explain."""
ACCEPTED_OUTSIDE = 0.05
"""Part of the shares that may differ more: without jitter a case may have two phases."""

SIDES = (1, 0.5, 0)
Shares = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """Reno flows each way over two links, in the terms of `two_way.tcl`."""

    flows: tuple[int, int]
    buffer: int
    rates_mbps: tuple[int, int]
    side: float
    jitter_us: int

    @property
    def arguments(self) -> dict[str, str]:
        """The arguments of the script, which are the columns of the reference."""
        return {
            "n_a": str(self.flows[0]),
            "n_b": str(self.flows[1]),
            "forward_mbps": str(self.rates_mbps[0]),
            "back_mbps": str(self.rates_mbps[1]),
            "buffer_forward_pkts": str(self.buffer),
            "buffer_back_pkts": str(self.buffer),
            "side": str(self.side),
            "overhead_us": str(self.jitter_us),
        }

    def toml(self) -> str:
        """The scenario; what ns-2's other links add to the RTT are a data packet and two ACKs."""
        other_us = 8 * (DATA_BYTES + 2 * ACK_BYTES) / ACCESS_MBPS
        rtt_ms = 2 * DELAY_MS + PRIVATE_MS + other_us * 1e-3
        text = f'duration = "{UNTIL_S} s"\nmeasure_from = "{FROM_S} s"\n'
        text += '[defaults]\nhost = "plain"\n'
        for name, rate in zip(("forward", "back"), self.rates_mbps, strict=True):
            text += f"""
                [links.{name}]
                rate = "{rate} Mbit/s"
                delay = "{DELAY_MS} ms"
                queue = {{ kind = "drop_tail", limit = "{self.buffer - 1} packets" }}
                """
        paths = (("a", "forward", "back"), ("b", "back", "forward"))
        for (name, path, reverse_path), count in zip(paths, self.flows, strict=True):
            text += f"""
                [flows.{name}]
                count = {count}
                path = ["{path}"]
                reverse_path = ["{reverse_path}"]
                rtt = "{rtt_ms:.9f} ms"
                sender_side = {self.side}
                congestion = {{ kind = "reno" }}
                packet_size = "{DATA_BYTES} B"
                access_rate = "{ACCESS_MBPS} Mbit/s"
                start = {{ uniform = ["0 s", "5 s"] }}
                send_jitter = "{f"{self.jitter_us} us" if self.jitter_us else "none"}"
                initial_window = 2
                min_rto = "200 ms"
                rto_granularity = "10 ms"
                """
        return text

    def run(self, seed: int) -> Shares:
        """The flows' shares of their links, headers included."""
        result = tr.run(tr.Scenario.from_toml(self.toml()), seed=seed)
        wire = DATA_BYTES / PAYLOAD_BYTES
        goodput = (result.groups[name]["goodput_bps"] for name in ("a", "b"))
        first, second = (
            wire * bps / (rate * 1e6) for bps, rate in zip(goodput, self.rates_mbps, strict=True)
        )
        return first, second

    def run_ns2(self, seed: int) -> Shares:
        """The same from ns-2."""
        settings = self.arguments | {"seed": str(seed), "spread_s": "5", "start_b": "0"}
        settings |= {"private_ms": str(PRIVATE_MS), "delay_ms": str(DELAY_MS)}
        settings |= {"t0_s": str(FROM_S), "t1_s": str(UNTIL_S)}
        words = [f"{key}={value}" for key, value in settings.items()]
        done = subprocess.run(["ns", SCRIPT, *words], capture_output=True, text=True, check=True)
        found = dict(word.split("=", 1) for word in done.stdout.split()[1:])
        return float(found["share_a"]), float(found["share_b"])


def cases() -> Iterator[Case]:
    """Where the private delay lies, under every mix of flows, rates, buffers and jitter."""
    for jitter_us, flows, rates_mbps, buffer, side in itertools.product(
        (0, 800), ((1, 1), (2, 2), (5, 5), (5, 1)), ((10, 10), (20, 10)), (20, 50), SIDES
    ):
        yield Case(flows, buffer, rates_mbps, side, jitter_us)


def read() -> dict[Case, list[Shares]]:
    """ns-2's shares by case, seed by seed."""
    named = {tuple(case.arguments.values()): case for case in cases()}
    keys = list(next(cases()).arguments)
    found: dict[Case, list[Shares]] = {}
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            case = named[tuple(row[key] for key in keys)]
            found.setdefault(case, []).append((float(row["share_a"]), float(row["share_b"])))
    return found


def make() -> None:
    """Runs ns-2 on every case and writes the reference."""
    points = [(case, seed) for case in cases() for seed in SEEDS]
    with ThreadPoolExecutor(2) as pool:
        shares = list(pool.map(lambda point: point[0].run_ns2(point[1]), points))
    with REFERENCE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*next(cases()).arguments, "seed", "share_a", "share_b"])
        for (case, seed), pair in zip(points, shares, strict=True):
            writer.writerow([*case.arguments.values(), seed, *pair])


@dataclass(frozen=True)
class Comparison:
    """The shares of a case by both simulators, seed by seed."""

    theirs: list[Shares]
    ours: list[Shares]

    def differences(self) -> Iterator[tuple[float, bool]]:
        """Between the means, for each direction, and whether that is more than may be."""
        for place in (0, 1):
            one, other = ([pair[place] for pair in pairs] for pairs in (self.theirs, self.ours))
            spread = (statistics.variance(one) + statistics.variance(other)) / len(SEEDS)
            difference = abs(statistics.fmean(one) - statistics.fmean(other))
            yield difference, difference > max(LARGEST_DIFFERENCE, STUDENT * spread**0.5)

    def __str__(self) -> str:
        """Means of ns-2 and of tailroom, both directions each."""
        means = [
            f"{statistics.fmean(pair[place] for pair in pairs):.3f}"
            for pairs in (self.theirs, self.ours)
            for place in (0, 1)
        ]
        mark = " *" if any(is_far for _, is_far in self.differences()) else ""
        return f"{means[0]} {means[1]} / {means[2]} {means[3]}{mark}"


def items() -> Iterator[Item]:
    """Every case compared with ns-2."""
    reference = read()
    points = [(case, seed) for case in reference for seed in SEEDS]
    with ThreadPoolExecutor() as pool:
        shares = list(pool.map(lambda point: point[0].run(point[1]), points))
    ours: dict[Case, list[Shares]] = {case: [] for case in reference}
    for (case, _), pair in zip(points, shares, strict=True):
        ours[case].append(pair)
    found = {case: Comparison(theirs, ours[case]) for case, theirs in reference.items()}
    rows: list[list[object]] = []
    for case, comparison in found.items():
        if case.side == SIDES[0]:
            flows, rates = ("{} + {}".format(*pair) for pair in (case.flows, case.rates_mbps))
            jitter = f"{case.jitter_us} us" if case.jitter_us else "none"
            rows.append([flows, rates, case.buffer, jitter])
        rows[-1].append(comparison)
    sides = (f"side {side}: ns-2 / tailroom" for side in SIDES)
    headings = ("flows", "Mbit/s", "buffer", "jitter", *sides)
    yield Table("two-way.csv", headings, rows)
    yield Table("layouts", headings, [row for row in rows if _is_shown(row)])
    differences = [pair for comparison in found.values() for pair in comparison.differences()]
    outside = sum(is_far for _, is_far in differences)
    median = statistics.median(difference for difference, _ in differences)
    yield Claim(
        f"{outside} of {len(differences)} shares differ by more than {LARGEST_DIFFERENCE} and the "
        f"seeds' interval (*); the median difference is {median:.4f}",
        (below("part of the shares", outside / len(differences), ACCEPTED_OUTSIDE),),
    )


def _is_shown(row: list[object]) -> bool:
    """Whether the page has the row: without jitter and with 50 packets, or marked."""
    return row[2:4] == [50, "none"] or "*" in "".join(map(str, row[4:]))


main = Validation(items, "validation/two-way.md")

if __name__ == "__main__":
    if sys.argv[1:] == ["--make"]:
        make()
    else:
        sys.exit(main(sys.argv[1:]))
