"""Buffers that keep a link busy, in simulation and on a hardware switch.

`tailroom_papers.reference.TOFINO` holds percentiles of the queue seen by packets in a Tofino
switch, for 1 to 64 Reno or Scalable TCP flows and 18 buffer sizes: the data published with Spang,
Arslan and McKeown, "Updating the Theory of Buffer Sizing" (IFIP Performance 2021).

A buffer suffices there when the 1st percentile of the queue is above 2 packets. The switch's own
reading of an empty queue is 2 packets, so that is here: when the 1st percentile of the packets that
wait is above 0.

    python -m tests.validation.tofino [--without WHAT]
"""

import argparse
import csv
import math
import statistics
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import cast

import tailroom as tr
from tailroom_papers.reference import TOFINO

CELLS_PER_PACKET = 9000 / 80
EMPTY_READING = 2  # packets
SEEDS = (1, 2, 3)
GOAL = 10

Cell = tuple[str, int]
"""A control and a number of flows."""


@dataclass(frozen=True)
class Setup:
    """What is known of the experiment beyond rates, sizes and round trip time."""

    bursts: bool = True
    """Segmentation offload: 64 KB are 7 packets of 9000 bytes."""
    delayed_ack: bool = True
    linux: bool = True
    """Proportional rate reduction, and Scalable TCP as in Linux."""
    drop_on_departure: bool = True
    jitter: bool = True
    """ACKs at multiples of the time that 20 packets take, so that they are 10 late on the mean."""

    def toml(self, cell: Cell, buffer_cells: int) -> str:
        """The scenario file."""
        kind, flows = cell
        # A packet is dropped when the reading reaches the threshold.
        limit = max(1, math.ceil(buffer_cells / CELLS_PER_PACKET) - EMPTY_READING)
        variant = ', variant = "linux"' if self.linux and kind == "scalable" else ""
        return f"""
            duration = "2 s"
            measure_from = "800 ms"
            [links.switch]
            rate = "10 Gbit/s"
            delay = "100 us"
            queue.kind = "{"drop_head" if self.drop_on_departure else "drop_tail"}"
            queue.limit = "{limit} packets"
            [flows.{kind}]
            count = {flows}
            path = ["switch"]
            congestion = {{ kind = "{kind}"{variant} }}
            send_jitter = "none"
            packet_size = "9000 B"
            header_size = "52 B"
            rtt = "1.2 ms"
            access_rate = "20 Gbit/s"
            start = {{ uniform = ["0 s", "100 ms"] }}
            prr = {str(self.linux).lower()}
            delayed_ack = {str(self.delayed_ack).lower()}
            send_burst = {7 if self.bursts else 1}
            {'ack_aggregation = "144 us"' if self.jitter else ""}
            """


def first_percentile(setup: Setup, cell: Cell, buffer_cells: int) -> float:
    """1st percentile of the packets that an arriving one finds waiting, mean over seeds."""
    scenario = cast(tr.Scenario, tomllib.loads(setup.toml(cell, buffer_cells)))
    links = [tr.run(scenario, seed=seed).links["switch"] for seed in SEEDS]
    return statistics.fmean(link["queue_seen_packets_p01"] or 0.0 for link in links)


def read_reference() -> tuple[list[int], dict[Cell, int]]:
    """The grid of buffers, and the smallest that suffices, in memory cells of 80 bytes."""
    with TOFINO.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    grid = sorted({int(row["max_queue_depth_cells"]) for row in rows})
    smallest: dict[Cell, int] = {}
    for row in rows:
        cell = (row["algorithm"], int(row["num_flows"]))
        if float(row["depth_p01"]) > EMPTY_READING:
            buffer = int(row["max_queue_depth_cells"])
            smallest[cell] = min(buffer, smallest.get(cell, buffer))
    return grid, smallest


def smallest_buffer(setup: Setup, cell: Cell, grid: Sequence[int]) -> int:
    """The smallest buffer of the grid that suffices in simulation; the largest if none does."""
    sizes = (size for size in grid if first_percentile(setup, cell, size) > 0)
    return next(sizes, grid[-1])


def main(arguments: list[str], show: Callable[[str], None] = print) -> int:
    """Runs the comparison; 0 if at least ten of the fourteen cells are within one step."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.tofino")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=["bursts", "delayed_ack", "linux", "drop_on_departure", "jitter"],
        help="leave out something known of the experiment; may be repeated",
    )
    options = parser.parse_args(arguments)
    setup = replace(Setup(), **dict.fromkeys(options.without, False))
    grid, reference = read_reference()
    show(f"{'control':10} {'flows':>5} {'ours':>12} {'switch':>12}  steps (buffer in packets)")
    cells = sorted(reference)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda cell: smallest_buffer(setup, cell, grid), cells))
    within = 0
    for (kind, flows), ours in zip(cells, found, strict=True):
        theirs = reference[kind, flows]
        steps = grid.index(ours) - grid.index(theirs)
        within += abs(steps) <= 1
        packets = [f"{size / CELLS_PER_PACKET:12.1f}" for size in (ours, theirs)]
        show(f"{kind:10} {flows:5} {packets[0]} {packets[1]}  {steps:+d}")
    show(f"{within} of {len(cells)} cells within one step of the grid; goal: {GOAL}")
    return int(within < GOAL)


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
