from math import exp, inf, log

import numpy as np
import pytest

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.flow_level.short_flows import (
    MODEL,
    Numbers,
    bursts,
    decay,
    exact_decay,
    slow_start_bursts,
)
from tailroom.models.flow_level.transparent import MD1
from tests.models.links import dynamic, failed, flows, link, stream


def cut(packets: float, initial_window: int, max_window: float = inf) -> dict[float, float]:
    """The bursts of one flow: how many of each size."""
    found: dict[float, float] = {}
    for sizes, counts in slow_start_bursts(np.array([packets]), initial_window, max_window):
        for size, count in zip(sizes, counts, strict=True):
            found[size] = found.get(size, 0) + count
    return {size: count for size, count in found.items() if count}


def test_bursts_double_and_the_last_is_what_remains() -> None:
    assert cut(62, 2) == {2: 1, 4: 1, 8: 1, 16: 1, 32: 1}
    assert cut(25, 10) == {10: 1, 15: 1}
    assert cut(3, 10) == {3: 1}
    assert cut(30, 10) == {10: 1, 20: 1}


def test_bursts_grow_no_further_than_the_largest_window() -> None:
    """2, 4, 8, then 10s: 14 + 98 * 10 + 6 packets."""
    assert cut(1000, 2, 10) == {2: 1, 4: 1, 8: 1, 10: 98, 6: 1}
    assert cut(21, 10, 4) == {4: 5, 1: 1}
    assert cut(1e9, 10, 1) == {1: 1e9}


def test_bursts_carry_what_is_offered() -> None:
    made = link(dynamic=(dynamic(3e7),), streams=(stream(2e7),), bdp=1000)
    sizes, rates = bursts(made)
    assert sizes @ rates == pytest.approx(5e7 / 8e3)
    # Flows of 10 packets: 2, 4 and 4.
    assert dict(zip(sizes, rates, strict=True)) == pytest.approx({1: 2500, 2: 375, 4: 750})


def work_seen(sizes: Numbers, load: float, arrivals: int) -> Numbers:
    """Packets that a burst finds in M^[X]/D/1, each size as likely, by Lindley's recursion."""
    random = np.random.default_rng(1)
    drawn = random.choice(sizes, arrivals)
    gaps = random.exponential(sizes.mean() / load, arrivals)
    steps = np.concatenate(([0.0], np.cumsum(drawn - gaps)))
    found: Numbers = steps - np.minimum.accumulate(steps)
    return found


@pytest.mark.parametrize(
    ("load", "largest", "times"), [(0.5, 2, 8.6), (0.5, 32, 11.6), (0.8, 2, 2.3), (0.8, 32, 2.7)]
)
def test_only_the_exact_exponent_bounds_the_queue(load: float, largest: int, times: float) -> None:
    """2 million bursts: where the paper's formula says 0.001, P(Q >= x) is so many times that.

    With the exact exponent it is a bound, within a factor of 1.8.
    """
    sizes: Numbers = np.exp2(np.arange(1.0, int(log(largest, 2)) + 1))
    rates = np.ones(len(sizes))
    theta, exact = decay(sizes, rates, load), exact_decay(sizes, rates, load)
    assert exact < theta
    work = work_seen(sizes, load, 2_000_000)
    for said in (0.1, 0.01, 0.001):
        x = log(1 / said) / theta
        seen = np.mean(work >= x)
        assert exp(-exact * x) / 1.8 < seen <= exp(-exact * x)
    assert seen / said == pytest.approx(times, rel=0.15)


def test_single_packets_decay_as_in_m_d_1() -> None:
    """exp(s) is the root of exp(rho (x - 1)) = x."""
    one = np.ones(1)
    for load in (0.1, 0.5, 0.9, 0.99):
        assert exp(exact_decay(one, one, load)) == pytest.approx(MD1(load).decay, rel=1e-9)


def test_heavy_traffic_makes_both_exponents_one() -> None:
    sizes, rates = np.array([2.0, 64.0]), np.array([3.0, 1.0])
    ratio = exact_decay(sizes, rates, 0.9999) / decay(sizes, rates, 0.9999)
    assert ratio == pytest.approx(1, abs=1e-3)


def test_exponent_by_hand_and_required_limit() -> None:
    """Bursts 2, 4, 4: E[X] = 10/3, E[X^2] = 12; at a load of 0.8 theta = 0.5 * 10 / 36."""
    made = link(dynamic=(dynamic(6.4e7),), bdp=1000, limit=30)
    assert made.dynamic_load == pytest.approx(0.8)
    found = MODEL.predict(made, Requirement(loss_fraction=1e-3))
    assert found.loss_fraction == pytest.approx(exp(-30 * 5 / 36))
    assert found.required_packets == 50  # ln(1000) * 36 / 5 = 49.7
    assert found.details["required_bound_packets"] > 50


def test_says_nothing_of_overload_and_permanent_flows() -> None:
    with pytest.raises(NotApplicableError, match=r"the offered load is 1\.25"):
        MODEL.predict(link(dynamic=(dynamic(1e8),), bdp=1000), Requirement())
    with pytest.raises(NotApplicableError, match="2 permanent flows outlast slow start"):
        MODEL.predict(link(flows(2), dynamic=(dynamic(1e7),)), Requirement())
    with pytest.raises(NotApplicableError, match="no dynamic flows"):
        MODEL.predict(link(streams=(stream(1e7),)), Requirement())


def test_what_it_supposes() -> None:
    assert not failed(MODEL.assumptions(link(dynamic=(dynamic(1e7),))))
    slow = link(dynamic=(dynamic(1e7, 1e6, poisson=False, sizes_bytes=(8e6,)),), limit=50)
    assert set(failed(MODEL.assumptions(slow))) == {
        "flows arrive as a Poisson process",
        "access links are no slower than the link",
        "flows end in slow start: link and buffer hold the largest burst",
    }
