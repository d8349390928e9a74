from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import lambertw

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.rules.stability import MODEL, fixed_point, margin, window
from tests.models.links import FIXED, failed, flows, link


@pytest.mark.parametrize(("share", "packets"), [(2, 5), (20, 1), (20, 20), (1000, 60)])
def test_windows_settle_where_losses_take_what_growth_gives(share: float, packets: float) -> None:
    """The root of p = (w / share)^B, w^2 p = 2, by bisection."""
    root = brentq(lambda w: w**2 * (w / share) ** packets - 2, 1e-3, share, xtol=1e-13)
    assert window(share, packets) == pytest.approx(root, rel=1e-10)
    load, loss = fixed_point(share, packets)
    assert load**packets == pytest.approx(loss, rel=1e-10)


def swing(share: float, packets: float, rounds: int = 300, steps: int = 200) -> float:
    """By what factor a small disturbance has grown when Reno's equation is integrated.

    dw/dt = w(t-1) (1/w - p(t-1) w / 2), time in round trips, by Heun's method.
    """
    settled = window(share, packets)
    path = np.full((rounds + 1) * steps + 1, settled)
    path[: steps + 1] = settled * 1.001

    def slope(w: float, before: float) -> float:
        return float(before * (1 / w - (before / share) ** packets * w / 2))

    for at in range(steps, len(path) - 1):
        first = slope(path[at], path[at - steps])
        second = slope(path[at] + first / steps, path[at - steps + 1])
        path[at + 1] = path[at] + (first + second) / (2 * steps)
    return float(np.abs(path[-20 * steps :] - settled).max() / (0.001 * settled))


@pytest.mark.parametrize("share", [5.0, 20.0])
def test_border_is_where_the_delayed_equation_begins_to_swing(share: float) -> None:
    border = brentq(lambda packets: margin(share, packets) - 1, 2.001, 10 * share)
    assert swing(share, 0.9 * border) < 0.2
    assert swing(share, 1.1 * border) > 20


@pytest.mark.parametrize("packets", [2.2, 4.0, 30.0])
def test_border_is_where_the_characteristic_root_is_imaginary(packets: float) -> None:
    """u' = -a u - b u(t - d) decays as exp(l t), l = W(-b d exp(a d)) / d - a, of Lambert's W."""
    a, b = 2 / window(20.0, packets), packets / window(20.0, packets)
    for times, growth in [(0.99, -1), (1.0, 0), (1.01, 1)]:
        delay = times * margin(20.0, packets)
        root = complex(lambertw(-b * delay * np.exp(a * delay))) / delay - a
        assert root.imag != 0
        assert np.sign(round(root.real, 12)) == growth


def test_two_packets_swing_at_no_delay() -> None:
    assert margin(5.0, 2.0) == float("inf")
    assert swing(5.0, 2.0, rounds=100) < 1e-6


def test_border_tends_to_pi_w_over_two() -> None:
    """arccos(-2/B) / sqrt(B^2 - 4) tends to pi / (2 B)."""
    packets = 5000.0
    expected = window(1000.0, packets) * np.pi / (2 * packets)
    assert margin(1000.0, packets) == pytest.approx(expected, rel=1e-3)


def test_largest_stable_limit_is_the_last_one() -> None:
    made = link(flows(200), bdp=4000, limit=19)
    largest = MODEL.predict(made, Requirement()).details["largest_stable_packets"]
    assert margin(20.0, largest + 1) > 1 >= margin(20.0, largest + 2)
    assert "windows settle" not in failed(MODEL.assumptions(made.with_limit(largest)))
    assert "windows settle" in failed(MODEL.assumptions(made.with_limit(largest + 1)))


@FIXED
@given(st.floats(1.5, 1e5), st.floats(0, 1e4), st.floats(0, 1e4))
def test_more_buffer_never_costs_utilization_nor_loses_more(
    share: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    load, loss = fixed_point(share, low + 1)
    more_load, less_loss = fixed_point(share, high + 1)
    assert 0 < load * (1 - loss) <= more_load * (1 - less_loss) * (1 + 1e-12) < 1 + 1e-9
    assert 0 < less_loss <= loss * (1 + 1e-9) < 1


def test_smallest_limit_limit_is_the_smallest_that_reaches_the_target() -> None:
    made = link(flows(200), bdp=4000)
    target = Requirement(utilization=0.9)
    limit = MODEL.predict(made, target).required_packets
    assert limit is not None
    for tried, reached in ((limit, True), (limit - 1, False)):
        found = MODEL.predict(made.with_limit(tried), target).utilization
        assert found is not None
        assert (found >= 0.9) == reached


def test_says_nothing_where_windows_are_below_two_packets() -> None:
    with pytest.raises(NotApplicableError, match=r"1\.4 packets of the bandwidth-delay product"):
        MODEL.predict(link(flows(1000), bdp=1400), Requirement())
    MODEL.predict(link(flows(1000), bdp=1001 * sqrt(2)), Requirement())
