"""The window of one flow from loss to loss: a Markov chain of the windows at which it loses."""

from dataclasses import dataclass

import numpy as np
import scipy

from tailroom.models.bursts.growth import Growth
from tailroom.models.bursts.queue import Lattice, Loop, dense_end, hit, survival
from tailroom.models.bursts.ring import Ring, ring
from tailroom.models.window_laws.window_law import Floats

DEAF_ROUNDS = 2
"""Round trips after a loss without another reduction: one at the old window, until the sender hears
of it, and one of repair at the new."""
MOST_CYCLES = 3
"""What is longer than so many of the longest cycle that begins at a full buffer is cut off there:
flows that begin with a few packets, which the chain leaves at once."""
ENOUGH = 1e-4
"""Cycles that are still going on when this part of them is left are cut off."""
LEAST_WINDOW = 2.0
"""RFC 5681 Eq. 4."""


@dataclass(frozen=True)
class Detail:
    """How finely everything is divided."""

    peaks: int = 28
    windows: int = 40
    lengths: int = 56
    densities: int = 28
    rounds: int = 260
    """Steps of a cycle; long cycles take several round trips in one."""


@dataclass(frozen=True)
class Cycle:
    """Means over time, but for the last two."""

    utilization: float
    flow_density: float
    """Packets of the flow that leave, per slot."""
    refused_density: float
    """Packets that the buffer refuses, per slot."""
    queue_packets: float
    window: float
    seconds: float
    """From loss to loss."""
    peak: float
    """Window at a loss."""


@dataclass(frozen=True)
class Bursts:
    """Hazard of a pass while the packets of the flow are one burst with silence behind it."""

    loop: Loop
    hazards: "scipy.interpolate.RegularGridInterpolator"
    """Logarithm of the hazard, over place in `densities` and logarithm of the length in slots."""
    densities: Floats
    parts: Floats
    """By density: passes in which the flow loses packets, by packets refused."""

    @classmethod
    def of(cls, loop: Loop, detail: Detail) -> "Bursts":
        """A table of `survival`; densities from none to saturation, lengths up to a round trip."""
        slots = np.geomspace(1, 1.01 * max(2.0, loop.slots), 32)
        densities = loop.residual * (1 - np.geomspace(1, 1e-3, detail.densities))
        densities[0] = 1e-6 * loop.residual
        line = Lattice.of(loop.limit, detail.lengths)
        rows, parts = [], []
        for density in densities:
            part = hit(loop.load, density, None, 0.0)
            parts.append(line.any_of(part) / line.height)
            kept = survival(loop, density, slots, part, detail.lengths)
            rows.append(np.log(np.maximum(-np.log(kept), 1e-300)))
        axes = (np.arange(detail.densities), np.log(slots))
        return cls(
            loop,
            scipy.interpolate.RegularGridInterpolator(axes, np.array(rows)),
            densities,
            np.array(parts),
        )

    def hazard(self, window: Floats, growth: Floats) -> tuple[Floats, Floats]:
        """Of a pass, and the packets refused in one.

        None where the burst is as long as the round trip.
        """
        density = np.clip(dense_end(self.loop.load, growth), self.densities[0], self.densities[-1])
        place = np.interp(density, self.densities, np.arange(len(self.densities)))
        slots = np.clip(window / density, 1, max(1.0, self.loop.slots))
        found = np.exp(self.hazards(np.stack([place, np.log(slots)], axis=-1)))
        hazard = np.where(window < density * self.loop.slots, found, 0.0)
        return hazard, hazard / np.interp(place, np.arange(len(self.parts)), self.parts)


class _Sums:
    """What the cycles that begin with each peak add up to."""

    def __init__(self, size: int) -> None:
        self.of = {
            name: np.zeros(size) for name in ("slots", "busy", "flow", "refused", "queue", "window")
        }

    def add(self, slots: Floats, rates: dict[str, Floats]) -> None:
        """Counts so many slots in which these were the means per slot."""
        self.of["slots"] += slots
        for name, rate in rates.items():
            self.of[name] += rate * slots


def cycle(loop: Loop, growth: Growth, slot_s: float, detail: Detail | None = None) -> Cycle:
    """The stationary cycle of a flow that this link limits.

    Args:
        loop: Link, background and round trip.
        growth: The flow's congestion control.
        slot_s: Time that the link takes for a packet.
        detail: How finely to compute.
    """
    detail = detail or Detail()
    top = _largest_window(loop, growth)
    peaks = _peaks(loop, top, detail.peaks)
    stride = max(1.0, _longest(loop, growth, top, slot_s) / detail.rounds)
    windows = _windows(loop, top, detail.windows)
    table = ring(loop, windows, growth.typical(windows), detail.lengths, stride)
    bursts = Bursts.of(loop, detail)
    passes = _Passes(loop, growth, slot_s, peaks, stride, table, bursts)
    sums, ends = _run(passes, MOST_CYCLES * detail.rounds)
    law = _stationary(ends)
    total = {name: float(law @ values) for name, values in sums.of.items()}
    slots = total["slots"]
    return Cycle(
        utilization=total["busy"] / slots,
        flow_density=total["flow"] / slots,
        refused_density=total["refused"] / slots,
        queue_packets=total["queue"] / slots,
        window=total["window"] / slots,
        seconds=slots * slot_s,
        peak=float(law @ np.tile(peaks, len(growth.goals))),
    )


