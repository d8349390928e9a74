"""Traffic at flow level (Auge and Roberts 2006): what their paper claims, in tailroom.

docs/validation/traffic.md has the figures.

    python -m tests.validation.traffic
"""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

import tailroom as tr
from tailroom.models import MODELS, Requirement, read_bottleneck
from tailroom.scenario.scenario import Scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "auge-roberts-2006"
SEEDS = range(1, 6)
Settings = dict[str, object]

RATES = {"100 Mbit/s": 400, "300 Mbit/s": 200, "1 Gbit/s": 100, "3 Gbit/s": 40, "10 Gbit/s": 20}
"""Links that flows of 1 Mbit/s fill to 90 %, and how many seconds each is looked at."""
CLAIMED_LOSS = 1 / 30_000

BUFFERS = (20, 100, 625)
FINITE_FLOWS: Settings = {
    "flows.background.count": 1,
    "flows.background.source": {
        "kind": "finite_flows",
        "size": {"kind": "exponential", "mean": "125 kB"},
        "load": 0.5,
    },
    "flows.background.congestion": {"kind": "reno"},
    "flows.background.send_jitter": "none",
    "flows.background.access_rate": "1 Mbit/s",
    "flows.background.rtt": "100 ms",
}
"""The background as TCP flows of 1 Mbit/s that arrive and depart, in place of Poisson packets."""

BETWEEN_BURSTS_S = 10e-3
"""A longer gap separates two bursts; a full buffer of 20 packets takes 3 ms."""


def runs(scenario: str, settings: Settings) -> list[tr.Result]:
    """One run with each seed."""
    with ThreadPoolExecutor(2) as pool:
        return list(
            pool.map(lambda seed: tr.run(SCENARIOS / scenario, seed=seed, set=settings), SEEDS)
        )


def mean(values: Iterable[float]) -> float:
    """Mean over seeds."""
    return statistics.fmean(values)


def links(results: list[tr.Result]) -> Sequence[Mapping[str, Any]]:
    """The bottleneck of each run."""
    return [result.links["bottleneck"] for result in results]


def sizes(show: Callable[[str], None]) -> bool:
    """From which size on a link is transparent at a load of 0.9."""
    show("\nflows of 1 Mbit/s at a load of 0.9, 100 packets of buffer")
    show(f"{'link':12}  loss (largest of {len(SEEDS)})  model  some flow bottlenecked  regimes")
    held = True
    for rate, seconds in RATES.items():
        settings: Settings = {"links.bottleneck.rate": rate, "duration": f"{seconds} s"}
        found = links(runs("transparent.toml", settings))
        losses = [link["loss_fraction"] for link in found]
        regimes = sorted({link["regime"] for link in found})
        share = mean(link["bottlenecked_time_fraction"] for link in found)
        said = overload_loss(settings)
        found_losses = f"{mean(losses):.1e} ({max(losses):.1e})"
        show(f"{rate:12}  {found_losses}  {said:.1e}  {share:8.2%}  {regimes}")
        if rate == "10 Gbit/s":
            held = max(losses) < CLAIMED_LOSS and regimes == ["transparent"]
    return held


def overload_loss(settings: Settings) -> float:
    """What the model of the transparent regime says is lost while more flows are there than fit."""
    link = read_bottleneck(Scenario.of(SCENARIOS / "transparent.toml", settings))
    return MODELS["transparent"].predict(link, Requirement()).details["overload_loss_fraction"]


def sharing(show: Callable[[str], None]) -> bool:
    """Whether the number of elastic flows is geometric, at several loads."""
    show("\nelastic flows under fair queueing: total variation from (1 - rho) rho^n")
    held = True
    for load in (0.3, 0.5, 0.7):
        found = runs("processor-sharing.toml", {"flows.elastic.source.load": load})
        variations = [variation(result) for result in found]
        rates = [flow_rate(result) for result in found]
        show(
            f"load {load}: {mean(variations):.3f} (largest {max(variations):.3f}); "
            f"E[size] / E[duration] = {mean(rates):.3f} C (1 - rho)"
        )
        held = held and max(variations) <= 0.05
    return held


def variation(result: tr.Result) -> float:
    """Total variation distance of the number of bottlenecked flows from the geometric law."""
    assert result.flow_counts is not None
    rho: float = result.links["bottleneck"]["offered_load"]
    rows = result.flow_counts.to_pylist()
    shares = {int(row["flows"]): row["bottlenecked_fraction"] for row in rows}
    numbers = range(max(shares) + 1)
    expected = [(1 - rho) * rho**number for number in numbers]
    distance = sum(abs(shares.get(n, 0.0) - law) for n, law in zip(numbers, expected, strict=True))
    return float(distance + 1 - sum(expected)) / 2


