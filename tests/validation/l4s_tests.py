"""Shares of two flows as a Linux testbed measured them, behind DualPI2, a FIFO and FQ-CoDel.

`MEASURED` holds the throughput of two flows, under CUBIC or Prague, with round trip times of 10 to
160 ms, through a link of 50 Mbit/s: 72 rows of the "Scenario 1 Fairness Table" in the README of
https://github.com/heistp/l4s-tests (Pete Heist and others; results of November 2020, kernel
L4STeam/linux b256daedc767 of August 2020). They are all rows of the table whose queue discipline
tailroom has; cnq_codel_af is left out. Each row is one run of three minutes. The numbers are facts;
nothing else is taken from the repository (BSD 2-Clause License).

A row agrees if the first flow's share, mean over the seeds, is within `BOUND` of the published
share. docs/validation/l4s-tests.md has the table, and what is known of the rows that do not agree.

    python -m tests.validation.l4s_tests [--draft] [--markdown]
"""

import argparse
import statistics
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import tailroom as tr

BOUND = 0.05
"""Largest difference of the first flow's share (a fraction of both flows' goodput)."""
OUTSIDE = 1 / 5
"""Part of the rows that may be outside, as in the comparison with ns-2."""
SEEDS = (1, 2, 3, 4, 5)
MEASURED_S = 60
"""Length of the measured interval."""
END_S = 178
"""End of the measured interval: 2 s before the testbed's flows ended."""
QUEUES = {
    "dualpi2": '{ kind = "dual_pi2", ramp = "0 ms", l4s_threshold = "1 ms", classic_share = 0.1 }',
    "pfifo(1000)": '{ kind = "drop_tail", limit = "1000 packets" }',
    "fq_codel": '{ kind = "fq_codel" }',
}
"""The queue disciplines as in the testbed: with Linux's defaults, except for the FIFO's limit."""
NO_RTT_INDEPENDENCE = ', min_virtual_rtt = "1 us"'
"""Prague of that kernel: its rate depends on the RTT as that of DCTCP does."""

Pair = tuple[float, float]
"""A value for each of the two flows."""


@dataclass(frozen=True)
class Row:
    """Two flows that share a queue, and what the testbed measured."""

    queue: str
    controls: tuple[str, str]
    rtts_ms: tuple[int, int]
    published: Pair
    """Delivery rates in Mbit/s, means over the measured interval."""

    @property
    def name(self) -> str:
        """The queue discipline and the flows."""
        return " ".join((self.queue, *self.flows))

    @property
    def flows(self) -> tuple[str, ...]:
        """The flows as the table names them."""
        pairs = zip(self.controls, self.rtts_ms, strict=True)
        return tuple(f"{control}({rtt}ms)" for control, rtt in pairs)

    def toml(self, end_s: float = END_S, draft: bool = False) -> str:
        """The scenario; its last minute, or the second half if that is shorter, is measured.

        Args:
            end_s: Length of the run in seconds.
            draft: Prague of the draft, with RTT independence, instead of that kernel's.
        """
        text = f"""
            duration = "{end_s} s"
            measure_from = "{end_s - min(MEASURED_S, end_s / 2)} s"
            [defaults]
            host = "linux"
            path = ["bottleneck"]
            packet_size = "1514 B"
            header_size = "66 B"
            send_burst = 1  # the testbed's hosts had no segmentation offload
            [links.bottleneck]
            rate = "50 Mbit/s"
            delay = "0 ms"
            queue = {QUEUES[self.queue]}
            """
        own = {
            "cubic": 'congestion = { kind = "cubic", variant = "linux" }\necn = "classic"',
            "prague": f"""congestion = {{ kind = "prague"{"" if draft else NO_RTT_INDEPENDENCE} }}
                ecn = "l4s"
                pacing = true""",
        }
        names = zip("ab", self.controls, self.rtts_ms, ("0 ms", "3 ms"), strict=True)
        for name, control, rtt, start in names:
            text += f"""
                [flows.{name}]
                rtt = "{rtt} ms"
                start = "{start}"
                {own[control]}
                """
        return text

    def run(self, seed: int, end_s: float = END_S, draft: bool = False) -> Pair:
        """Goodput of the two flows in Mbit/s."""
        scenario = tr.Scenario.from_toml(self.toml(end_s, draft))
        groups = tr.run(scenario, seed=seed).groups
        return groups["a"]["goodput_bps"] / 1e6, groups["b"]["goodput_bps"] / 1e6


def share(rates: Pair) -> float:
    """The first flow's part of both rates."""
    return rates[0] / sum(rates)


