from math import ceil, exp, floor, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import poisson

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.flow_level.transparent import (
    MD1,
    MODEL,
    Flows,
    flows_of,
    mm1_waiting,
    required,
)
from tests.models.links import FIXED, dynamic, failed, flows, link, stream


def test_examples_of_auge_and_roberts() -> None:
    """100 packets at 90 %: 1 in 30,000 or fewer. 20 packets at 71 %: 0.001, printed 0.01."""
    nine_tenths = link(streams=(stream(7.2e7),), limit=99)
    assert nine_tenths.stream_load == pytest.approx(0.9)
    found = MODEL.predict(nine_tenths, Requirement(loss_fraction=1 / 30_000))
    assert found.loss_fraction == pytest.approx(2.66e-5, rel=2e-3)
    assert found.required_packets is not None
    assert found.required_packets <= 99
    short = MODEL.predict(link(streams=(stream(0.71 * 8e7),), limit=19), Requirement())
    assert short.loss_fraction == pytest.approx(1.06e-3, rel=2e-3)


def test_a_limit_of_packets_that_wait_is_one_less_than_room_for_packets() -> None:
    """0.5^10 = 9.8e-4 is the first below 1e-3."""
    assert required(0.5, 1e-3) == 9
    assert required(0.5, 0.5) == 1  # 0 would do, but a packet may always wait
    assert required(0.5, 0.0) == inf


@FIXED
@given(st.floats(0.01, 0.999), st.floats(1e-9, 0.9))
def test_smallest_limit_limit_is_the_smallest_that_meets_the_target(
    load: float, loss: float
) -> None:
    limit = required(load, loss)
    assert load ** (limit + 1) <= loss * (1 + 1e-9)
    if limit > 1:
        assert load**limit > loss * (1 - 1e-9)


def md1k_loss(load: float, room: int) -> float:
    """Loss of M/D/1/K from the chain at departures, solved as linear equations."""
    arrivals = poisson.pmf(np.arange(room + 1), load)
    step = np.zeros((room, room))
    for before in range(room):  # left behind: 0 .. K - 1
        start = max(0, before - 1)
        for more in range(room - start):
            step[before, start + more] = arrivals[more]
        step[before, room - 1] += 1 - step[before].sum()
    matrix = np.vstack([step.T - np.eye(room), np.ones(room)])
    right = np.zeros(room + 1)
    right[-1] = 1
    left_empty = np.linalg.lstsq(matrix, right, rcond=None)[0][0]
    # Departures in an idle and service period of mean 1/lambda + 1, or 1.
    return float(1 - 1 / (load + left_empty))


