"""The period of each congestion control, of which a measured window has to hold several."""

from collections.abc import Callable
from math import cbrt

CUBIC_BETA, CUBIC_C = 0.7, 0.4  # RFC 9438 sec. 4.6 and 5
RENO_FRIENDLY_ALPHA = 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA)  # RFC 9438 sec. 4.3
PROBE_RTT_INTERVALS_S = {
    "bbr1": 10.0,  # Linux tcp_bbr.c, bbr_min_rtt_win_sec
    "bbr3": 5.0,  # draft-ietf-ccwg-bbr sec. 2.12, ProbeRTTInterval
}
"""Time between two drains of the queue, by which a flow measures its smallest RTT."""
GAIN_CYCLE_PHASES = 8  # Cardwell et al. 2016, BBR: one phase per RTT
PRAGUE_RTT_S = 0.025
"""Prague grows with shorter RTTs as if they were this long (its draft, sec. 2.4.4)."""
PRAGUE_ROUNDS = 30
"""Round trips in which Prague repeats itself."""


def period_s(control: str, window_packets: float, rtt_s: float) -> float:
    """The time in which a flow at its fair share repeats itself, with an empty queue.

    Of CUBIC the epoch from loss to loss, of Reno its sawtooth, of BBR the interval between two
    drains of the queue or the cycle of its gains, of Prague 30 round trips of at least 25 ms.
    Other controls count as CUBIC.

    Args:
        control: Name of the congestion control.
        window_packets: Fair share of the capacity times the RTT, in packets.
        rtt_s: Two-way propagation delay, in seconds.
    """
    period: Callable[[float, float], float] = {
        "reno": reno_cycle_s,
        "prague": lambda _, rtt: PRAGUE_ROUNDS * max(rtt, PRAGUE_RTT_S),
    }.get(control, cubic_cycle_s)
    if control in PROBE_RTT_INTERVALS_S:
        return max(PROBE_RTT_INTERVALS_S[control], GAIN_CYCLE_PHASES * rtt_s)
    return period(window_packets, rtt_s)


def cubic_cycle_s(window_packets: float, rtt_s: float) -> float:
    """The time from loss to loss of a CUBIC flow without a queue (RFC 9438 sec. 4.2 and 4.3).

    Args:
        window_packets: Its window at a loss.
        rtt_s: Its round-trip time.
    """
    lost = (1 - CUBIC_BETA) * window_packets
    return min(cbrt(lost / CUBIC_C), max(lost / RENO_FRIENDLY_ALPHA, 4) * rtt_s)


def reno_cycle_s(window_packets: float, rtt_s: float) -> float:
    """The time from loss to loss of a Reno flow without a queue: half of its window in round trips.

    Args:
        window_packets: Its window at a loss.
        rtt_s: Its round-trip time.
    """
    return max(window_packets / 2, 4) * rtt_s