MEASURED = """
dualpi2 cubic 10 12.65 prague 10 34.57
dualpi2 prague 10 34.09 cubic 10 13.04
dualpi2 cubic 10 23.11 cubic 10 24.18
dualpi2 prague 10 23.51 prague 10 22.75
dualpi2 prague 20 28.40 cubic 10 18.84
dualpi2 cubic 20 9.21 prague 10 37.86
dualpi2 prague 20 15.84 prague 10 30.77
dualpi2 cubic 20 20.61 cubic 10 26.76
dualpi2 cubic 20 14.94 prague 20 32.39
dualpi2 prague 20 23.50 prague 20 23.36
dualpi2 prague 20 31.85 cubic 20 15.51
dualpi2 cubic 20 24.80 cubic 20 22.67
dualpi2 cubic 80 6.43 prague 20 40.69
dualpi2 prague 80 5.80 prague 20 41.48
dualpi2 prague 80 22.43 cubic 20 24.89
dualpi2 cubic 80 14.75 cubic 20 32.73
dualpi2 cubic 80 17.85 prague 80 29.58
dualpi2 prague 80 29.92 cubic 80 17.48
dualpi2 cubic 80 23.88 cubic 80 23.47
dualpi2 prague 80 23.45 prague 80 23.60
dualpi2 cubic 160 4.87 prague 10 41.67
dualpi2 prague 160 1.56 prague 10 45.46
dualpi2 prague 160 10.13 cubic 10 37.28
dualpi2 cubic 160 10.74 cubic 10 36.50
pfifo(1000) cubic 10 22.22 cubic 10 25.26
pfifo(1000) prague 10 9.78 cubic 10 37.77
pfifo(1000) cubic 10 39.98 prague 10 7.55
pfifo(1000) prague 10 26.04 prague 10 21.69
pfifo(1000) prague 20 6.32 cubic 10 41.25
pfifo(1000) cubic 20 18.89 cubic 10 28.60
pfifo(1000) cubic 20 39.98 prague 10 7.55
pfifo(1000) prague 20 21.75 prague 10 25.92
pfifo(1000) cubic 20 23.46 cubic 20 24.07
pfifo(1000) prague 20 24.06 prague 20 23.65
pfifo(1000) prague 20 5.88 cubic 20 41.63
pfifo(1000) cubic 20 35.44 prague 20 12.24
pfifo(1000) prague 80 6.96 cubic 20 40.45
pfifo(1000) cubic 80 22.32 cubic 20 25.14
pfifo(1000) cubic 80 42.33 prague 20 5.14
pfifo(1000) prague 80 14.50 prague 20 33.16
pfifo(1000) prague 80 3.95 cubic 80 43.59
pfifo(1000) cubic 80 43.71 prague 80 3.74
pfifo(1000) prague 80 24.38 prague 80 23.36
pfifo(1000) cubic 80 24.14 cubic 80 23.27
pfifo(1000) cubic 160 35.71 prague 10 11.80
pfifo(1000) prague 160 10.35 prague 10 37.36
pfifo(1000) prague 160 4.54 cubic 10 43.00
pfifo(1000) cubic 160 17.22 cubic 10 30.27
fq_codel cubic 10 23.49 prague 10 23.82
fq_codel prague 10 23.83 cubic 10 23.53
fq_codel cubic 10 23.46 cubic 10 23.56
fq_codel prague 10 23.82 prague 10 23.81
fq_codel prague 20 23.84 cubic 10 23.51
fq_codel cubic 20 23.32 prague 10 24.02
fq_codel cubic 20 23.30 cubic 10 23.72
fq_codel prague 20 23.84 prague 10 23.81
fq_codel cubic 20 23.58 cubic 20 23.59
fq_codel prague 20 23.84 prague 20 23.84
fq_codel cubic 20 23.31 prague 20 24.02
fq_codel prague 20 24.03 cubic 20 23.32
fq_codel prague 80 23.86 prague 20 23.83
fq_codel cubic 80 22.02 prague 20 24.81
fq_codel prague 80 23.97 cubic 20 23.31
fq_codel cubic 80 22.24 cubic 20 24.54
fq_codel prague 80 25.29 cubic 80 22.03
fq_codel prague 80 23.86 prague 80 23.86
fq_codel cubic 80 22.91 cubic 80 23.35
fq_codel cubic 80 22.03 prague 80 25.27
fq_codel cubic 160 21.35 prague 10 25.55
fq_codel prague 160 23.87 cubic 10 23.49
fq_codel cubic 160 21.32 cubic 10 25.36
fq_codel prague 160 23.87 prague 10 23.83
"""
"""Queue discipline; control, RTT and throughput (Mbit/s) of each flow."""


