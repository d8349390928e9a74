"""Buffers that keep a link busy, in simulation and on a hardware switch.

`tailroom_papers.reference.TOFINO` holds percentiles of the queue seen by packets in a Tofino
switch, for 1 to 64 Reno or Scalable TCP flows and 18 buffer sizes: the data published with Spang,
Arslan and McKeown, "Updating the Theory of Buffer Sizing" (IFIP Performance 2021).

The jitter of the experiment is unknown. It is fitted to every second cell, a control and a number
of flows, and the simulation is judged on the others.

A buffer suffices there when the 1st percentile of the queue is above 2 packets. The switch's own
reading of an empty queue is 2 packets, so that is here: when the 1st percentile of the packets that
wait is above 0.

    python -m tests.validation.tofino [--without WHAT] [--write]
"""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product

from tailroom.reproduction import above
from tailroom_papers.today import hardware
from tests.validation import frame
from tests.validation.frame import Claim, Item, Table, Validation

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
    runs = frame.simulate(setup.toml(cell, buffer_cells), SEEDS)
    return frame.mean(runs, lambda run: run.links["switch"]["queue_seen_packets_p01"] or 0.0)


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


def items(without: Sequence[str]) -> Iterator[Item]:
    """Fits the jitter to half of the cells, and judges the others.

    Args:
        without: What is left out of the set-up.
    """
    setup = replace(Setup(), **dict.fromkeys((one for one in without if one != "jitter"), False))
    halves: dict[bool, list[Cell]] = {True: [], False: []}
    for cell in product(hardware.MEASURED, hardware.FLOWS):
        halves[hardware.is_for_fit(*cell)].append(cell)
    if "jitter" not in without:
        distances = {
            amount: sum(map(abs, steps_apart(replace(setup, jitter_us=amount), halves[True])))
            for amount in hardware.AMOUNTS_US
        }
        heads = ("jitter", f"steps of the grid in {len(halves[True])} cells of the fit")
        yield Table("", heads, [(f"{one} us", steps) for one, steps in distances.items()])
        setup = replace(setup, jitter_us=min(distances, key=lambda amount: distances[amount]))
        yield f"chosen: {setup.jitter_us} us"
    steps = steps_apart(setup, halves[False])
    rows = [(*cell, f"{apart:+d}") for cell, apart in zip(halves[False], steps, strict=True)]
    yield Table("judged", ("control", "flows", "steps of the grid"), rows)
    within = sum(abs(apart) <= 1 for apart in steps)
    yield Claim(
        f"{within} of {len(steps)} judged cells within one step of the grid; goal: {GOAL:.2f}",
        (above("part of the cells", within / len(steps), GOAL),),
    )


KNOWN = ("bursts", "delayed_ack", "linux", "drop_on_departure", "jitter")
"""What is known of the experiment, and the jitter: each can be left out."""
WITHOUT = {"action": "append", "default": [], "choices": KNOWN, "help": "leave something out"}
main = Validation(items, "validation/tofino.md", {"--without": WITHOUT})

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
