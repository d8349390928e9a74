"""The Linux kernel's TCP compared with tailroom's, on the same links.

`validation/kernel/recorded` holds what `python -m validation.kernel.matrix` has recorded: the TCP
of a Linux kernel between two hosts, whose packets pass tailroom's queue disciplines. tailroom runs
the same scenarios with `host = "linux"`, and each statistic is compared with the kernel's.

    python -m tests.validation.kernel [--only TEXT] [--set KEY=VALUE]... [--recorded DIRECTORY]
        [--write]

Goals: utilization within 1 point (2 where packets are late, policed, or their ACKs slow); the time
between losses of a flow alone, and its trough and peak window, within 5 %; the share of the first
group within a tenth of the smaller of this share and the rest; Jain's index within 0.1; the mean
queueing delay within a tenth or 1 ms; and those of loss recovery and of slow start, which
tests/validation/kernel_recovery.py and kernel_slow_start.py have. docs/validation/kernel.csv has
every statistic, and kernel.md says why some miss their goal.
"""

import csv
import json
import lzma
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import tailroom as tr
from tailroom_papers.framework import is_true
from tests.validation import frame
from tests.validation.frame import ROOT, Claim, Item, Table, Validation
from tests.validation.kernel_comparison import Comparison
from tests.validation.kernel_recovery import (
    completion_times,
    is_open,
    is_requests,
    log_of_responses,
    recoveries,
)
from tests.validation.kernel_slow_start import ends_of_slow_start
from validation.kernel import matrix
from validation.kernel.summary import summarize

RECORDED = ROOT / "validation/kernel/recorded"
SEEDS = range(1, 6)
SAMPLE_S = 0.05
"""Interval of the samples of windows, of the kernel and of the simulator."""
TROUGH, PEAK = 0.05, 0.95
"""Quantiles of the window of a flow alone."""
RATE_BASED = ("bbr1",)
ON_OTHER_PATHS = ("reordered", "slow-acks", "policed")
"""Experiments whose utilization may differ by 2 points."""


COLUMNS = (
    "utilization",
    "mean queueing delay (ms)",
    "seconds between losses",
    "trough window (packets)",
    "peak window (packets)",
    "share",
    "Jain's index",
    "loss (%)",
    "sent again per loss",
    "timeouts",
    "loss probes",
    "undone reductions",
    "discarded as old",
    "ACK size (B)",
    "end of slow start (packets)",
    *(f"p{percent} of completion (ms)" for percent in (50, 90, 95, 98)),
)
"""Beginnings of the names of statistics, in the order of the table in docs/validation."""
DATA = "kernel.csv"
"""Every statistic, in docs/validation; the goals that it says are missed may be missed again."""
HEADINGS = ("experiment", "statistic", "kernel", "tailroom", "goal")
MISSED = "missed"

Compared = Mapping[str, Sequence[Comparison]]
"""The statistics of each experiment."""


def tables_of(compared: Compared) -> Iterator[Table]:
    """Yields every statistic, and how many of each kind meet their goal."""
    places = {one.name: place for place, one in enumerate(matrix.experiments())}
    names = sorted(compared, key=lambda name: places.get(name, len(places)))
    data = [
        (name, one.what, *one.means, "met" if one.is_met else MISSED)
        for name in names
        for one in compared[name]
    ]
    yield Table(DATA, HEADINGS, data)
    rows = []
    for column in COLUMNS:
        found = [one for all_ in compared.values() for one in all_ if one.what.startswith(column)]
        if found:
            median = statistics.median(abs(one.ratio) for one in found)
            rows.append((column, len(found), sum(one.is_met for one in found), f"{median:.2f}"))
    yield Table("statistics", ("statistic", "compared", "goal met", "median difference"), rows)


def known_as_missed() -> set[tuple[str, str]]:
    """The goals that tailroom missed when the data were last written."""
    with (ROOT / "docs/validation" / DATA).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["experiment"], row["statistic"]) for row in rows if row["goal"] == MISSED}