def rows() -> list[Row]:
    """The published rows."""
    found = []
    for line in MEASURED.split("\n")[1:-1]:
        queue, first, rtt, rate, second, other_rtt, other_rate = line.split()
        rtts, rates = (int(rtt), int(other_rtt)), (float(rate), float(other_rate))
        found.append(Row(queue, (first, second), rtts, rates))
    return found


def repeated(published: Iterable[Row]) -> Iterator[tuple[Row, Pair]]:
    """Rows that the testbed measured twice, with the flows exchanged, and both shares."""
    seen: dict[object, Row] = {}
    for row in published:
        seen[row.queue, row.controls, row.rtts_ms] = row
        first, second = row.controls
        other = seen.get((row.queue, (second, first), row.rtts_ms[::-1]))
        if other is not None and other is not row:
            yield other, (share(other.published), 1 - share(row.published))


@dataclass(frozen=True)
class Comparison:
    """A row beside the runs of its scenario."""

    row: Row
    runs: list[Pair]
    """Goodput of the two flows in Mbit/s, by seed."""

    @property
    def rates(self) -> Pair:
        """Means over the seeds in Mbit/s."""
        first, second = zip(*self.runs, strict=True)
        return statistics.fmean(first), statistics.fmean(second)

    @property
    def shares(self) -> list[float]:
        """The first flow's share by seed."""
        return [share(rates) for rates in self.runs]

    @property
    def difference(self) -> float:
        """How much larger the first flow's share is than in the testbed."""
        return statistics.fmean(self.shares) - share(self.row.published)

    @property
    def is_outside(self) -> bool:
        """Whether the share differs by more than the bound."""
        return abs(self.difference) > BOUND

    def cells(self) -> list[str]:
        """The cells of the table."""
        theirs, ours = self.row.published, self.rates
        shares = self.shares
        return [
            self.row.queue,
            *self.row.flows,
            f"{theirs[0]:.1f} : {theirs[1]:.1f}",
            f"{ours[0]:.1f} : {ours[1]:.1f}",
            f"{share(theirs):.3f}",
            f"{statistics.fmean(shares):.3f} ({min(shares):.3f} to {max(shares):.3f})",
            f"{self.difference:+.3f}",
        ]


HEADINGS = [
    "queue",
    "first flow",
    "second flow",
    "published (Mbit/s)",
    "tailroom (Mbit/s)",
    "share of the first flow",
    "in tailroom (seeds)",
    "difference",
]
WIDTHS = (11, 13, 13, 18, 17, 23, 22, 10)


def compare(draft: bool = False) -> list[Comparison]:
    """Runs every row with every seed."""

    def runs(row: Row) -> Comparison:
        return Comparison(row, [row.run(seed, draft=draft) for seed in SEEDS])

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(runs, rows()))


def text(compared: Iterable[Comparison]) -> Iterator[str]:
    """The lines of the table in columns."""
    for cells in (HEADINGS, *(one.cells() for one in compared)):
        line = " ".join(f"{cell:{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
        yield line.rstrip()


def markdown(compared: Iterable[Comparison]) -> Iterator[str]:
    """The lines of the table in Markdown, with differences beyond the bound in bold."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield f"|{' --- |' * len(HEADINGS)}"
    for one in compared:
        *cells, last = one.cells()
        yield f"| {' | '.join((*cells, f'**{last}**' if one.is_outside else last))} |"


def main(arguments: list[str], show: Callable[[str], None] = print) -> int:
    """Runs every row; 0 if few enough are outside the bound."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.l4s_tests")
    parser.add_argument("--markdown", action="store_true", help="the table for docs/validation")
    parser.add_argument(
        "--draft", action="store_true", help="Prague with the RTT independence of the draft"
    )
    options = parser.parse_args(arguments)
    compared = compare(options.draft)
    for line in (markdown if options.markdown else text)(compared):
        show(line)
    for queue in QUEUES:
        of_queue = [one for one in compared if one.row.queue == queue]
        mean = statistics.fmean(abs(one.difference) for one in of_queue)
        within = sum(not one.is_outside for one in of_queue)
        show(
            f"{queue}: {within} of {len(of_queue)} rows within {BOUND}, mean difference {mean:.3f}"
        )
    for row, (first, second) in repeated(one.row for one in compared):
        show(f"measured twice by the testbed: {row.name} {first:.3f} and {second:.3f}")
    outside = [one.row.name for one in compared if one.is_outside]
    for name in outside:
        show(f"outside: {name}")
    show(f"{len(compared) - len(outside)} of {len(compared)} rows within {BOUND}")
    return int(len(outside) > OUTSIDE * len(compared))


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
