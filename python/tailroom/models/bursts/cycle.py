"""The window of one flow from loss to loss: a Markov chain of the windows at which it loses."""

from dataclasses import dataclass

import numpy as np

from tailroom.models.bursts.burst import Bursts
from tailroom.models.bursts.growth import Growth
from tailroom.models.bursts.queue import Loop, between
from tailroom.models.bursts.ring import Pass, Ring, ring
from tailroom.models.window_laws.window_law import Floats

DEAF_ROUNDS = 2
"""Round trips after a loss without another reduction: one at the old window, until the sender hears
of it, and one of repair at the new."""
MOST_CYCLES = 3
"""What is longer than so many of the longest cycle that begins at a full buffer is cut off there:
flows that begin with a few packets, which the chain leaves at once."""
ENOUGH = 1e-4
"""Cycles that are still going on when this part of them is left are cut off."""
LOOK = 10
"""Steps from one look to the next whether what still goes on counts."""
LEAST_WINDOW = 2.0
"""RFC 5681 Eq. 4."""
REFUSED = 3
"""Row of the packets refused in what is summed over a cycle."""


@dataclass(frozen=True)
class Detail:
    """Resolution of the computation."""

    peaks: int = 28
    windows: int = 40
    lengths: int = 56
    densities: int = 28
    rounds: int = 260
    """Steps of a cycle; long cycles take several round trips in one."""


@dataclass(frozen=True)
class Cycle:
    """Stationary cycle: means over time, except the last two fields."""

    utilization: float
    flow_density: float
    """Departing packets of the flow, per slot."""
    refused_density: float
    """Dropped packets, per slot."""
    queue_packets: float
    window: float
    seconds: float
    """Duration from loss to loss."""
    peak: float
    """Window at a loss."""


def cycle(loop: Loop, growth: Growth, slot_s: float, detail: Detail | None = None) -> Cycle:
    """Computes the stationary cycle of a flow that this link limits.

    Args:
        loop: Link, background and round trip.
        growth: The flow's congestion control.
        slot_s: Transmission time of a packet, in seconds.
        detail: Resolution of the computation.
    """
    detail = detail or Detail()
    top = _largest_window(loop, growth)
    peaks = _peaks(loop, top, detail.peaks)
    stride = max(1.0, _longest(loop, growth, top, slot_s) / detail.rounds)
    windows = _windows(loop, top, detail.windows)
    table = ring(loop, windows, growth.typical(windows), detail.lengths, stride)
    bursts = Bursts.of(loop, detail.densities, detail.lengths)
    passes = _Passes(loop, growth, slot_s, peaks, stride, table, bursts)
    sums, ends = _run(passes, MOST_CYCLES * detail.rounds)
    law = _stationary(ends)
    slots, *totals = (float(total) for total in sums @ law)
    busy, flow, refused, queue, window = (total / slots for total in totals)
    return Cycle(
        utilization=busy,
        flow_density=flow,
        refused_density=refused,
        queue_packets=queue,
        window=window,
        seconds=slots * slot_s,
        peak=float(law @ np.tile(peaks, len(growth.goals))),
    )


def _largest_window(loop: Loop, growth: Growth) -> float:
    """A window that is hardly ever exceeded: full buffer, three deviations, one more pass."""
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
    """The link's losses and the flow's growth, pass by pass."""

    loop: Loop
    growth: Growth
    slot_s: float
    peaks: Floats
    stride: float
    table: Ring
    bursts: Bursts


def _run(passes: _Passes, most_steps: int) -> tuple[Floats, Floats]:
    """Follows the cycles from all peaks at once; returns their sums and their ends."""
    growth, peaks, stride, table = passes.growth, passes.peaks, passes.stride, passes.table
    starts = np.tile(peaks, len(growth.goals))
    goals = np.repeat(growth.goals, len(peaks)) * starts
    size = len(starts)
    law = np.zeros((size, table.line.steps + 1))
    law[:, -1] = 1.0
    alive, steps = np.ones(size), 0
    sums, ends = np.zeros((6, size)), np.zeros((size, size))
    window = begun = starts
    while alive.max() > ENOUGH and steps < most_steps:
        if steps == 1:
            window = begun = np.maximum(1.0, growth.begin(starts, goals))
        step = table.step(law, window)
        law, kept = step.law, step.kept
        rates = _rates(passes.loop, step, window)
        slots = stride * (passes.loop.slots + step.queue)
        steps += 1
        if steps <= DEAF_ROUNDS:
            sums += slots / stride * rates
            continue
        grown = growth.over(window, slots * passes.slot_s, stride)
        # A window above the last entry of the table has filled the buffer.
        kept = np.where(window > table.windows[-1], 0.0, kept)
        full = -np.log(np.maximum(kept, 1e-300))
        mean_growth = (window + grown - begun) / (stride * (steps - DEAF_ROUNDS))
        burst, refused = passes.bursts.hazard(window, mean_growth)
        hazard = np.maximum(full, stride * burst)
        lost = -alive * np.expm1(-hazard)
        rates[REFUSED] = np.maximum(rates[REFUSED], stride * refused / slots)
        sums += (alive - lost / 2) * slots * rates
        _put(ends, peaks, goals, window + grown / stride, lost)
        alive = alive - lost
        window = window + grown
        if steps % LOOK == 0 and _settled(ends, peaks, goals, window, alive):
            break
    _put(ends, peaks, goals, window, alive)
    return sums, ends


def _settled(ends: Floats, peaks: Floats, goals: Floats, window: Floats, alive: Floats) -> bool:
    """Whether unfinished cycles are rare enough in the long run to be neglected."""
    so_far = ends.copy()
    _put(so_far, peaks, goals, window, alive)
    return bool(_stationary(so_far) @ alive < ENOUGH)


def _rates(loop: Loop, step: Pass, window: Floats) -> Floats:
    """Quantities summed over a cycle, per slot: time, and the first fields of `Cycle`."""
    idle = np.minimum(np.maximum(step.idle, 0), loop.residual)
    refused = np.maximum(0, step.refused)
    busy = 1 - idle
    flow = np.minimum(busy, loop.residual - idle + refused)
    return np.array([np.ones_like(busy), busy, flow, refused, step.queue, window])


def _put(ends: Floats, peaks: Floats, goals: Floats, end: Floats, lost: Floats) -> None:
    """Distributes the ends of cycles over neighbouring peaks, with the goal to remember."""
    count = len(peaks)
    low, part = between(np.interp(np.log(end), np.log(peaks), np.arange(count)), count)
    if len(goals) > count:
        # RFC 9438 sec. 4.7: below the last goal a flow aims lower.
        low = low + count * (end < goals)
    rows = np.arange(len(end))
    ends[rows, low] += lost * (1 - part)
    ends[rows, low + 1] += lost * part


def _stationary(ends: Floats) -> Floats:
    """Returns the stationary distribution of the peaks."""
    moves = ends / ends.sum(axis=1, keepdims=True)
    for _ in range(12):
        moves = moves @ moves
        moves /= moves.sum(axis=1, keepdims=True)
    law: Floats = moves.mean(axis=0)
    return law
