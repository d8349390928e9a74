"""A rate-based congestion control of your own: it sends at the rate that the path has delivered.

It is BBR's idea without its care for losses and for other flows: the window is twice the product of
the largest delivery rate and the smallest RTT, and the pacing rate cycles around the former.
"""

from collections import deque

import tailroom as tr

STARTUP_GAIN = 2.77  # 4 ln 2: doubles the rate in a round trip (draft-ietf-ccwg-bbr-06, sec. 5.6.2)
CYCLE = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)  # BBRv1: probe, drain, cruise
GROWS = 1.25  # the path is full when the rate grows by less than a quarter ...
PATIENCE = 3  # ... in so many round trips
RATE_ROUNDS = 10  # round trips for which a measured rate counts


class BottleneckRate:
    """Paces at the largest delivery rate of the last ten round trips."""

    def __init__(self, window_gain: float = 2.0) -> None:
        self.window_gain = window_gain
        self.rates: deque[tuple[int, float]] = deque()
        self.round = 0
        self.round_end = 0
        self.min_rtt_s = float("inf")
        self.full_rate = 0.0
        self.patience = PATIENCE

    def begin(self, event: tr.BeginEvent) -> tr.ControlOutput:
        """Sends the initial window in a millisecond: nothing is known of the path."""
        self.initial_cwnd = event.cwnd_packets
        return tr.ControlOutput(event.cwnd_packets, STARTUP_GAIN * event.cwnd_packets / 1e-3)

    def on_rate_sample(self, event: tr.RateSampleEvent) -> tr.ControlOutput:
        """Measures, and sends by the model of the path."""
        if event.rtt_s is not None:
            self.min_rtt_s = min(self.min_rtt_s, event.rtt_s)
        is_new_round = (event.prior_delivered_packets or 0) >= self.round_end
        if is_new_round:
            self.round += 1
            self.round_end = event.delivered_packets
        self.note_rate(event)
        if not self.rates or self.min_rtt_s == float("inf"):
            return tr.ControlOutput(self.initial_cwnd, STARTUP_GAIN * self.initial_cwnd / 1e-3)
        rate = max(measured for _, measured in self.rates)
        if is_new_round and self.patience:
            self.patience = PATIENCE if rate >= GROWS * self.full_rate else self.patience - 1
            self.full_rate = (
                max(self.full_rate, rate) if rate >= GROWS * self.full_rate else (self.full_rate)
            )
        gain = STARTUP_GAIN if self.patience else CYCLE[self.round % len(CYCLE)]
        window_gain = STARTUP_GAIN if self.patience else self.window_gain
        window = window_gain * rate * self.min_rtt_s
        return tr.ControlOutput(max(4.0, window), gain * rate)

    def note_rate(self, event: tr.RateSampleEvent) -> None:
        """Keeps the rates that may still be the largest; a held-back flow shows a lower bound."""
        rate = event.delivery_rate_pps
        if rate is None:
            return
        largest = max((measured for _, measured in self.rates), default=0.0)
        if event.is_app_limited and rate < largest:
            return
        while self.rates and self.rates[-1][1] <= rate:
            self.rates.pop()
        self.rates.append((self.round, rate))
        while self.rates[0][0] <= self.round - RATE_ROUNDS:
            self.rates.popleft()
