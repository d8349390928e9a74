from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailroom.models import Requirement
from tailroom.models.rules.square_root_rule import MODEL, SPREAD, quantile, required, utilization
from tests.models.links import FIXED, PACKET, failed, flows, link


@pytest.mark.parametrize(("times", "expected"), [(0.5, 0.795), (1, 0.987), (2, 0.9999)])
def test_utilization_of_400_flows(times: float, expected: float) -> None:
    """The bound at multiples of BDP / sqrt(n), computed by hand from tables of erf."""
    bdp = 1e4
    assert utilization(times * bdp / 20, bdp, 400) == pytest.approx(expected, abs=1e-3)


def test_deviation_is_that_of_a_sawtooth_counted_round_by_round() -> None:
    windows = []
    window = 1000.0
    for _ in range(200_000):
        windows.append(window)
        window = window + 1 if window < 2000 else window / 2
    assert np.std(windows) / np.mean(windows) == pytest.approx(SPREAD, rel=2e-3)


def test_bound_is_the_probability_that_a_sum_of_sawteeth_stays_within_half_the_buffer() -> None:
    """20,000 draws of 400 windows: the share of a probability of 0.8 has a deviation of 0.003."""
    flows, bdp = 400, 1e4
    limit = 0.5 * bdp / sqrt(flows)
    mean = (bdp + limit) / flows
    draws = np.random.default_rng(1).uniform(2 / 3 * mean, 4 / 3 * mean, (20_000, flows))
    within = np.abs(draws.sum(axis=1) - flows * mean) < limit / 2
    assert within.mean() == pytest.approx(utilization(limit, bdp, flows), abs=0.009)


def test_quantile_is_3_3_deviations_for_a_thousandth() -> None:
    """As Wischik and McKeown print it: 3.3 * 0.192 C T / sqrt(n)."""
    assert quantile(1e-3, 1e4, 400) == pytest.approx(3.3 * 0.192 * 1e4 / 20, rel=0.01)


def test_10000_flows_save_99_percent_of_the_buffer() -> None:
    """Appenzeller, Keslassy and McKeown's abstract; its other example is 10 Mbit of 2.5 Gbit."""
    bdp = 2.5e9 / (8 * PACKET)
    saved = MODEL.predict(link(flows(10_000), bdp=bdp), Requirement())
    assert (saved.required_packets or 0) / bdp == pytest.approx(0.01)
    many = MODEL.predict(link(flows(50_000), bdp=bdp), Requirement())
    bits = 8 * PACKET * (many.required_packets or 0)
    assert 10e6 < bits < 12e6


@pytest.mark.parametrize(("count", "bdps"), [(1, 1.0), (2, 0.7071), (100, 0.1)])
def test_the_rule_is_not_the_limit_of_its_bound(count: int, bdps: float) -> None:
    """For few flows the bound asks for many times C T / sqrt(n)."""
    found = MODEL.predict(link(flows(count), bdp=1000), Requirement())
    assert found.required_packets == pytest.approx(1000 * bdps, rel=1e-4)
    assert found.required_for == "C T / sqrt(n)"
    assert found.details["erf_bound_packets"] == required(0.98, 1000, count)
    none = MODEL.predict(link(flows(1), bdp=1000), Requirement(utilization=0.999_999)).details
    assert "erf_bound_packets" not in none


@FIXED
@given(st.floats(0.01, 0.999), st.floats(1, 1e6), st.integers(10, 10**6))
def test_smallest_limit_limit_is_where_the_bound_is_the_target(
    target: float, bdp: float, flows: int
) -> None:
    limit = required(target, bdp, flows)
    if limit < float("inf"):
        assert utilization(limit, bdp, flows) == pytest.approx(target, rel=1e-9)
    else:
        # Even a buffer that dwarfs the bandwidth-delay product does not reach it.
        assert utilization(1e12 * bdp, bdp, flows) < target


@FIXED
@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 10**6))
def test_more_buffer_and_more_flows_never_cost_utilization(
    one: float, other: float, flows: int
) -> None:
    low, high = sorted((one, other))
    small, large = utilization(low, 1e4, flows), utilization(high, 1e4, flows)
    assert 0 <= small <= large <= 1
    assert small <= utilization(low, 1e4, 2 * flows)


def test_limits() -> None:
    assert utilization(0, 1e4, 400) == 0
    assert utilization(100, 1e4, 10**9) == pytest.approx(1, abs=1e-12)


def test_what_it_supposes() -> None:
    many = link(flows(200, rtt_s=0.08), flows(200, rtt_s=0.12), bdp=1e4, limit=500)
    assert not failed(MODEL.assumptions(many))
    few = link(flows(50), bdp=100, limit=20)
    found = failed(MODEL.assumptions(few))
    assert found == {
        "more than 100 flows": "50 flows",
        "round trips differ": "all take 100 ms",
        "windows are larger than 4 packets": "2.4 packets",
    }
