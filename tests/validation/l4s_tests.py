"""Shares of two flows as a Linux testbed measured them, behind DualPI2, a FIFO and FQ-CoDel.

`l4s_tests.csv` holds the throughput of two flows, under CUBIC or Prague, with round trip times of
10 to 160 ms, through a link of 50 Mbit/s: 72 rows of the "Scenario 1 Fairness Table" in the README
of https://github.com/heistp/l4s-tests (Pete Heist and others; results of November 2020, kernel
L4STeam/linux b256daedc767 of August 2020). They are all rows of the table whose queue discipline
tailroom has; cnq_codel_af is left out. Each row is one run of three minutes. The numbers are facts;
nothing else is taken from the repository (BSD 2-Clause License).

A row agrees if the first flow's share, mean over the seeds, is within `BOUND` of the published
share. docs/validation/l4s-tests.csv has all rows, and l4s-tests.md what is known of those that do
not agree.

    python -m tests.validation.l4s_tests [--draft] [--write]
"""

import csv
import statistics
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tailroom as tr
from tailroom_papers.framework import below
from tests.validation.frame import Claim, Item, Table, Validation

MEASURED = Path(__file__).with_suffix(".csv")
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
    "fq_codel": '{ kind = "fq_codel", variant = "linux" }',
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
        groups = tr.run(tr.Scenario.from_toml(self.toml(end_s, draft)), seed=seed).groups
        return groups["a"]["goodput_bps"] / 1e6, groups["b"]["goodput_bps"] / 1e6


def share(rates: Pair) -> float:
    """The first flow's part of both rates."""
    return rates[0] / sum(rates)


def rows() -> list[Row]:
    """The published rows."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                row["queue"],
                (row["first_control"], row["second_control"]),
                (int(row["first_rtt_ms"]), int(row["second_rtt_ms"])),
                (float(row["first_mbps"]), float(row["second_mbps"])),
            )
            for row in csv.DictReader(file)
        ]


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
    """A row with the runs of its scenario."""

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


def compare(draft: bool = False) -> list[Comparison]:
    """Runs every row with every seed."""

    def runs(row: Row) -> Comparison:
        return Comparison(row, [row.run(seed, draft=draft) for seed in SEEDS])

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(runs, rows()))


def items(draft: bool) -> Iterator[Item]:
    """Every row, and whether few enough are outside the bound."""
    compared = compare(draft)
    yield Table("l4s-tests.csv", HEADINGS, [one.cells() for one in compared])
    yield Table("outside", HEADINGS, [one.cells() for one in compared if one.is_outside])
    rows = []
    for queue in QUEUES:
        of_queue = [one for one in compared if one.row.queue == queue]
        difference = statistics.fmean(abs(one.difference) for one in of_queue)
        within = sum(not one.is_outside for one in of_queue)
        rows.append((queue, f"{within} of {len(of_queue)}", f"{difference:.3f}"))
    yield Table("queues", ("queue", "rows that agree", "mean difference of the share"), rows)
    for row, (first, second) in repeated(one.row for one in compared):
        yield f"measured twice by the testbed: {row.name} {first:.3f} and {second:.3f}"
    outside = sum(one.is_outside for one in compared)
    yield Claim(
        f"{len(compared) - outside} of {len(compared)} rows within {BOUND}",
        (below("part of the rows outside", outside / len(compared), OUTSIDE),),
    )


main = Validation(
    items,
    "validation/l4s-tests.md",
    {"--draft": {"action": "store_true", "help": "Prague with the RTT independence of the draft"}},
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
