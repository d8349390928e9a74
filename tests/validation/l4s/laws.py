"""What RFCs say of two classes at DualPI2, as formulas; nothing here knows the engine.

p' is the base probability of RFC 9332: L4S packets are marked with k p', classic packets are
dropped or marked with p'^2 (sec. 2.1, Eq. 1).
"""

import math
from typing import NamedTuple

COUPLING = 2.0
"""k, RFC 9332 sec. 2.5.1.1."""
TARGET_S = 0.015
"""Delay of the classic queue, RFC 9332 appendix A.1."""
RAMP_END_S = 0.0012
"""minTh + range, RFC 9332 appendix A.1: every L4S packet that waits longer is marked."""
VIRTUAL_RTT_S = 0.025
"""draft-briscoe-iccrg-prague-congestion-control-04 sec. 2.4.4."""
PACKET_BITS = 8 * 1500


def coupled(classic: float) -> float:
    """The probability for L4S packets, given that of classic packets."""
    return min(COUPLING * math.sqrt(classic), 1.0)


def classic_delay_s(rate_bps: float) -> float:
    """Mean delay of the classic packets, which leave at this rate, if p' stays above 0.

    The controller holds the age of the first packet in the queue at the target (RFC 9332 appendix
    A.2). At an update the packet has yet to wait for half the time between two departures.
    """
    return TARGET_S + PACKET_BITS / rate_bps / 2


def prague_window(p: float) -> float:
    """Packets that Prague sends in a virtual RTT if every 1/p-th packet is marked.

    After a mark Prague ignores marks for a virtual RTT of W packets; the next mark follows 1 / 2p
    packets later on average. In this time the window grows by (1 - p) per W packets, and then falls
    by p W / 2, so that x = p W solves x = 2 (1 - p) (1 + 1 / 2x).
    """
    kept = 1 - p
    return (kept + math.sqrt(kept * kept + kept)) / p


def cubic_window(p: float, rtt_s: float) -> float:
    """Mean window of CUBIC in packets: the larger of the two functions of RFC 9438.

    Sec. 4.3: in the Reno-friendly region that of AIMD(1, 1/2), sqrt(3 / 2p). Sec. 5, Eq. 5, with
    C = 0.4 and a decrease of 0.7.
    """
    reno = math.sqrt(1.5 / p)
    cubic = math.pow(0.4 * 3.7 / (4 * 0.3), 0.25) * math.pow(rtt_s / p, 0.75)
    return max(reno, cubic)


class Shares(NamedTuple):
    """One Prague flow alongside one CUBIC flow."""

    base: float
    """p'."""
    prague_bps: float
    cubic_bps: float

    @property
    def ratio(self) -> float:
        """Prague's rate over CUBIC's."""
        return self.prague_bps / self.cubic_bps

    @property
    def cubic_losses_per_s(self) -> float:
        """How often CUBIC reduces its window."""
        return self.base * self.base * self.cubic_bps / PACKET_BITS


def shares(rate_bps: float, rtt_s: float) -> Shares:
    """The rates at which both response functions fill the link under one p'.

    The classic queue stands at its target, and the L4S queue is empty.
    """
    service_s = PACKET_BITS / rate_bps
    l4s_rtt_s = max(rtt_s + service_s, VIRTUAL_RTT_S)
    classic_rtt_s = rtt_s + service_s + TARGET_S

    def at(base: float) -> Shares:
        prague = prague_window(min(COUPLING * base, 1 - 1e-9)) / l4s_rtt_s
        cubic = cubic_window(base * base, classic_rtt_s) / classic_rtt_s
        return Shares(base, PACKET_BITS * prague, PACKET_BITS * cubic)

    low, high = 1e-7, 1 / COUPLING
    for _ in range(100):
        middle = math.sqrt(low * high)
        found = at(middle)
        if found.prague_bps + found.cubic_bps > rate_bps:
            low = middle
        else:
            high = middle
    return at(high)
