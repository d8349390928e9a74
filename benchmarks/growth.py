"""How time and memory grow with flows, links and duration, as a picture.

Each run has a process of its own. Time is CPU time of the run with its set-up and results, per
packet-hop; memory is what it takes above the process's peak before, which has run a small scenario
(Linux only). All runs together take some five minutes and 4 GB.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.plots import style

HOPS = 4_000_000
"""Packet-hops of a run, but for its shortest duration."""
PACKET_BITS = 12_000
SHORTEST_S = 0.2
"""Five round trips."""
MEASURE = """\
import json, sys, time
from pathlib import Path
import tailroom as tr
def peak_mb():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
scenario = json.load(sys.stdin)
tr.run("first")
before_mb, began = peak_mb(), time.process_time()
result = tr.run(scenario)
spent = time.process_time() - began
hops = sum(link["departures_packets"] for link in result.summary["links"].values())
print(json.dumps({"ns": 1e9 * spent / hops, "mb": peak_mb() - before_mb, "s": spent}))
"""
QUANTITIES = {"ns": "CPU time per packet-hop, ns", "mb": "memory, MB"}


@dataclass(frozen=True)
class Run:
    """A run of a panel: where it stands on the axis, and its scenario."""

    place: float
    scenario: dict[str, object]


def scenario(links: int, flows: int, rate_bps: float, duration_s: float) -> dict[str, object]:
    """Links apart from each other, each with as many CUBIC flows of one RTT."""
    queue = {"kind": "drop_tail", "limit": "0.5 bdp"}
    link = {"rate": f"{rate_bps:.0f} bit/s", "delay": "5 ms", "queue": queue}
    group = {"count": flows, "congestion": "cubic", "rtt": "40 ms"}
    return {
        "duration": f"{duration_s:.6f} s",
        "memory_limit": "16 GB",
        "links": {f"l{number}": link for number in range(links)},
        "flows": {f"f{number}": {**group, "path": [f"l{number}"]} for number in range(links)},
    }


def of_flows() -> Iterator[Run]:
    """One link with 4 Mbit/s for each flow, up to 400 Gbit/s."""
    for flows in (10, 100, 1_000, 10_000, 100_000, 1_000_000):
        rate_bps = min(4e6 * flows, 400e9)
        duration_s = max(HOPS * PACKET_BITS / rate_bps, SHORTEST_S)
        yield Run(flows, scenario(1, flows, rate_bps, duration_s))


def of_links() -> Iterator[Run]:
    """Links of 100 Mbit/s with four flows each."""
    for links in (1, 4, 16, 64, 256, 1024, 4096):
        duration_s = max(HOPS * PACKET_BITS / (100e6 * links), SHORTEST_S)
        yield Run(links, scenario(links, 4, 100e6, min(duration_s, 100.0)))


def of_durations() -> Iterator[Run]:
    """One link of 1 Gbit/s with ten flows."""
    for duration_s in (1, 3, 10, 30, 100, 300):
        yield Run(duration_s, scenario(1, 10, 1e9, duration_s))


@dataclass(frozen=True)
class Kind:
    """What grows."""

    title: str
    runs: Callable[[], Iterator[Run]]


KINDS = {
    "flows": Kind("flows at one link", of_flows),
    "links": Kind("links with four flows each", of_links),
    "durations": Kind("simulated seconds of ten flows at 1 Gbit/s", of_durations),
}


def measure(run: Run) -> dict[str, float]:
    """Nanoseconds per packet-hop (`ns`), MB (`mb`) and CPU seconds (`s`) of a run."""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURE],
        input=json.dumps(run.scenario),
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, float] = json.loads(ended.stdout)
    return measured


def column(panels: Sequence[Axes], kind: Kind) -> None:
    """Measures runs, prints what was measured, and draws a panel for each quantity."""
    measured = {run.place: measure(run) for run in kind.runs()}
    for place, one in measured.items():
        numbers = f"{one['ns']:7.0f} ns {one['mb']:7.0f} MB {one['s']:6.1f} s"
        print(f"{place:>9,.0f} {kind.title:45} {numbers}", flush=True)
    for panel, key in zip(panels, QUANTITIES, strict=True):
        values = [one[key] for one in measured.values()]
        panel.loglog(list(measured), values, "o-", color=style.COLOURS[1])
        panel.grid(alpha=0.3)
    panels[-1].set_xlabel(kind.title)


def main() -> None:
    """Measures all runs, prints them, and draws a column of panels for each kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "kinds",
        nargs="*",
        metavar="KIND",
        choices=KINDS,
        help=f"{', '.join(KINDS)}; default: all",
    )
    parser.add_argument("--out", type=Path, default=Path("growth.png"), help="the picture")
    arguments = parser.parse_args()
    chosen = [KINDS[name] for name in arguments.kinds or KINDS]
    figure = Figure(figsize=(10, 5), layout="constrained")
    grid = (len(QUANTITIES), len(chosen))
    axes = figure.subplots(*grid, sharex="col", sharey="row", squeeze=False)
    for panel, label in zip(axes[:, 0], QUANTITIES.values(), strict=True):
        panel.set_ylabel(label)
    for panels, kind in zip(axes.T, chosen, strict=True):
        column(panels, kind)
    figure.savefig(arguments.out, dpi=110)


if __name__ == "__main__":
    main()