def flow_rate(result: tr.Result) -> float:
    """Mean size on the wire over mean duration, as a share of C (1 - rho)."""
    link: Mapping[str, Any] = result.links["bottleneck"]
    group: Mapping[str, Any] = result.groups["elastic"]
    span = result.summary["measured_to_s"] - result.summary["measured_from_s"]
    bits = link["offered_load"] * link["capacity_bps"] * span / group["flows"]
    duration = group["all_sizes"]["completion_time_s_mean"]
    return float(bits / duration / (link["capacity_bps"] * (1 - link["offered_load"])))


def background(show: Callable[[str], None]) -> bool:
    """Whether a background of finite flows gives the picture that Poisson packets give."""
    show("\nutilization and HighSpeed's share of the residual: Poisson packets / finite flows")
    pictures: dict[bool, list[float]] = {False: [], True: []}
    for packets in BUFFERS:
        settings: Settings = {"links.bottleneck.queue.limit": f"{packets - 1} packets"}
        shares = []
        for is_finite, utilizations in pictures.items():
            found = runs("fifo.toml", settings | (FINITE_FLOWS if is_finite else {}))
            utilizations.append(mean(link["utilization"] for link in links(found)))
            goodput = mean(result.groups["highspeed"]["goodput_bps"] for result in found)
            shares.append(goodput / 25e6)
        utilizations = [found[-1] for found in pictures.values()]
        show(
            f"{packets:4} packets: {utilizations[0]:.3f} / {utilizations[1]:.3f}; "
            f"{shares[0]:.2f} / {shares[1]:.2f}"
        )
    return all(
        small < 0.8 and small < medium < large and large > 0.99
        for small, medium, large in pictures.values()
    )


def bursts(show: Callable[[str], None]) -> bool:
    """Where in the bursts of a window-limited flow packets are lost."""
    span = {"from": "50 s", "to": "300 s"}
    found = runs("figure-4.toml", {"links.bottleneck.arrival_log": span})
    gaps, lengths, drops, packets = [], [], [], 0
    for result in found:
        assert result.arrival_log is not None
        reno = result.arrival_log.filter(pc.field("flow") == "reno")
        time_s = reno["time_s"].to_numpy()
        is_dropped = np.asarray(reno["fate"].to_pylist()) == "overflow"
        gap_s = np.diff(time_s)
        gaps.append(gap_s)
        packets += len(time_s)
        starts = np.flatnonzero(gap_s > BETWEEN_BURSTS_S) + 1
        for burst in np.split(is_dropped, starts):
            lengths.append(len(burst))
            drops.append((np.flatnonzero(burst) + 0.5) / len(burst))
    position, gap_s = np.concatenate(drops), np.concatenate(gaps)
    inside = gap_s[gap_s <= BETWEEN_BURSTS_S] / 160e-6
    losing = np.array([one.mean() for one in drops if len(one)])
    share = mean(result.groups["reno"]["throughput_bps"] for result in found) / 25e6
    show(f"\nFigure 4: {packets} packets of the Reno flow in {len(lengths)} bursts")
    show(f"share of the residual {share:.2f}, packets in a burst, median {np.median(lengths):.0f}")
    show(
        f"gap in a burst, in packet times: median {np.median(inside):.2f}, "
        f"up to 4 {np.mean(inside <= 4):.1%}, up to 8 {np.mean(inside <= 8):.1%}"
    )
    show(f"gap between bursts: median {np.median(gap_s[gap_s > BETWEEN_BURSTS_S]):.4f} s")
    show(
        f"{len(position)} drops in {len(losing)} bursts, mean position {losing.mean():.3f} +- "
        f"{1 / np.sqrt(12 * len(losing)):.3f}; in the last quarter {np.mean(position > 0.75):.1%}, "
        f"in the first half {np.mean(position < 0.5):.1%}"
    )
    return bool(np.mean(position > 0.75) > 0.6)


def main(show: Callable[[str], None] = print) -> int:
    """Runs every comparison; 0 if all claims hold."""
    held = {
        "10 Gbit/s at a load of 0.9 loses less than 1 packet in 30,000": sizes(show),
        "the number of elastic flows is geometric within 0.05": sharing(show),
        "20 packets waste a fifth of the link and 625 nothing, also beside finite flows": (
            background(show)
        ),
        "bursts lose their last packets": bursts(show),
    }
    for claim, holds in held.items():
        show(f"{'holds' if holds else 'FAILS'}: {claim}")
    return int(not all(held.values()))


if __name__ == "__main__":
    import sys

    sys.exit(main())