def load(path: Path) -> dict[str, Any]:
    """Reads a recorded experiment, compressed or not."""
    content = path.read_bytes()
    is_packed = path.suffix == ".xz"
    recorded: dict[str, Any] = json.loads(lzma.decompress(content) if is_packed else content)
    return recorded


def seconds_between_losses(run: dict[str, Any]) -> float | None:
    """Mean time between the congestion events of a flow alone; `None` with fewer than two."""
    begin, end = run["measured_from_s"], run["measured_to_s"]
    link = run["directions"][0]
    times = [at for at in link["drop_times_s"] if begin <= at < end]
    # Losses of two round trips with a full buffer are one event.
    full_s = 8 * link["buffer_packets"] * run["flows"][0]["packet_bytes"] / link["rate_bps"]
    episode_s = 2 * (run["flows"][0]["rtt_s"] + full_s)
    events = [
        at
        for before, at in zip([-episode_s, *times], times, strict=False)
        if at - before > episode_s
    ]
    return (events[-1] - events[0]) / (len(events) - 1) if len(events) > 1 else None


def shares(run: dict[str, Any]) -> dict[str, float]:
    """Share of each group in what left the link."""
    found: dict[str, float] = {}
    for flow, described in zip(summarize(run).flows, run["flows"], strict=True):
        found[described["group"]] = found.get(described["group"], 0.0) + flow.share
    return found


def quantiles(windows: Sequence[float]) -> tuple[float, float]:
    """The trough and the peak of a sampled window, as quantiles."""
    found = statistics.quantiles(windows, n=100)
    return found[round(100 * TROUGH) - 1], found[round(100 * PEAK) - 1]


def sampled_windows(run: dict[str, Any]) -> list[float]:
    """Windows of the first flow in the measured window, without those of recoveries."""
    samples = run["flows"][0]["samples"]
    begin, end = run["measured_from_s"], run["measured_to_s"]
    rows = zip(samples["time_s"], samples["cwnd_packets"], samples["state"], strict=True)
    return [window for time, window, state in rows if begin <= time < end and state == 0]


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
    settings = {**log_of_responses(runs[0]), **settings}
    results = [simulate(recorded["scenario"], seed, settings) for seed in SEEDS]
    simulated = [cast("dict[str, Any]", result.summary) for result in results]
    yield from recoveries(runs, simulated)
    yield from completion_times(recorded, runs, results)
    yield from ends_of_slow_start(runs, results)
    if all(map(is_requests, runs[0]["flows"])):
        return  # the link is idle for most of the time
    links = [next(iter(summary["links"].values())) for summary in simulated]
    yield from _utilizations(recorded["name"], runs, simulated)
    mean_delay = tuple(1e3 * run.queue_delay_s_mean for run in kernel)
    yield Comparison(
        "mean queueing delay (ms)",
        mean_delay,
        tuple(1e3 * link["queue_delay_s_mean"] for link in links),
        max(1.0, 0.1 * statistics.fmean(mean_delay)),
    )
    first = shares(runs[0])
    if len(simulated[0]["links"]) > 1:
        if recorded["name"].startswith("slow-acks"):
            yield from _ack_sizes(runs, simulated)
        return  # a flow each way has its link alone
    if any(is_requests(flow) or is_open(flow) for flow in runs[0]["flows"]):
        return  # what they take is what they ask for
    if len(first) > 1:
        name = next(iter(first))
        of_kernel = tuple(shares(run)[name] for run in runs)
        both = (statistics.fmean(of_kernel), 1 - statistics.fmean(of_kernel))
        yield Comparison(
            f"share of {name}",
            of_kernel,
            tuple(simulated_shares(summary)[name] for summary in simulated),
            0.1 * min(both),
        )
    elif len(runs[0]["flows"]) == 1 and not recorded.get("is_coarse"):
        yield from _intervals(runs, simulated)
        yield from _windows(runs, results)
    if len(runs[0]["flows"]) > 2:
        yield Comparison(
            "Jain's index",
            tuple(frame.jain_index([flow.throughput_bps for flow in run.flows]) for run in kernel),
            tuple(
                frame.jain_index([flow["goodput_bps"] for flow in summary["flows"]])
                for summary in simulated
            ),
            0.1,
        )


