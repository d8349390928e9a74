"""A step of capacity, and a ramp of load: how far the delay of each class rises, and how long."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailroom_papers.framework import below, between
from tests.validation.frame import Claim, Item, Table
from tests.validation.l4s import laws, scenarios

HIGH_MBPS, LOW_MBPS = 40, 20
DOWN_S, UP_S, END_S = 60, 90, 120
STEP_RTTS_MS = (20, 100)
SAMPLE_S = 0.01
SETTLED_S = 0.5
"""The delay has returned if it stays below the limit for so long."""
RETURN_ROUNDS = 10
"""Rounds in which Prague's delay must have returned. If every packet is marked, alpha rises by 1/16
of its distance from 1 per round, and 7 reductions by alpha / 2 halve the window; 3 more drain
the queue."""
GROWTH_BOUND = 1.5
"""Factor of the time in which Prague takes the capacity that is added."""
RAMP_FLOWS, RAMP_S, RAMP_MBPS, RAMP_RTT_MS = 20, 20, 100, 20


@dataclass(frozen=True)
class Step:
    """What a flow does when the capacity halves and doubles again."""

    peak_s: float
    """The longest delay after the capacity halves."""
    returned_s: float
    """Time until the delay is back."""
    grown_s: float
    """Time until 90 % of the capacity that is added is used."""


def step(control: str, rtt_ms: int) -> Step:
    """Runs a flow alone; its queue is the only one, so that its length gives the delay."""
    settings: Mapping[str, object] = {
        "series.interval": f"{SAMPLE_S} s",
        "links.bottleneck.changes": [
            {"at": f"{DOWN_S} s", "rate": f"{LOW_MBPS} Mbit/s"},
            {"at": f"{UP_S} s", "rate": f"{HIGH_MBPS} Mbit/s"},
        ],
    }
    text = scenarios.toml(HIGH_MBPS, rtt_ms, (control,), 30, END_S)
    series = scenarios.run(text, 1, settings).table("link_series")
    time_s = series["time_s"].to_numpy()
    waiting, used = series["queue_packets"].to_numpy(), series["utilization"].to_numpy()
    low = (time_s >= DOWN_S) & (time_s < UP_S)
    delay_s = waiting[low] * laws.PACKET_BITS / (LOW_MBPS * 1e6)
    limit_s = limit(control)
    above = np.flatnonzero(delay_s > limit_s)
    gaps = np.flatnonzero(np.diff(above) > SETTLED_S / SAMPLE_S)
    last = above[gaps[0]] if len(gaps) else (above[-1] if len(above) else 0)
    up = time_s >= UP_S
    # Utilization of ten samples, of which each refers to the capacity in force.
    smooth = np.convolve(used[up], np.ones(10) / 10, "valid")
    grown = np.flatnonzero(smooth >= 0.9)
    return Step(
        float(delay_s.max()),
        float((last + 1) * SAMPLE_S),
        float(grown[0] * SAMPLE_S) if len(grown) else END_S - UP_S,
    )


def limit(control: str) -> float:
    """The delay that counts as settled: the ramp and two packets, or twice the classic target."""
    if control == "prague":
        return laws.RAMP_END_S + 2 * laws.PACKET_BITS / (LOW_MBPS * 1e6)
    return 2 * laws.TARGET_S


def items() -> Iterator[Item]:
    """Step and ramp."""
    rows, peak, back, growth = [], [], [], []
    for rtt_ms in STEP_RTTS_MS:
        for control in scenarios.CONTROLS:
            found = step(control, rtt_ms)
            times = (found.peak_s, found.returned_s, found.grown_s)
            rows.append((control, f"{rtt_ms} ms", *(f"{1e3 * time:.1f} ms" for time in times)))
            if control != "prague":
                continue
            rtt_s, where = 1e-3 * rtt_ms, f"RTT of {rtt_ms} ms"
            # No more packets are in flight than before, but for one per round trip of growth.
            most_s = rtt_s * (HIGH_MBPS / LOW_MBPS - 1) + limit(control)
            peak.append(below(where, found.peak_s, most_s))
            round_s = max(rtt_s + most_s, laws.VIRTUAL_RTT_S)
            back.append(below(where, found.returned_s, RETURN_ROUNDS * round_s))
            added = (0.9 * HIGH_MBPS - LOW_MBPS) * 1e6 / laws.PACKET_BITS
            expected_s = added * max(rtt_s, laws.VIRTUAL_RTT_S) ** 2
            low, high = expected_s / GROWTH_BOUND, expected_s * GROWTH_BOUND
            growth.append(between(where, found.grown_s, low, high))
    heads = ("flow", "RTT", "longest delay", "delay returns after", "90 % used after")
    yield Table("steps", heads, rows)
    yield Claim("the delay of Prague rises by at most what was in flight", peak)
    yield Claim(f"and returns within {RETURN_ROUNDS} rounds", back)
    yield Claim("Prague takes added capacity by one packet per virtual RTT", growth)
    yield Table("ramp", ("flows", "mean delay", "p99 delay", "largest delay"), list(ramp()))


def ramp() -> Iterator[tuple[str, ...]]:
    """Delays while a flow more starts each second."""
    start = {"from": "0 s", "to": f"{RAMP_S} s"}
    for controls in (("prague",), ("cubic",), ("prague", "cubic")):
        settings: dict[str, object] = {f"flows.{control}.start": start for control in controls}
        settings |= {f"flows.{control}.count": RAMP_FLOWS // len(controls) for control in controls}
        text = scenarios.toml(RAMP_MBPS, RAMP_RTT_MS, controls, 0, RAMP_S)
        groups: Any = scenarios.run(text, 1, settings).groups
        for control in controls:
            keys = (f"queue_delay_s_{which}" for which in ("mean", "p99", "max"))
            delays = (f"{1e3 * groups[control][key]:.2f} ms" for key in keys)
            others = " with the others" if len(controls) > 1 else ""
            yield f"{groups[control]['flows']} {control}{others}", *delays