def _largest_window(loop: Loop, growth: Growth) -> float:
    """A window that is all but never reached: a full buffer, three deviations, one more pass."""
    full = loop.residual * (loop.slots + loop.limit)
    spread = np.sqrt(loop.load * (loop.slots + loop.limit))
    far = full + 4 * spread + 20
    return float(1.1 * far + 2 * growth.typical(np.array([far]))[0])


def _longest(loop: Loop, growth: Growth, top: float, slot_s: float) -> float:
    """Round trips of the longest cycle."""
    peak = np.array([loop.residual * (loop.slots + loop.limit) + 1])
    window, rounds, step = growth.begin(peak, peak), 0.0, 1.0
    while window[0] < min(top, peak[0]) and rounds < 1e9:
        window = window + growth.over(window, np.array([step * loop.slots * slot_s]), step)
        rounds += step
        step = max(1.0, rounds / 50)
    return rounds


def _peaks(loop: Loop, top: float, count: int) -> Floats:
    """Windows at a loss: in proportion for bursts, at equal distances where the link is full."""
    few = count // 2
    low = min(0.6 * loop.residual * loop.slots, top / 2)
    return np.unique(
        np.r_[np.geomspace(LEAST_WINDOW, top, few), np.linspace(low, top, count - few)]
    )


def _windows(loop: Loop, top: float, count: int) -> Floats:
    """Windows of the table, dense where the link fills."""
    middle = 0.6 * loop.residual * loop.slots
    if not 1 < middle < top:
        return np.geomspace(1.0, top, count)
    few = count // 3
    dense = np.linspace(middle, top, count - few + 1)[1:]
    return np.concatenate([np.geomspace(1.0, middle, few), dense])


@dataclass(frozen=True)
class _Passes:
    """What a flow meets and how it answers, pass by pass."""

    loop: Loop
    growth: Growth
    slot_s: float
    peaks: Floats
    stride: float
    table: Ring
    bursts: Bursts


def _run(passes: _Passes, most_steps: int) -> tuple[_Sums, Floats]:
    """All cycles at once, from each peak: what they add up to, and where they end."""
    growth, peaks, stride, table = passes.growth, passes.peaks, passes.stride, passes.table
    starts = np.tile(peaks, len(growth.goals))
    goals = np.repeat(growth.goals, len(peaks)) * starts
    size = len(starts)
    law = np.zeros((size, table.line.steps + 1))
    law[:, -1] = 1.0
    alive, steps = np.ones(size), 0
    sums, ends = _Sums(size), np.zeros((size, size))
    window = begun = starts
    while alive.max() > ENOUGH and steps < most_steps:
        if steps == 1:
            window = begun = np.maximum(1.0, growth.begin(starts, goals))
        rates = _rates(passes.loop, table, law, window)
        slots = stride * (passes.loop.slots + rates["queue"])
        law, kept = table.step(law, window)
        steps += 1
        if steps <= DEAF_ROUNDS:
            sums.add(slots / stride, rates)
            continue
        grown = growth.over(window, slots * passes.slot_s, stride)
        # A window above the last of the table has filled the buffer for sure.
        kept = np.where(window > table.windows[-1], 0.0, kept)
        full = -np.log(np.maximum(kept, 1e-300))
        mean_growth = (window + grown - begun) / (stride * (steps - DEAF_ROUNDS))
        burst, refused = passes.bursts.hazard(window, mean_growth)
        hazard = np.maximum(full, stride * burst)
        lost = -alive * np.expm1(-hazard)
        rates["refused"] = np.maximum(rates["refused"], stride * refused / slots)
        sums.add((alive - lost / 2) * slots, rates)
        _put(ends, peaks, goals, window + grown / stride, lost)
        alive = alive - lost
        window = window + grown
    _put(ends, peaks, goals, window, alive)
    return sums, ends


def _rates(loop: Loop, table: Ring, law: Floats, window: Floats) -> dict[str, Floats]:
    """Means over the next pass, per slot."""
    idle, refused, queue = table.rates(law, window)
    idle, refused = np.clip(idle, 0, loop.residual), np.maximum(0, refused)
    return {
        "busy": 1 - idle,
        "flow": np.minimum(1 - idle, loop.residual - idle + refused),
        "refused": refused,
        "queue": queue,
        "window": window,
    }


def _put(ends: Floats, peaks: Floats, goals: Floats, end: Floats, lost: Floats) -> None:
    """Where cycles end, between two peaks; with the goal that the control will remember."""
    count = len(peaks)
    place = np.interp(np.log(np.clip(end, peaks[0], peaks[-1])), np.log(peaks), np.arange(count))
    low = np.minimum(place.astype(int), count - 2)
    part = place - low
    rows = np.arange(len(end))
    # RFC 9438 sec. 4.7: below the last goal a flow aims lower.
    shift = np.where((end < goals) & (ends.shape[1] > count), count, 0)
    np.add.at(ends, (rows, low + shift), lost * (1 - part))
    np.add.at(ends, (rows, low + shift + 1), lost * part)


def _stationary(ends: Floats) -> Floats:
    """The law of the peaks."""
    moves = ends / ends.sum(axis=1, keepdims=True)
    for _ in range(12):
        moves = moves @ moves
        moves /= moves.sum(axis=1, keepdims=True)
    law: Floats = moves.mean(axis=0)
    return law
