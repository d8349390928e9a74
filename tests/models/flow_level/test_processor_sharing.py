from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.flow_level.processor_sharing import MODEL, Sharing
from tests.models.links import FIXED, dynamic, failed, flows, link, stream


def chain(load: float, room: float, states: int = 20_000) -> NDArray[np.float64]:
    """Birth and death: arrivals at rate `load`, n flows leave at min(n / room, 1)."""
    n = np.arange(1, states)
    served = np.minimum(n / room, 1.0) if room else np.ones(states - 1)
    weights = np.concatenate(([0.0], np.cumsum(np.log(load / served))))
    shares = np.exp(weights - weights.max())
    found: NDArray[np.float64] = shares / shares.sum()
    return found


@pytest.mark.parametrize("load", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("room", [0, 1, 1.6, 7, 33.3, 500])
def test_against_the_chain(load: float, room: float) -> None:
    shares = chain(load, room)
    n = np.arange(len(shares))
    found = Sharing(load, room)
    limited = n > room
    assert found.flows() == pytest.approx(shares @ n, rel=1e-9)
    assert found.limited_time() == pytest.approx(shares[limited].sum(), rel=1e-8, abs=1e-15)
    assert found.limited_flows() == pytest.approx(shares[limited] @ n[limited], rel=1e-8, abs=1e-14)


def test_without_peak_rates_the_number_is_geometric() -> None:
    """rho / (1 - rho) flows of C (1 - rho) each."""
    made = link(dynamic=(dynamic(4e7),), bdp=1000)
    found = MODEL.predict(made, Requirement())
    assert found.utilization == pytest.approx(0.5)
    assert found.details["present_flows_mean"] == pytest.approx(1)
    assert found.details["bottlenecked_time_fraction"] == pytest.approx(0.5)
    assert found.details["flow_rate_bps_mean"] == pytest.approx(4e7)


def test_paper_s_more_than_four_flows() -> None:
    """Auge and Roberts: at rho = 0.5 the probability of more than 4 flows is only 0.03."""
    assert chain(0.5, 0)[5:].sum() == pytest.approx(0.03, abs=2e-3)
    assert Sharing(0.5, 0).limited_time() == pytest.approx(chain(0.5, 0)[1:].sum())


def test_whole_peak_rates_are_erlang_s_servers() -> None:
    """Erlang's C of s = 5 and a = 4, as tables have it, 0.5541; the number is a + C a / (s - a)."""
    last = 4**5 / factorial(5) * 5
    erlang_c = last / (sum(4**n / factorial(n) for n in range(5)) + last)
    assert erlang_c == pytest.approx(0.5541, abs=1e-4)
    found = Sharing(0.8, 5)
    assert found.flows() == pytest.approx(4 + erlang_c * 0.8 / 0.2)
    # A flow that arrives waits with probability C: n >= 5; fewer than its peak rate: n > 5.
    assert found.limited_time() == pytest.approx(erlang_c * 0.8)


def test_sizes_do_not_matter() -> None:
    """Sharing with room for 2.5, sizes of two phases (mean 1, variance 3.7), by simulation.

    40,000 flows; over seeds the mean number has a deviation of 2 %.
    """
    random = np.random.default_rng(1)
    load, room, count = 0.7, 2.5, 40_000
    arrivals = np.cumsum(random.exponential(1 / load, count))
    small = random.random(count) < 0.9
    sizes = np.where(small, random.exponential(0.55, count), random.exponential(5.05, count))
    sizes /= 0.9 * 0.55 + 0.1 * 5.05
    area, now, at, left = 0.0, 0.0, 0, np.empty(0)
    # With n flows each is served at min(1 / room, 1 / n).
    while at < count:
        rate = min(1 / room, 1 / len(left)) if len(left) else 1.0
        leaves = left.min() / rate if len(left) else np.inf
        step = min(arrivals[at] - now, leaves)
        area, now = area + len(left) * step, now + step
        left = left - rate * step
        if leaves == step:
            left = np.delete(left, left.argmin())
        else:
            left = np.append(left, sizes[at])
            at += 1
    assert area / now == pytest.approx(Sharing(load, room).flows(), rel=0.06)


def test_background_leaves_the_rest() -> None:
    """Streams of 0.4 and elastic flows of 0.3 on 80 Mbit/s: half of what is left."""
    made = link(dynamic=(dynamic(2.4e7),), streams=(stream(3.2e7),), bdp=1000)
    found = MODEL.predict(made, Requirement())
    assert found.utilization == pytest.approx(0.7)
    assert found.details["residual_rate_bps"] == pytest.approx(4.8e7)
    assert found.details["flow_rate_bps_mean"] == pytest.approx(2.4e7)


def test_slower_flows_are_background() -> None:
    """0.2 of flows of 1 Mbit/s, and 0.4 without a peak rate on what they leave."""
    slow = dynamic(1.6e7, 1e6)
    made = link(dynamic=(dynamic(3.2e7), slow), bdp=1000, discipline="fair")
    found = MODEL.predict(made, Requirement())
    assert found.details["residual_load_fraction"] == pytest.approx(0.5)
    assert not failed(
        MODEL.assumptions(link(dynamic=(dynamic(3.2e7, rtt_s=1e-5),), discipline="fair"))
    )
    held_up = link(dynamic=(dynamic(5.6e7), dynamic(1.6e7, 1.2e7)), discipline="fair", bdp=1000)
    assert "flows with a smaller peak rate have it at all times" in failed(
        MODEL.assumptions(held_up)
    )


def test_peak_rate_is_what_flows_get_while_few_are_there() -> None:
    made = link(dynamic=(dynamic(8e6, 8e5),), bdp=1000)
    found = MODEL.predict(made, Requirement()).details
    assert found["flow_rate_bps_mean"] == pytest.approx(8e5, rel=1e-9)
    assert found["bottlenecked_time_fraction"] < 1e-30


@FIXED
@given(st.floats(0.001, 0.999), st.floats(0, 1e5))
def test_predictions_are_in_range(load: float, room: float) -> None:
    found = Sharing(load, room)
    assert 0 <= found.limited_time() <= 1
    assert 0 <= found.limited_flows() <= found.flows()
    # At least as many as without any other, at most as many more as sharing adds.
    alone = load * room
    assert alone * (1 - 1e-9) <= found.flows() <= (alone + load / (1 - load)) * (1 + 1e-9)


def test_says_nothing_of_overload_and_of_permanent_flows_alone() -> None:
    with pytest.raises(NotApplicableError, match=r"the offered load is 1\.25"):
        MODEL.predict(link(dynamic=(dynamic(1e8),), bdp=1000), Requirement())
    with pytest.raises(NotApplicableError, match="no dynamic flows"):
        MODEL.predict(link(flows()), Requirement())


def test_what_it_supposes() -> None:
    made = link(flows(2), dynamic=(dynamic(4e7, poisson=False, rtt_s=1),), bdp=1000)
    assert set(failed(MODEL.assumptions(made))) == {
        "flows arrive as a Poisson process",
        "a fair queue gives flows equal shares",
        "flows last more than 10 round trips",
        "no permanent flows share the link",
    }
