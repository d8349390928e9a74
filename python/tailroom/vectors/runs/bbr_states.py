"""When BBR enters its states, as its window and its packets show it from outside.

The engine records no states. DRAIN halves the rate at which a full path is used; ProbeBW_UP raises
the window, which has not changed for some round trips, by an eighth, and its end lowers it;
ProbeRTT halves it. An implementation that logs its states writes those times instead.
"""

from bisect import bisect
from collections.abc import Iterator
from itertools import pairwise

Series = list[tuple[float, float]]

FULL, DRAINING = 0.8, 0.6
"""Of the rate of the path: used before DRAIN, and less than this in it (its gain is 0.5)."""
STEADY, RAISED, LOWERED = 1.06, (1.08, 1.3), 0.96
"""Ratios of windows: before a probe, at its beginning (gains 2.25 and 2), and at its end."""
HALVED = 0.7
"""At the beginning of ProbeRTT the window falls below this part of itself (gains 0.5 and 2)."""


def probe_rtt(windows: Series) -> list[float]:
    """Returns the times at which ProbeRTT begins, late by up to the interval of the samples."""
    return [time for (_, before), (time, now) in pairwise(windows) if now < HALVED * before]


def drain(sent: list[float], per_s: float, rtt_s: float) -> list[float]:
    """Returns when DRAIN begins, up to a tenth of an RTT early, or nothing.

    Args:
        sent: Times of packets, in order.
        per_s: Packets per second that the path carries.
        rtt_s: RTT without queue.
    """
    span = rtt_s / 2
    for index, time in enumerate(sent):
        before = index + 1 - bisect(sent, time - span)
        after = bisect(sent, time + span) - index - 1
        is_last = time + span > sent[-1]
        if before > FULL * per_s * span and after < DRAINING * per_s * span and not is_last:
            return [time]
    return []


def probes(windows: Series, rtt_s: float) -> tuple[list[float], list[float]]:
    """Returns when ProbeBW_UP begins and ends, up to a fifth of an RTT late."""
    up: list[float] = []
    down: list[float] = []
    for time, is_up in _probes(windows, rtt_s):
        (up if is_up else down).append(time)
    return up, down


def refill(up: list[float], srtts: Series) -> list[float]:
    """Returns when ProbeBW_REFILL begins: a round trip before ProbeBW_UP, and as late as that.

    Args:
        up: When ProbeBW_UP begins.
        srtts: Smoothed RTTs.
    """
    times = [time for time, _ in srtts]
    return [time - srtts[max(bisect(times, time) - 1, 0)][1] for time in up]


def _probes(windows: Series, rtt_s: float) -> Iterator[tuple[float, bool]]:
    is_up, steady_from = False, 0
    for index, ((_, before), (time, now)) in enumerate(pairwise(windows), 1):
        base = windows[steady_from][1]
        if is_up:
            if now < LOWERED * before:
                is_up, steady_from = False, index
                yield time, False
        elif not base / STEADY < now < base * STEADY:
            lasted = windows[index - 1][0] - windows[steady_from][0]
            if RAISED[0] * base < now < RAISED[1] * base:
                if lasted > 2 * rtt_s:
                    is_up = True
                    yield time, True
                steady_from = index
            elif now < base or now > RAISED[1] * base:
                steady_from = index
