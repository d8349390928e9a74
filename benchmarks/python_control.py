"""How many ACKs a second a congestion control in Python takes, compared with the built-in `reno`.

    .venv/bin/python benchmarks/python_control.py

One flow on a fast link; the time is the CPU time of the whole run.
"""

import os
import statistics
import time

import tailroom as tr
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.types import DropTailQueue, Flows, Link

RUNS = 5
LEAST_ACKS_PER_SECOND = 300_000
"""The goal for a control that does next to nothing."""


class Constant:
    """Next to nothing: what the call itself costs."""

    calls = 0

    def on_ack(self, event: tr.AckEvent) -> float:
        """Leaves the window as it is."""
        Constant.calls += 1
        return 400.0

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        """Halves the window."""
        return event.cwnd_packets / 2


class Reno:
    """Three attributes of the event for each ACK."""

    calls = 0

    def on_ack(self, event: tr.AckEvent) -> float:
        """RFC 5681, Equation 3, counting packets."""
        Reno.calls += 1
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        """Halves the window."""
        return event.cwnd_packets / 2


def scenario() -> tr.Scenario:
    """Some 80,000 ACKs a simulated second."""
    return tr.Scenario(
        duration="10 s",
        links={
            "bottleneck": Link(
                rate="1 Gbit/s",
                delay="2 ms",
                queue=DropTailQueue(kind="drop_tail", limit="300 packets"),
            )
        },
        defaults={"host": "plain"},
        flows={
            "flow": Flows(
                path=["bottleneck"], congestion="reno", initial_ssthresh=2, access_rate="10 Gbit/s"
            )
        },
    )


def seconds(control: str | ControlFactory) -> float:
    """CPU time of a run."""
    started = time.process_time()
    tr.run(scenario(), congestion={"flow": control})
    return time.process_time() - started


def main() -> None:
    """Prints ACKs per second: median, smallest and largest of several runs."""
    print(f"load {os.getloadavg()[0]:.1f}, goal {LEAST_ACKS_PER_SECOND:,} ACKs/s")
    built_in = statistics.median(seconds("reno") for _ in range(RUNS))
    for control in (Constant, Reno):
        rates = []
        for _ in range(RUNS):
            control.calls = 0
            took_s = seconds(control)
            rates.append(control.calls / took_s)
        middle, least, most = statistics.median(rates), min(rates), max(rates)
        print(f"{control.__name__:8} {middle:9,.0f} ACKs/s ({least:,.0f} to {most:,.0f})")
    print(f"the built-in reno takes {built_in:.2f} s for the same run")


if __name__ == "__main__":
    main()