def _utilizations(
    experiment: str, runs: Sequence[dict[str, Any]], simulated: Sequence[dict[str, Any]]
) -> Iterator[Comparison]:
    names = list(simulated[0]["links"])
    allowed = 0.02 if experiment.startswith(ON_OTHER_PATHS) else 0.01
    for at, name in enumerate(names):
        yield Comparison(
            "utilization" if len(names) == 1 else f"utilization of {name}",
            tuple(run["directions"][at]["utilization"] for run in runs),
            tuple(summary["links"][name]["utilization"] for summary in simulated),
            allowed,
        )


def _ack_sizes(
    runs: Sequence[dict[str, Any]], simulated: Sequence[dict[str, Any]]
) -> Iterator[Comparison]:
    """The mean size of what passes a link that has ACKs alone."""
    name = list(simulated[0]["links"])[1]
    counts = [run["directions"][1]["measured"] for run in runs]
    seconds = simulated[0]["measured_to_s"] - simulated[0]["measured_from_s"]
    links = [summary["links"][name] for summary in simulated]
    yield Comparison(
        "ACK size (B)",
        tuple(
            sum(one["departures_bytes"] for one in measured)
            / sum(one["departures_packets"] for one in measured)
            for measured in counts
        ),
        tuple(
            link["utilization"] * link["capacity_bps"] * seconds / 8 / link["departures_packets"]
            for link in links
        ),
        1.0,
    )


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


def _windows(runs: Sequence[dict[str, Any]], results: Sequence[tr.Result]) -> Iterator[Comparison]:
    if results[0].summary["flows"][0]["congestion"] in RATE_BASED:
        return  # its window does not bind
    of_kernel = [quantiles(sampled_windows(run)) for run in runs]
    of_tailroom = [quantiles(_simulated_windows(result)) for result in results]
    for at, what in enumerate(("trough window (packets)", "peak window (packets)")):
        sides = [tuple(found[at] for found in side) for side in (of_kernel, of_tailroom)]
        yield Comparison(what, sides[0], sides[1], 0.05 * statistics.fmean(sides[0]))


def _simulated_windows(result: tr.Result) -> list[float]:
    series = result.table("flow_series").to_pydict()
    begin = result.summary["measured_from_s"]
    rows = zip(series["time_s"], series["cwnd_packets"], strict=True)
    return [window for time, window in rows if time >= begin]


def simulate(scenario: str, seed: int, settings: dict[str, str]) -> tr.Result:
    """Runs a recorded scenario in the simulator, with series.

    Args:
        scenario: The scenario as TOML.
        seed: Seed of the run.
        settings: Values that replace those of the scenario.
    """
    sampled = {"series.interval": f"{SAMPLE_S} s"}
    return tr.run(tr.Scenario.from_toml(scenario), seed=seed, set={**sampled, **settings})


def items(only: str, settings: list[str], recorded: Path) -> Iterator[Item]:
    """Every recorded experiment, and whether no goal is missed that was met before."""
    changes = dict(pair.split("=", 1) for pair in settings)
    known = known_as_missed()
    paths = [*recorded.glob("*.json.xz"), *recorded.glob("*.json")]
    compared: dict[str, list[Comparison]] = {}
    for path in sorted(path for path in paths if only in path.name):
        name = path.name.split(".json")[0]
        compared[name] = list(compare(load(path), changes))
        for comparison in compared[name]:
            yield comparison.line(name)
    yield from tables_of(compared)
    missed = {
        (name, one.what) for name, found in compared.items() for one in found if not one.is_met
    }
    new = missed - known
    yield Claim(
        f"{len(missed)} of {sum(map(len, compared.values()))} goals are missed; "
        f"{len(new)} of them are new",
        [is_true(f"{name}, {what}", "met", False) for name, what in sorted(new)],
    )


main = Validation(
    items,
    "validation/kernel.md",
    {
        "--only": {"default": "", "help": "only experiments whose name holds this text"},
        "--set": {"action": "append", "default": [], "dest": "settings", "metavar": "KEY=VALUE"},
        "--recorded": {"type": Path, "default": RECORDED, "help": "directory of recordings"},
    },
)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
