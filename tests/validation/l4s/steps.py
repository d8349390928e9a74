"""A step of capacity, and a ramp of load: how far the delay of each class rises, and how long."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tailroom_papers.framework import above, below, between
from tests.validation.frame import Claim, Item, Table
from tests.validation.l4s import laws, scenarios, step_law

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
FALLS = (
    *((12, 6, 20), (12, 6, 40), (20, 10, 100), (40, 20, 10), (40, 20, 20), (40, 20, 40)),
    *((40, 20, 60), (40, 20, 100), (100, 25, 20), (100, 50, 20), (100, 50, 40)),
    *((30, 15, 30), (60, 20, 50), (60, 30, 120), (80, 20, 15), (150, 75, 25), (150, 100, 50)),
)
"""Capacity before and after in Mbit/s, RTT in ms: with these runs the formula was corrected."""
NEW_FALLS = (
    *((16, 8, 30), (24, 12, 55), (50, 25, 15), (70, 35, 45), (90, 30, 25), (90, 45, 110)),
    *((120, 60, 35), (180, 90, 12)),
)
"""Chosen after the last correction, and run once."""
SEEDS = (1, 2, 3)
LOSSES_S = 5
"""Time after the fall in which losses count."""
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
    yield from falls()
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


def falls() -> Iterator[Item]:
    """Prague when the capacity falls, compared with the rounds of `step_law`."""
    rows, timely, early, lossless, lossy = [], [], [], [], []
    for high_mbps, low_mbps, rtt_ms in (*FALLS, *NEW_FALLS):
        limit_s = limit("prague", low_mbps)
        law = [*step_law.rounds(high_mbps * 1e6, low_mbps * 1e6, 1e-3 * rtt_ms, limit_s)]
        base, expected_s = step_law.largest_base(law), law[-1].time_s
        # The first mark comes at any time of a period of alpha; no round is longer than the second.
        slack_s = law[1].length_s
        is_overload = base > step_law.OVERLOAD
        runs = [curve("prague", high_mbps, low_mbps, rtt_ms, seed) for seed in SEEDS]
        times = [run.returned_s(limit_s) for run in runs]
        dropped = [float(run.drops[run.is_low][: round(LOSSES_S / SAMPLE_S)].sum()) for run in runs]
        where = f"{high_mbps:g} to {low_mbps:g} Mbit/s, {rtt_ms} ms"
        for time_s, drops in zip(times, dropped, strict=True):
            if is_overload:
                early.append(below(where, time_s, expected_s + slack_s))
                lossy.append(above(where, drops, 0.5))
            else:
                timely.append(between(where, time_s, expected_s - slack_s, expected_s + slack_s))
                lossless.append(below(where, drops, 0.5))
        measured = f"{1e3 * min(times):.0f} to {1e3 * max(times):.0f} ms"
        numbers = (f"{1e3 * expected_s:.0f} ms", f"{base:.2f}", f"{sum(dropped) / len(runs):.0f}")
        rows.append((f"{high_mbps:g} to {low_mbps:g} Mbit/s", f"{rtt_ms} ms", measured, *numbers))
    heads = ("capacity", "RTT", "delay returns after", "by formula", "largest p'", "packets lost")
    yield Table("falls", heads, rows)
    yield Claim("the delay of Prague returns within a round of the formula's time", timely)
    yield Claim("and no later than that where p' passes 1/2", early)
    yield Claim("no packet is lost where p' stays below 1/2", lossless)
    yield Claim("packets are lost where p' passes 1/2", lossy)


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
