"""Traffic at flow level (Auge and Roberts 2006): what their paper claims, in tailroom.

python -m tests.validation.traffic [--write]
"""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

import tailroom as tr
from tailroom_papers.framework import above, below, is_true
from tests.validation import frame
from tests.validation.frame import Claim, Item, Settings, Table, Validation, mean, scientific

PAGE = "validation/traffic.md"
SCENARIOS = frame.SCENARIOS / "auge-roberts-2006"
SEEDS = range(1, 6)

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
    return frame.simulate(SCENARIOS / scenario, SEEDS, settings)


def links(results: list[tr.Result]) -> Sequence[Mapping[str, Any]]:
    """The bottleneck of each run."""
    return [result.links["bottleneck"] for result in results]


def sizes() -> Iterator[Item]:
    """From which size on a link is transparent at a load of 0.9, with 100 packets of buffer."""
    rows, losses, regimes = [], [0.0], [""]
    for rate, seconds in RATES.items():
        settings = {"links.bottleneck.rate": rate, "duration": f"{seconds} s"}
        found = links(runs("transparent.toml", settings))
        losses = [link["loss_fraction"] for link in found]
        regimes = sorted({link["regime"] for link in found})
        share = statistics.fmean(link["bottlenecked_time_fraction"] for link in found)
        said = frame.predict("transparent", SCENARIOS / "transparent.toml", settings).details
        rows.append(
            (
                rate,
                f"{scientific(statistics.fmean(losses))} ({scientific(max(losses))})",
                scientific(said["overload_loss_fraction"]),
                f"{100 * share:.2f} %",
                ", ".join(regimes),
            )
        )
    heads = (
        "link",
        "loss, mean (largest)",
        "model",
        "time in which a flow is bottlenecked",
        "regime",
    )
    yield Table("transparent", heads, rows)
    yield Claim(
        "10 Gbit/s at a load of 0.9 loses less than 1 packet in 30,000",
        (
            below("largest loss at 10 Gbit/s", max(losses), CLAIMED_LOSS),
            is_true("10 Gbit/s", "transparent in every run", regimes == ["transparent"]),
        ),
    )


def sharing() -> Iterator[Item]:
    """Whether the number of elastic flows under fair queueing is geometric, at several loads."""
    rows, checks = [], []
    for load in (0.3, 0.5, 0.7):
        found = runs("processor-sharing.toml", {"flows.elastic.source.load": load})
        variations = [variation(result) for result in found]
        largest = max(variations)
        cell = f"{statistics.fmean(variations):.3f} ({largest:.3f})"
        rows.append((load, cell, f"{mean(found, flow_rate):.3f}"))
        checks.append(below(f"largest total variation at a load of {load}", largest, 0.05))
    variation_head = "total variation from (1 - rho) rho^n, mean (largest)"
    yield Table("sharing", ("load", variation_head, "E[size] / E[duration] over C (1 - rho)"), rows)
    yield Claim("the number of elastic flows is geometric within 0.05", checks)


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


def background() -> Iterator[Item]:
    """Whether a background of finite flows gives the picture that Poisson packets give."""
    rows = []
    pictures: dict[str, list[float]] = {"Poisson packets": [], "finite flows": []}
    for packets in BUFFERS:
        limit = {"links.bottleneck.queue.limit": f"{packets - 1} packets"}
        shares = []
        for kind, utilizations in pictures.items():
            found = runs("fifo.toml", {**limit, **(FINITE_FLOWS if kind == "finite flows" else {})})
            utilizations.append(mean(found, lambda run: run.links["bottleneck"]["utilization"]))
            goodput_bps = mean(found, lambda run: run.groups["highspeed"]["goodput_bps"])
            shares.append(f"{goodput_bps / 25e6:.2f}")
        used = (f"{utilizations[-1]:.3f}" for utilizations in pictures.values())
        rows.append((f"{packets} packets", *used, ", ".join(shares)))
    heads = ("buffer", *(f"utilization, {kind}" for kind in pictures))
    yield Table("background", (*heads, "HighSpeed's share of the rest"), rows)
    checks = []
    for kind, (small, medium, large) in pictures.items():
        checks += [
            below(f"20 packets, {kind}", small, 0.8),
            is_true(f"100 packets, {kind}", "between the others", small < medium < large),
            above(f"625 packets, {kind}", large, 0.99),
        ]
    yield Claim(
        "20 packets waste a fifth of the link and 625 nothing, also next to finite flows", checks
    )


def bursts() -> Iterator[Item]:
    """Where in the bursts of a window-limited flow packets are lost."""
    found = runs("figure-4.toml", {"links.bottleneck.arrival_log": {"from": "50 s", "to": "300 s"}})
    gaps, lengths, drops, packets = [], [], [], 0
    for result in found:
        assert result.packets is not None
        reno = result.packets.filter(pc.field("flow") == "reno")
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
    last_quarter = float(np.mean(position > 0.75))
    share = mean(found, lambda run: run.groups["reno"]["throughput_bps"]) / 25e6
    rows = [
        ("packets of the flow", packets),
        ("bursts", len(lengths)),
        ("packets in a burst, median", f"{np.median(lengths):.0f}"),
        ("share of the residual bandwidth", f"{share:.2f}"),
        ("gap in a burst, in packet times, median", f"{np.median(inside):.2f}"),
        ("gaps in a burst of up to 4 packet times", f"{100 * np.mean(inside <= 4):.1f} %"),
        ("gaps in a burst of up to 8 packet times", f"{100 * np.mean(inside <= 8):.1f} %"),
        ("gap between bursts, median", f"{np.median(gap_s[gap_s > BETWEEN_BURSTS_S]):.4f} s"),
        ("drops", len(position)),
        ("bursts with drops", len(losing)),
        ("mean position of the drops of a burst", f"{losing.mean():.3f}"),
        ("its standard deviation if drops fell anywhere", f"{1 / np.sqrt(12 * len(losing)):.3f}"),
        ("drops in the last quarter of a burst", f"{100 * last_quarter:.1f} %"),
        ("drops in the first half of a burst", f"{100 * np.mean(position < 0.5):.1f} %"),
    ]
    yield Table("", ("Figure 4", "tailroom"), rows)
    share_of_drops = above("drops in the last quarter of a burst", last_quarter, 0.6, percent=True)
    yield Claim("bursts lose their last packets", (share_of_drops,))


def items() -> Iterator[Item]:
    """Every comparison."""
    for part in (sizes, sharing, background, bursts):
        yield from part()


main = Validation(items, PAGE)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
