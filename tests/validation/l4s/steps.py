"""A step of capacity, and a ramp of load: how far the delay of each class rises, and how long."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
SHOWN_S = 3
SAMPLES_PER_ROW = 2
STEP_HEADINGS = ("flow", "RTT (ms)", "step", "since the step (s)", "delay (ms)", "utilization")
RAMP_FLOWS, RAMP_S, RAMP_MBPS, RAMP_RTT_MS = 20, 20, 100, 20

Samples = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """What a flow does over a link whose capacity falls at DOWN_S and rises again at UP_S."""

    low_mbps: float
    time_s: Samples
    packets: Samples
    """That wait."""
    used: Samples
    """Share of the capacity in force."""
    drops: Samples

    @property
    def is_low(self) -> npt.NDArray[np.bool_]:
        """Which samples are of the lower capacity."""
        return (self.time_s >= DOWN_S) & (self.time_s < UP_S)

    @property
    def delay_s(self) -> Samples:
        """What the packets that wait take at the lower capacity."""
        per_packet_s = laws.PACKET_BITS / (self.low_mbps * 1e6)
        delay_s: Samples = self.packets[self.is_low] * per_packet_s
        return delay_s

    def returned_s(self, limit_s: float) -> float:
        """Time after which the delay stays below a limit for SETTLED_S."""
        above = np.flatnonzero(self.delay_s > limit_s)
        gaps = np.flatnonzero(np.diff(above) > SETTLED_S / SAMPLE_S)
        last = above[gaps[0]] if len(gaps) else (above[-1] if len(above) else 0)
        return float((last + 1) * SAMPLE_S)

    def lost_after_fall(self, time_s: float) -> float:
        """Packets that are lost within a time after the capacity falls."""
        return float(self.drops[self.is_low][: round(time_s / SAMPLE_S)].sum())

    def grown_s(self) -> float:
        """Time until 90 % of the capacity that is added is used."""
        # Utilization of ten samples, of which each refers to the capacity in force.
        smooth = np.convolve(self.used[self.time_s >= UP_S], np.ones(10) / 10, "valid")
        grown = np.flatnonzero(smooth >= 0.9)
        return float(grown[0] * SAMPLE_S) if len(grown) else END_S - UP_S


def curve(control: str, high_mbps: float, low_mbps: float, rtt_ms: int, seed: int = 1) -> Curve:
    """Runs a flow alone; its queue is the only one, so that its length gives the delay."""
    settings: Mapping[str, object] = {
        "series.interval": f"{SAMPLE_S} s",
        "links.bottleneck.changes": [
            {"at": f"{DOWN_S} s", "rate": f"{low_mbps} Mbit/s"},
            {"at": f"{UP_S} s", "rate": f"{high_mbps} Mbit/s"},
        ],
    }
    text = scenarios.toml(high_mbps, rtt_ms, (control,), 30, END_S)
    series = scenarios.run(text, seed, settings).table("link_series")
    columns = ("time_s", "queue_packets", "utilization", "drops_packets")
    return Curve(low_mbps, *(series[name].to_numpy() for name in columns))


def limit(control: str, low_mbps: float = LOW_MBPS) -> float:
    """The delay that counts as settled: the ramp and two packets, or twice the classic target."""
    if control == "prague":
        return laws.RAMP_END_S + 2 * laws.PACKET_BITS / (low_mbps * 1e6)
    return 2 * laws.TARGET_S


def items() -> Iterator[Item]:
    """Step and ramp."""
    rows, peak, back, growth = [], [], [], []
    curves = {
        (rtt_ms, control): curve(control, HIGH_MBPS, LOW_MBPS, rtt_ms)
        for rtt_ms in STEP_RTTS_MS
        for control in scenarios.CONTROLS
    }
    for (rtt_ms, control), found in curves.items():
        peak_s, returned_s, grown_s = (
            float(found.delay_s.max()),
            found.returned_s(limit(control)),
            found.grown_s(),
        )
        times = (f"{1e3 * time:.1f} ms" for time in (peak_s, returned_s, grown_s))
        rows.append((control, f"{rtt_ms} ms", *times))
        if control != "prague":
            continue
        rtt_s, where = 1e-3 * rtt_ms, f"RTT of {rtt_ms} ms"
        # No more packets are in flight than before, but for one per round trip of growth.
        most_s = rtt_s * (HIGH_MBPS / LOW_MBPS - 1) + limit(control)
        peak.append(below(where, peak_s, most_s))
        round_s = max(rtt_s + most_s, laws.VIRTUAL_RTT_S)
        back.append(below(where, returned_s, RETURN_ROUNDS * round_s))
        added = (0.9 * HIGH_MBPS - LOW_MBPS) * 1e6 / laws.PACKET_BITS
        expected_s = added * max(rtt_s, laws.VIRTUAL_RTT_S) ** 2
        low, high = expected_s / GROWTH_BOUND, expected_s * GROWTH_BOUND
        growth.append(between(where, grown_s, low, high))
    heads = ("flow", "RTT", "longest delay", "delay returns after", "90 % used after")
    yield Table("steps", heads, rows)
    yield Claim("the delay of Prague rises by at most what was in flight", peak)
    yield Claim(f"and returns within {RETURN_ROUNDS} rounds", back)
    yield Claim("Prague takes added capacity by one packet per virtual RTT", growth)
    yield Table("l4s-steps.csv", STEP_HEADINGS, list(samples(curves)))
    yield Table("ramp", ("flows", "mean delay", "p99 delay", "largest delay"), list(ramp()))


def samples(curves: Mapping[tuple[int, str], Curve]) -> Iterator[tuple[object, ...]]:
    """Rows of the file of steps: delays after the fall, and the use of the link after each step."""
    for (rtt_ms, control), found in curves.items():
        for step, from_s in (("down", DOWN_S), ("up", UP_S)):
            first = int(np.searchsorted(found.time_s, from_s))
            for at in range(first, first + int(SHOWN_S / SAMPLE_S), SAMPLES_PER_ROW):
                part = slice(at, at + SAMPLES_PER_ROW)
                mbps = LOW_MBPS if step == "down" else HIGH_MBPS
                delay_ms = 1e3 * found.packets[at] * laws.PACKET_BITS / (mbps * 1e6)
                used = found.used[part].mean()
                since_s = (at - first) * SAMPLE_S
                yield control, rtt_ms, step, f"{since_s:.2f}", f"{delay_ms:.2f}", f"{used:.3f}"


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
