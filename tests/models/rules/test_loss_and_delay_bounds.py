from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.rules.loss_and_delay_bounds import MODEL, harmonic_rtt_s, loss
from tests.models.links import FIXED, failed, flows, link


def test_harmonic_mean_counts_short_round_trips_most() -> None:
    """1 / ((1/50 + 1/150) / 2) = 75 ms."""
    assert harmonic_rtt_s(link(flows(3, 0.05), flows(3, 0.15))) == pytest.approx(0.075)


def test_constant_is_that_of_delayed_acks() -> None:
    """The paper's 0.87 n / sqrt(p) - C T: 870 packets for a flow at 1e-6, 1225 with every ACK."""
    target = Requirement(loss_fraction=1e-6)
    delayed = MODEL.predict(link(flows(packets_per_ack=2), bdp=100), target)
    every = MODEL.predict(link(flows(), bdp=100), target)
    assert delayed.required_packets == pytest.approx(870 - 100, rel=0.01)
    assert every.required_packets == pytest.approx(1225 - 100, rel=0.01)


def test_loss_is_that_of_a_sawtooth_counted_packet_by_packet() -> None:
    """One flow whose mean window fills link and buffer loses one packet of what a cycle sends."""
    peak = 2000
    sent = sum(range(peak // 2, peak))
    mean = sent / (peak - peak // 2)
    made = link(flows(), bdp=mean / 2, limit=mean / 2)
    assert loss(made) == pytest.approx(1 / sent, rel=2e-3)


def test_unequal_round_trips_lose_what_the_sum_of_rates_says() -> None:
    """C = sum of 1.22 / ((T_i + B / C) sqrt(p)) for 50 and 150 ms: the harmonic mean of sums is
    longer than the sum with the harmonic mean, by less the more the buffer adds."""
    for limit, within in [(0, 1e-9), (1000, 0.17), (10_000, 0.06)]:
        made = link(flows(10, 0.05), flows(10, 0.15), bdp=1000, limit=limit)
        queue = limit / made.capacity_pps
        rates = sum(10 * sqrt(1.5) / (trip + queue) for trip in (0.05, 0.15))
        exact = (rates / made.capacity_pps) ** 2
        assert exact <= loss(made) * (1 + 1e-9)
        assert loss(made) == pytest.approx(exact, rel=within)


def test_synchronised_flows_keep_the_link_busy_with_the_harmonic_product() -> None:
    """Equal windows w with sum of w / (T_i + B / C) = C before all halve, and of w / (2 T_i) after.

    For equal round trips B is C T; for unequal ones a little less, so that the rule is safe.
    """

    def needed(trips: tuple[float, float]) -> float:
        mean = 2 / sum(1 / trip for trip in trips)
        w = mean  # 2 flows of w / (2 T) fill a rate of 1
        return float(brentq(lambda q: sum(w / (t + q) for t in trips) - 1, 0, 10, xtol=1e-12))

    assert needed((0.1, 0.1)) == pytest.approx(0.1)
    assert 0.85 * 0.075 < needed((0.05, 0.15)) < 0.075


def test_smallest_limit_limit_meets_both_and_says_what_delay_that_is() -> None:
    made = link(flows(60), bdp=1000, limit=300)
    found = MODEL.predict(made, Requirement(loss_fraction=1e-3))
    limit = found.required_packets
    assert limit == pytest.approx(60 * sqrt(1500) - 1000)
    assert limit is not None
    assert loss(made.with_limit(limit)) == pytest.approx(1e-3)
    assert found.details["required_queue_delay_s_max"] == pytest.approx(0.1 * limit / 1000)
    few = MODEL.predict(link(flows(2), bdp=1000), Requirement(loss_fraction=1e-3))
    assert few.required_packets == pytest.approx(1000)


@FIXED
@given(st.integers(1, 10**6), st.floats(1, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_more_buffer_never_loses_more(count: int, bdp: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    made = link(flows(count), bdp=bdp)
    assert 0 < loss(made.with_limit(high)) <= loss(made.with_limit(low)) <= 1


def test_says_nothing_of_round_trips_without_delay() -> None:
    with pytest.raises(NotApplicableError, match="a round trip takes no time"):
        MODEL.predict(link(flows(1, 0.0)), Requirement())


def test_what_it_supposes() -> None:
    assert not failed(MODEL.assumptions(link(flows(2), bdp=1000)))
    found = failed(MODEL.assumptions(link(flows(500), bdp=1000, limit=500)))
    assert found == {
        "all flows reduce together": "500 flows",
        "windows hold several packets": "3 packets each",
    }
