"""Why each buffer of `size` has seeds of its own, and why its runs are not shorter.

`seeds` searches the home router's buffer again and again, with the same seeds at all limits and
with own seeds: the correlation of what is missing to a full link at two limits, on a logarithmic
scale, and the share of the 95 % intervals that hold the median estimate of the searches with own
seeds. `duration` runs four
questions at one limit each, in whole, half and quarter runs whose warm-up and starts shrink with
them: the mean of the metric, and the CPU time for a standard error of 1 % of it. Both take minutes.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from statistics import correlation, fmean, median, stdev
from typing import Any

import tailroom as tr
from tailroom.scenario.dumbbell import dumbbell
from tailroom.scenario.scenario import Scenario
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.regression import Crossing, Refused, Regression
from tailroom.studies.size_study.targets import parse_target

ROUTER = Scenario.of("home-router")
TARGET = parse_target("utilization >= 95%")
GRID = (20, 90, 3)
APART = 1_000_000
"""Between the first seeds of two searches."""
COMPARED = (24, 30)
"""Limits around the answer."""
PARTS = (1.0, 0.5, 0.25)


@dataclass(frozen=True)
class Question:
    """A metric of a scenario at a limit near the answer."""

    scenario: Scenario
    link: str
    limit: int
    metric: Callable[[tr.Result], float]
    runs: int
    """Number of whole runs."""


def loss(result: tr.Result) -> float:
    """Loss at the link."""
    share = result.links["bottleneck"]["loss_fraction"]
    return share or 0.0


def unused(result: tr.Result, link: str = "bottleneck") -> float:
    """What is missing to a full link."""
    return 1 - result.links[link]["utilization"]


def slowest(result: tr.Result) -> float:
    """99th percentile of the completion times of short flows, in seconds."""
    sizes: Any = result.summary["groups"]["short"]["all_sizes"]
    return float(sizes["completion_time_s_p99"])


SHORT = {"flows.long.count": 1, "flows.short.source.load": 0.8}
QUESTIONS = {
    "README": Question(dumbbell("1 Gbit/s", "40 ms", 10), "bottleneck", 255, unused, 40),
    "loss, 100 flows": Question(dumbbell("1 Gbit/s", "40 ms", 100), "bottleneck", 1240, loss, 32),
    "1,000 flows": Question(dumbbell("10 Gbit/s", "40 ms", 1000), "bottleneck", 780, unused, 8),
    "short flows": Question(Scenario.of("peering", SHORT), "peering", 70, slowest, 24),
}


def missing(limit: int, seed: int) -> float:
    """What is missing to a full link in one run of the home router."""
    run = tr.run(ROUTER, seed=seed, set={"links.down.queue.limit": f"{limit} packets"})
    return unused(run, "down")


class Runs:
    """The runs of one limit, as a search reads them."""

    def __init__(self, limit: int, first_seed: int) -> None:
        self.limit, self.first_seed = limit, first_seed
        self.finished: list[float] = []

    def extend(self, count: int) -> None:
        """Runs until there are so many."""
        for seed in range(self.first_seed + len(self.finished), self.first_seed + count):
            self.finished.append(1 - missing(self.limit, seed))

    def values(self, _: str) -> list[float]:
        """The utilization of each."""
        return self.finished


def search(first_seed: int, apart: int) -> Crossing | None:
    """The interval of a search whose limits have seeds apart from each other, times the limit.

    `None` if it is refused.
    """
    known: dict[int, Tried] = {}

    def simulate(totals: Mapping[int, int]) -> list[Tried]:
        for limit, count in totals.items():
            point: Any = Runs(limit, first_seed + apart * limit)
            known.setdefault(limit, Tried(limit, point)).point.extend(count)
        return [known[limit] for limit in totals]

    one = Regression([TARGET], simulate, precision=0.06, limits=(1, 10_000), max_seeds=32)
    try:
        one.run(*GRID)
    except Refused:
        return None
    return one.interval


def seeds(searches: int) -> None:
    """Prints the correlation, and the share of intervals that hold the estimate."""
    at = [[log(missing(limit, seed)) for seed in range(searches)] for limit in COMPARED]
    print(f"correlation between {COMPARED[0]} and {COMPARED[1]} packets: {correlation(*at):.2f}")
    numbers = range(1, searches + 1)
    own = [search(APART * number, 1000) for number in numbers]
    common = [search(APART * number, 0) for number in numbers]
    truth = median(one.estimate for one in own if one)
    for name, found in (("own", own), ("common", common)):
        held = [one.low <= truth <= one.high for one in found if one]
        print(f"{name} seeds: {100 * fmean(held):.0f} % of {len(held)} intervals hold {truth:.1f}")


def shortened(scenario: Scenario, part: float) -> dict[str, Any]:
    """Changes that make a part of a run, with warm-up and random starts in proportion."""
    settings: Any = scenario.resolved
    times = {key: settings[key] for key in ("duration", "measure_from")}
    changed: dict[str, Any] = {key: scaled(value, part) for key, value in times.items()}
    for name, group in settings["flows"].items():
        if isinstance(group.get("start"), dict):
            first, last = group["start"]["uniform"]
            changed[f"flows.{name}.start"] = {"uniform": [first, scaled(last, part)]}
    return changed


def scaled(text: str, part: float) -> str:
    """A part of a time with its unit."""
    number, unit = text.split()
    return f"{part * float(number):.6f} {unit}"


def duration() -> None:
    """Prints the mean and the price of whole, half and quarter runs."""
    for name, asked in QUESTIONS.items():
        for part in PARTS:
            limit = {f"links.{asked.link}.queue.limit": f"{asked.limit} packets"}
            changes = {**limit, **shortened(asked.scenario, part)}
            begun, count = time.process_time(), round(asked.runs / part)
            runs = (tr.run(asked.scenario, seed=1000 + n, set=changes) for n in range(count))
            values = [asked.metric(run) for run in runs]
            spent, mean = time.process_time() - begun, fmean(values)
            price = spent * (stdev(values) / mean) ** 2 / count / 0.01**2
            print(f"{name:16} {part:.2f} of a run: {mean:.4g}, {price:6.1f} s", flush=True)


def main() -> None:
    """Repeats one of the two comparisons."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("choice", choices=("seeds", "duration"))
    parser.add_argument("--searches", type=int, default=100, help="of `seeds`, either way")
    arguments = parser.parse_args()
    if arguments.choice == "seeds":
        seeds(arguments.searches)
    else:
        duration()


if __name__ == "__main__":
    main()