@pytest.mark.parametrize("load", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("room", [1, 2, 5, 12])
def test_md1_loss_is_that_of_the_finite_chain(load: float, room: int) -> None:
    assert MD1(load).loss(room) == pytest.approx(md1k_loss(load, room), abs=1e-12, rel=1e-6)


@pytest.mark.parametrize("load", [1e-3, 0.2, 0.8, 0.99])
def test_md1_is_erlang_s_and_becomes_geometric(load: float) -> None:
    """p0, p1 and p2 as Erlang has them, sum 1, mean of Pollaczek and Khinchine."""
    queue = MD1(load)
    first = queue.probabilities[:3]
    known = [
        1 - load,
        (1 - load) * (exp(load) - 1),
        (1 - load) * exp(load) * (exp(load) - 1 - load),
    ]
    assert first == pytest.approx(known, rel=1e-9)
    assert queue.tail(0) == pytest.approx(1, abs=1e-12)
    mean = sum(queue.tail(j) for j in range(1, 4000))
    assert mean == pytest.approx(load + load**2 / (2 * (1 - load)), rel=1e-9)
    assert exp(load * (queue.decay - 1)) == pytest.approx(queue.decay, rel=1e-12)


def test_mm1_queue_is_that_of_its_chain() -> None:
    for load, room in [(0.3, 1), (0.5, 4), (0.9, 21), (0.99, 200)]:
        weights = load ** np.arange(room + 1)
        waiting = weights[1:] @ np.arange(room) / weights.sum()
        assert mm1_waiting(load, room) == pytest.approx(waiting, rel=1e-8, abs=1e-12)


def excess(mean: float, peak: float, steady: float) -> tuple[float, float]:
    """Probability of overload and part lost, summed over the number of flows."""
    n = np.arange(int(mean + 40 * sqrt(mean) + 60))
    weights: NDArray[np.float64] = poisson.pmf(n, mean)
    over = np.maximum(n * peak + steady - 1, 0)
    return float(weights[over > 1e-12].sum()), float(weights @ over / (mean * peak + steady))


@pytest.mark.parametrize(
    ("mean", "peak", "steady"),
    [(90, 0.0101, 0), (3.3, 0.21, 0.1), (0.4, 0.7, 0.5), (900, 9e-4, 0.1)],
)
def test_overload_is_the_sum_over_the_number_of_flows(
    mean: float, peak: float, steady: float
) -> None:
    found = Flows(mean, peak, steady)
    assert (found.overload(), found.lost()) == pytest.approx(
        excess(mean, peak, steady), rel=1e-9, abs=1e-15
    )


def test_two_groups_count_as_one_with_their_mean_and_variance() -> None:
    """Draws of both numbers; 400,000 of them leave 1 % of the part lost."""
    made = link(dynamic=(dynamic(4e7, 4e6), dynamic(1.6e7, 1e6)), bdp=1000)
    found = flows_of(made)
    random = np.random.default_rng(1)
    rate = 0.05 * random.poisson(10, 400_000) + 0.0125 * random.poisson(16, 400_000)
    assert found.mean * found.peak == pytest.approx(0.7)
    assert sqrt(found.mean) * found.peak == pytest.approx(rate.std(), rel=0.01)
    assert found.lost() == pytest.approx(np.maximum(rate - 1, 0).mean() / 0.7, rel=0.12)
    one = flows_of(link(dynamic=(dynamic(4e7, 4e6),), bdp=1000))
    assert (one.mean, one.peak) == pytest.approx((10, 0.05))


def test_overload_asks_for_more_than_a_buffer() -> None:
    """Room for 100 flows, 90 on average: the normal law says 100.5 is 1.107 deviations, 13.4 %."""
    small = link(dynamic=(dynamic(7.2e7, 8e5),), bdp=1000)
    found = MODEL.predict(small, Requirement(loss_fraction=1e-3))
    assert found.details["present_flows_mean"] == pytest.approx(90)
    assert found.details["overload_time_fraction"] == pytest.approx(0.134, abs=2e-3)
    assert found.required_packets == inf
    assert "in less than 1 % of the time more flows are in progress than fit" in failed(
        MODEL.assumptions(small)
    )


@FIXED
@given(st.floats(1e5, 7.9e7), st.floats(1e3, 7e7), st.floats(0, 1e4), st.floats(0, 1e4))
def test_predictions_are_in_range_and_more_buffer_never_loses_more(
    rate: float, peak: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    made = link(dynamic=(dynamic(rate, peak),), bdp=1000)
    small, large = (MODEL.predict(made.with_limit(x), Requirement()) for x in (low, high))
    assert small.loss_fraction is not None
    assert large.loss_fraction is not None
    assert 0 <= large.loss_fraction <= small.loss_fraction <= 1
    assert large.queue_packets_mean is not None
    assert 0 <= large.queue_packets_mean <= high
    assert small.utilization == pytest.approx(rate / made.rate_bps)
    # M/D/1 counts whole packets.
    whole = MODEL.predict(made.with_limit(floor(low)), Requirement()).details
    assert 0 <= small.details["packet_loss_md1_fraction"] <= whole["packet_loss_fraction"]


def test_flows_with_a_limited_window_count_with_their_rate() -> None:
    """10 flows of 20 packets in 100 ms on 1000 packets in 100 ms."""
    made = link(flows(10, max_window=20), bdp=1000, limit=9)
    assert MODEL.predict(made, Requirement()).loss_fraction == pytest.approx(0.2**10)


def test_says_nothing_of_flows_that_take_what_they_get() -> None:
    with pytest.raises(NotApplicableError, match="limits the flows of reno"):
        MODEL.predict(link(flows(), streams=(stream(1e6),)), Requirement())
    with pytest.raises(NotApplicableError, match="dynamic have no peak rate"):
        MODEL.predict(link(dynamic=(dynamic(1e6),)), Requirement())
    with pytest.raises(NotApplicableError, match=r"the offered load is 1\.25"):
        MODEL.predict(link(streams=(stream(1e8),), bdp=1000), Requirement())


def test_what_it_supposes() -> None:
    assert not failed(MODEL.assumptions(link(dynamic=(dynamic(4e7, 4e5),), bdp=1000)))
    found = failed(MODEL.assumptions(link(dynamic=(dynamic(4e7, 4e7, poisson=False),), bdp=1000)))
    assert set(found) == {
        "flows are a tenth of the link or slower",
        "flows and packets arrive as Poisson processes",
        "in less than 1 % of the time more flows are in progress than fit",
    }


def test_hundred_packets_are_what_the_logarithm_says() -> None:
    assert required(0.9, 1 / 30_000) == ceil(log(30_000) / log(1 / 0.9)) - 1 == 97
