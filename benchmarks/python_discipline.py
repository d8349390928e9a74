"""How long a packet takes under a queue discipline in Python, and under built-in ones.

    .venv/bin/python benchmarks/python_discipline.py

One flow on a fast link; the time is the CPU time of the whole run by its packets.
"""

import os
import statistics
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

import tailroom as tr
from tailroom.scenario.custom_disciplines import RuleFactory
from tailroom.scenario.types import DropTailQueue, Flows, Link, PieQueue

sys.path.append(str(Path(__file__).parents[1] / "examples" / "python-discipline"))
Pi = import_module("pi").Pi

RUNS = 5
MOST_US = 1.5
"""The goal for a rule in Python, per packet."""


class Accept:
    """Next to nothing: what the call itself costs."""

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        """Accepts every packet."""
        return "accept"


def scenario(queue: DropTailQueue | PieQueue) -> tr.Scenario:
    """Some 80,000 packets a simulated second."""
    link = Link(rate="1 Gbit/s", delay="2 ms", queue=queue)
    flow = Flows(
        path=["b"], congestion="reno", initial_ssthresh=2, access_rate="10 Gbit/s", host="plain"
    )
    return tr.Scenario(duration="10 s", links={"b": link}, flows={"flow": flow})


def microseconds(queue: DropTailQueue | PieQueue, rule: RuleFactory | None) -> float:
    """CPU time of a run per packet."""
    started = time.process_time()
    result = tr.run(scenario(queue), disciplines={"b": rule} if rule else None)
    spent_s = time.process_time() - started
    return 1e6 * spent_s / result.links["b"]["arrivals_packets"]


def main() -> None:
    """Prints the time of a packet: median, smallest and largest of several runs."""
    warnings.simplefilter("ignore", tr.TailroomWarning)
    print(f"load {os.getloadavg()[0]:.1f}, goal at most {MOST_US} us a packet")
    tail = DropTailQueue(kind="drop_tail", limit="300 packets")
    pie = PieQueue(kind="pie", limit="300 packets")
    cases: tuple[tuple[str, DropTailQueue | PieQueue, RuleFactory | None], ...] = (
        ("drop_tail", tail, None),
        ("pie", pie, None),
        ("Accept in Python", tail, Accept),
        ("Pi in Python", tail, Pi),
    )
    for name, queue, rule in cases:
        times = sorted(microseconds(queue, rule) for _ in range(RUNS))
        median, least, most = statistics.median(times), times[0], times[-1]
        print(f"{name}: {median:.3f} us a packet ({least:.3f} to {most:.3f})")


if __name__ == "__main__":
    main()
