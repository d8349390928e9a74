"""DCQCN against the fluid model of its authors, under the assumptions of that model."""

from math import exp, expm1, log1p

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario

SCENARIO = """
duration = "{duration}"
measure_from = "50 ms"
[links.port]
rate = "40 Gbit/s"
delay = "1 us"
queue = {{ kind = "wred", k_min = "5 kB", k_max = "2 MB", p_max = 0.1023, limit = "20 MB" }}
[flows.hosts]
count = {flows}
path = ["port"]
congestion = {{ kind = "dcqcn", marks_in_interval = "{marks}", fast_recovery = 6 }}
ecn = "accurate"
packet_size = "1000 B"
header_size = "40 B"
access_rate = "40 Gbit/s"
rtt = "4 us"
host = "data_center"
start = {{ uniform = ["0 s", "10 ms"] }}
"""


def fixed_point_marking(rate: float) -> float:
    """The marking probability of Zhu et al. 2016, "ECN or delay", Eq. 11, at a rate in packets/s.

    Parameters of Zhu et al. 2015 in packets of 1000 B: notifications at most every 50 us, timers of
    55 us, a byte counter of 10 MB, F = 5, 40 Mbit/s.
    """
    interval, timer, counter, stages, increase = 50e-6, 55e-6, 10_000.0, 5, 5_000.0

    def excess(marking: float) -> float:
        """By how much increases exceed reductions, per second."""
        kept = -log1p(-marking)
        by_timer = rate * marking / expm1(kept * timer * rate)
        by_counter = rate * marking / expm1(kept * counter)
        notifications = -expm1(-kept * interval * rate) / interval
        alpha = -expm1(-kept * timer * rate)
        growth = increase * (
            by_timer * exp(-kept * stages * timer * rate)
            + by_counter * exp(-kept * stages * counter)
        )
        target_less_rate = growth / notifications
        return target_less_rate / 2 * (by_timer + by_counter) - rate * alpha / 2 * notifications

    low, high = 1e-6, 0.5
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


@pytest.mark.parametrize(
    ("marks", "flows", "duration"),
    [
        ("slotted", 2, "800 ms"),
        ("slotted", 4, "200 ms"),
        ("slotted", 8, "600 ms"),
        *(("remembered", flows, "200 ms") for flows in (4, 8, 10, 16)),
    ],
)
def test_queue_marks_and_rates_are_those_of_the_published_fixed_point(
    marks: str, flows: int, duration: str
) -> None:
    """Marks within 50 us of a notification count, and the target grows from the sixth expiry on.

    Both as in the fluid model; in the authors' simulator, the target grows from the fifth expiry
    on. Bound: 10 %. Two flows and the rates of eight vary most, hence
    their longer runs: the two's queue is 9 % shorter, as it is
    often below 5 kB, where it stands for no fewer marks. Outside are two flows whose marks are
    remembered, 16 % below, and 16 flows with slots, 15 % above.
    """
    marking = fixed_point_marking(40e9 / 8000 / flows)
    text = SCENARIO.format(flows=flows, marks=marks, duration=duration)
    result = tr.run(Scenario.from_toml(text))
    port = result.links["port"]
    assert port["queue_packets_mean"] == pytest.approx(5 + 195 * marking / 0.01, rel=0.1)
    marked = port["marks_packets"] / port["arrivals_packets"]
    assert marked == pytest.approx(marking, rel=0.1)
    rates = [flow["throughput_bps"] for flow in result.flows]
    assert rates == pytest.approx([40e9 / flows] * flows, rel=0.1)


def test_the_model_has_the_queues_that_the_guide_quotes() -> None:
    queues = [5 + 195 * fixed_point_marking(40e9 / 8000 / flows) / 0.01 for flows in (2, 4, 8)]
    assert [round(queue) for queue in queues] == [20, 42, 94]
