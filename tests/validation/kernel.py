"""The Linux kernel's TCP beside tailroom's, on the same links.

`validation/kernel/recorded` holds what `python -m validation.kernel.matrix` has recorded: the TCP
of a Linux kernel between two hosts, whose packets pass tailroom's queue disciplines. tailroom runs
the same scenarios with `host = "linux"`, and each statistic is set beside the kernel's.

    python -m tests.validation.kernel [--only TEXT] [--set KEY=VALUE]...

Goals: utilization within 1 point, the time between losses of a flow alone within 5 %, shares within
a tenth. What misses its goal is named, and docs/validation/kernel.md says why.
"""

import argparse
import gzip
import json
import statistics
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import tailroom as tr
from validation.kernel.summary import summarize

RECORDED = Path(__file__).parents[2] / "validation/kernel/recorded"
SEEDS = range(1, 6)
EPISODE_S = 0.15
"""Losses that follow each other within this time are one congestion event: a round trip of these
links with a full buffer."""


@dataclass(frozen=True)
class Comparison:
    """A statistic of the kernel's runs, and of the simulator's."""

    what: str
    kernel: tuple[float, ...]
    tailroom: tuple[float, ...]
    allowed: float
    """Largest difference of the means that meets the goal."""

    @property
    def difference(self) -> float:
        return statistics.fmean(self.tailroom) - statistics.fmean(self.kernel)

    @property
    def is_met(self) -> bool:
        return abs(self.difference) <= self.allowed

    def line(self, name: str) -> str:
        """A row of the table: mean and range of each side."""
        sides = [
            f"{statistics.fmean(side):8.4f} ({min(side):.4f} to {max(side):.4f})"
            for side in (self.kernel, self.tailroom)
        ]
        word = "meets" if self.is_met else "MISSES"
        return f"{name:38} {self.what:26} {sides[0]}  {sides[1]}  {self.difference:+.4f}  {word}"


def load(path: Path) -> dict[str, Any]:
    """Reads a recorded experiment."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        recorded: dict[str, Any] = json.load(file)
    return recorded


def seconds_between_losses(run: dict[str, Any]) -> float | None:
    """Mean time between the congestion events of a flow alone; `None` with fewer than two."""
    begin, end = run["measured_from_s"], run["measured_to_s"]
    times = [at for at in run["directions"][0]["drop_times_s"] if begin <= at < end]
    events = [
        at for before, at in zip([-1.0, *times], times, strict=False) if at - before > EPISODE_S
    ]
    return (events[-1] - events[0]) / (len(events) - 1) if len(events) > 1 else None


def shares(run: dict[str, Any]) -> dict[str, float]:
    """Share of each group in what left the link."""
    found: dict[str, float] = {}
    for flow, described in zip(summarize(run).flows, run["flows"], strict=True):
        found[described["group"]] = found.get(described["group"], 0.0) + flow.share
    return found


def simulated_shares(summary: dict[str, Any]) -> dict[str, float]:
    """The same of a simulation."""
    rates = {name: group["throughput_bps"] for name, group in summary["groups"].items()}
    return {name: rate / sum(rates.values()) for name, rate in rates.items()}


def compare(recorded: dict[str, Any], settings: dict[str, str]) -> Iterator[Comparison]:
    """Yields the comparisons of an experiment.

    Args:
        recorded: The recorded experiment.
        settings: Values that replace those of the scenario in the simulator.
    """
    runs = [run for run in recorded["runs"] if not run["invalid"]]
    kernel = [summarize(run) for run in runs]
    simulated = [_simulate(recorded["scenario"], seed, settings) for seed in SEEDS]
    links = [next(iter(summary["links"].values())) for summary in simulated]
    yield Comparison(
        "utilization",
        tuple(run.utilization for run in kernel),
        tuple(link["utilization"] for link in links),
        0.01,
    )
    mean_delay = tuple(1e3 * run.queue_delay_s_mean for run in kernel)
    yield Comparison(
        "mean queueing delay (ms)",
        mean_delay,
        tuple(1e3 * link["queue_delay_s_mean"] for link in links),
        max(1.0, 0.1 * statistics.fmean(mean_delay)),
    )
    first = shares(runs[0])
    if len(first) > 1:
        name = next(iter(first))
        of_kernel = tuple(shares(run)[name] for run in runs)
        yield Comparison(
            f"share of {name}",
            of_kernel,
            tuple(simulated_shares(summary)[name] for summary in simulated),
            0.1 * max(statistics.fmean(of_kernel), 1 - statistics.fmean(of_kernel)),
        )
    elif len(runs[0]["flows"]) == 1:
        yield from _intervals(runs, simulated)


def _intervals(
    runs: Sequence[dict[str, Any]], simulated: Sequence[dict[str, Any]]
) -> Iterator[Comparison]:
    of_kernel = tuple(found for run in runs if (found := seconds_between_losses(run)) is not None)
    flows = [summary["flows"][0] for summary in simulated]
    of_tailroom = tuple(
        flow["seconds_between_reductions_mean"]
        for flow in flows
        if flow["seconds_between_reductions_mean"] is not None
    )
    if of_kernel and of_tailroom:
        allowed = 0.05 * statistics.fmean(of_kernel)
        yield Comparison("seconds between losses", of_kernel, of_tailroom, allowed)


def _simulate(scenario: str, seed: int, settings: dict[str, str]) -> dict[str, Any]:
    loaded = cast(tr.Scenario, tomllib.loads(scenario))
    return cast("dict[str, Any]", tr.run(loaded, seed=seed, set=settings).summary)


def main(
    arguments: Sequence[str] = (), show: Callable[[str], object] = print, recorded: Path = RECORDED
) -> int:
    """Compares every recorded experiment; the status is 0 if all goals are met."""
    parser = argparse.ArgumentParser(prog="tests.validation.kernel")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args(arguments)
    settings = dict(pair.split("=", 1) for pair in options.set)
    missed = 0
    for path in sorted(recorded.glob("*.json.gz")):
        if options.only not in path.name:
            continue
        for comparison in compare(load(path), settings):
            show(comparison.line(path.name.removesuffix(".json.gz")))
            missed += not comparison.is_met
    show(f"{missed} goals are missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
