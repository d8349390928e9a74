"""Buffers that keep a link busy, in simulation and on a hardware switch.

`tailroom_papers.reference.TOFINO` holds percentiles of the queue seen by packets in a Tofino
switch, for 1 to 64 Reno or Scalable TCP flows and 18 buffer sizes: the data published with Spang,
Arslan and McKeown, "Updating the Theory of Buffer Sizing" (IFIP Performance 2021).

The jitter of the experiment is unknown. It is fitted to every second cell, a control and a number
of flows, and the simulation is judged on the others.

A buffer suffices there when the 1st percentile of the queue is above 2 packets. The switch's own
reading of an empty queue is 2 packets, so that is here: when the 1st percentile of the packets that
wait is above 0.

    python -m tests.validation.tofino [--without WHAT]
"""

import argparse
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

import tailroom as tr
from tailroom_papers.today import hardware

SEEDS = (1, 2, 3)
GOAL = 5 / 7
"""Part of the judged cells that must be within one step of the grid."""

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
    jitter_us: int = 0
    """ACKs come at multiples of so many microseconds; 0 if they come at once."""

    def toml(self, cell: Cell, buffer_cells: int) -> str:
        """The scenario file."""
        kind, flows = cell
        variant = ', variant = "linux"' if self.linux and kind == "scalable" else ""
        return f"""
            duration = "2 s"
            measure_from = "800 ms"
            [defaults]
            host = "plain"
            [links.switch]
            rate = "10 Gbit/s"
            delay = "100 us"
            queue.kind = "{"drop_head" if self.drop_on_departure else "drop_tail"}"
            queue.limit = "{hardware.limit(buffer_cells)}"
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
            {f'ack_aggregation = "{self.jitter_us} us"' if self.jitter_us else ""}
            """


def first_percentile(setup: Setup, cell: Cell, buffer_cells: int) -> float:
    """1st percentile of the packets that an arriving one finds waiting, mean over seeds."""
    scenario = tr.Scenario.from_toml(setup.toml(cell, buffer_cells))
    links = [tr.run(scenario, seed=seed).links["switch"] for seed in SEEDS]
    return statistics.fmean(link["queue_seen_packets_p01"] or 0.0 for link in links)


def smallest_buffer(setup: Setup, cell: Cell) -> int:
    """The smallest sufficient buffer in simulation, in memory cells; the largest if none is."""
    grid = hardware.grid()
    return next((size for size in grid if first_percentile(setup, cell, size) > 0), grid[-1])


def steps_apart(setup: Setup, cells: Sequence[Cell]) -> list[int]:
    """Steps of the grid from the switch's smallest buffer to that of the simulation, by cell."""
    sizes = [size / hardware.CELLS_PER_PACKET for size in hardware.grid()]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda cell: smallest_buffer(setup, cell), cells))
    return [
        hardware.grid().index(ours)
        - sizes.index(hardware.smallest_of_switch(hardware.rows()[cell]))
        for cell, ours in zip(cells, found, strict=True)
    ]


def fitted(setup: Setup, cells: Sequence[Cell], show: Callable[[str], None]) -> Setup:
    """The setup with the amount of jitter that is nearest to the switch in these cells."""
    distances = {
        amount: sum(map(abs, steps_apart(replace(setup, jitter_us=amount), cells)))
        for amount in hardware.AMOUNTS_US
    }
    for amount, distance in distances.items():
        show(f"jitter {amount:3} us: {distance} steps in {len(cells)} cells of the fit")
    return replace(setup, jitter_us=min(distances, key=lambda amount: distances[amount]))


def main(arguments: list[str], show: Callable[[str], None] = print) -> int:
    """Fits the jitter to half of the cells; 0 if enough of the others are within one step."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.tofino")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=["bursts", "delayed_ack", "linux", "drop_on_departure", "jitter"],
        help="leave out something known of the experiment, or the jitter; may be repeated",
    )
    without = parser.parse_args(arguments).without
    setup = replace(Setup(), **dict.fromkeys((one for one in without if one != "jitter"), False))
    halves: dict[bool, list[Cell]] = {True: [], False: []}
    for cell in product(hardware.MEASURED, hardware.FLOWS):
        halves[hardware.is_for_fit(*cell)].append(cell)
    if "jitter" not in without:
        setup = fitted(setup, halves[True], show)
        show(f"chosen: {setup.jitter_us} us")
    steps = steps_apart(setup, halves[False])
    for (control, flows), apart in zip(halves[False], steps, strict=True):
        show(f"{control:10} {flows:5} flows {apart:+d} steps of the grid")
    within = sum(abs(apart) <= 1 for apart in steps)
    show(f"{within} of {len(steps)} judged cells within one step of the grid; goal: {GOAL:.2f}")
    return int(within / len(steps) < GOAL)


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
