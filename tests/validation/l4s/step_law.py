"""What follows for one Prague flow when the capacity of its link falls; nothing knows the engine.

While the delay is above the ramp, every packet is marked, so that each round moves alpha by a
sixteenth of its distance from 1, and takes alpha / 2 of the window (draft-briscoe-iccrg-prague-
congestion-control-04 sec. 2.3.2 and 2.4.2). Of the round in which the first mark returns, half the
packets are marked on average.

A round ends with the ACK of the last packet sent before its reduction, which waits in the queue of
the window before; a virtual RTT, if longer, takes its place.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tests.validation.l4s import laws

GAIN = 1 / 16
RAMP_S = 0.001
"""The middle of DualPI2's ramp (RFC 9332 appendix A.1: 800 us to 1200 us)."""
UPDATE_S, INTEGRAL, PROPORTIONAL = 0.016, 0.16, 3.2
"""Of DualPI2's controller, with delays in seconds (RFC 9332 appendix A.1)."""
OVERLOAD = 1 / laws.COUPLING
"""From this p' on, L4S packets are dropped too (RFC 9332 appendix A.2)."""


class Round(NamedTuple):
    """One round of the sender."""

    time_s: float
    """Since the capacity fell."""
    length_s: float
    window: float
    """Packets in flight."""
    delay_s: float
    """Of the queue that they make."""


def steady_mark_share(window: float) -> float:
    """The marked share at which Prague keeps a window, the inverse of `laws.prague_window`."""
    low, high = 1e-9, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if laws.prague_window(middle) > window:
            low = middle
        else:
            high = middle
    return high


def rounds(high_bps: float, low_bps: float, rtt_s: float, settled_s: float) -> Iterator[Round]:
    """Yields the rounds until the delay is below `settled_s`.

    The flow has filled the link, with a queue in the middle of the ramp. Its first marks return
    after an RTT.
    """
    window = high_bps * (rtt_s + RAMP_S) / laws.PACKET_BITS
    alpha = steady_mark_share(window * max(rtt_s, laws.VIRTUAL_RTT_S) / rtt_s)
    gain, time_s, length_s = GAIN / 2, 0.0, rtt_s
    while True:
        delay_s = max(window * laws.PACKET_BITS / low_bps - rtt_s, 0.0)
        yield Round(time_s, length_s, window, delay_s)
        if delay_s < settled_s:
            return
        time_s += length_s
        window *= 1 - alpha / 2
        alpha += gain * (1 - alpha)
        gain = GAIN
        length_s = max(rtt_s + delay_s, laws.VIRTUAL_RTT_S)


def largest_base(of_step: list[Round]) -> float:
    """The largest p' during these rounds: RFC 9332 appendix A.1 with the delay of each round."""
    base = largest = before_s = 0.0
    for one in of_step:
        updates = one.length_s / UPDATE_S
        base += PROPORTIONAL * (one.delay_s - before_s)
        base = max(base + updates * INTEGRAL * (one.delay_s - laws.TARGET_S), 0.0)
        largest, before_s = max(largest, base), one.delay_s
    return largest
