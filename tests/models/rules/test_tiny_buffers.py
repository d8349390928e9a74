from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.rules.tiny_buffers import MODEL, kept, required
from tests.models.links import FIXED, failed, flows, link, stream


def test_nine_packets_of_a_half_loaded_link_keep_nine_tenths_of_ten_packet_windows() -> None:
    """log2(10^2 / (2 * 0.1)) = log2(500) = 8.97: 9 packets, one of them being sent."""
    assert required(0.5, 0.9, 10) == 8
    assert kept(0.5, 9, 10) == pytest.approx(1 - 50 / 512)


def mean_window(bound: int, loss: float, rounds: int, seed: int) -> float:
    """Reno with independent losses and a bounded window, round by round."""
    draws = np.random.default_rng(seed).random(rounds)
    window, total = float(bound), 0.0
    for draw in draws:
        total += window
        lost = draw > (1 - loss) ** window
        window = max(1.0, window / 2) if lost else min(float(bound), window + 1)
    return total / rounds


@pytest.mark.parametrize(("load", "packets"), [(0.5, 12), (0.8, 30)])
def test_bound_holds_for_reno_and_a_loss_costs_a_quarter_of_what_it_supposes(
    load: float, packets: int
) -> None:
    """Halving loses W^2 / 8 packets, not W^2 / 2; p W^2 / 8 = 0.01 to 0.05 here."""
    bound = 16
    loss = load**packets
    share = mean_window(bound, loss, 200_000, seed=1) / bound
    bounded = kept(load, packets, bound)
    assert bounded < share < 1
    assert (1 - bounded) / (1 - share) == pytest.approx(4, abs=0.9)


@FIXED
@given(st.floats(0.05, 0.99), st.floats(0.01, 0.999), st.floats(1, 1e4))
def test_smallest_limit_limit_is_the_smallest_that_keeps_the_share(
    load: float, share: float, window: float
) -> None:
    limit = required(load, share, window)
    assert kept(load, limit + 1, window) >= share - 1e-9
    if limit > 1:
        assert kept(load, limit, window) < share + 1e-9


def test_prediction_counts_the_packet_in_transmission() -> None:
    """Ten flows of 1 Mbit/s on 80 Mbit/s at 100 ms: windows up to 12.5 packets, a load of 1/8."""
    made = link(flows(10, access_rate_bps=1e6), bdp=1000, limit=5)
    found = MODEL.predict(made, Requirement(utilization=0.9))
    assert found.details["load_fraction"] == pytest.approx(1 / 8)
    assert found.details["window_packets_max"] == pytest.approx(12.5)
    assert found.loss_fraction == pytest.approx(8.0**-6)
    assert found.utilization == pytest.approx((1 - 8.0**-6 * 12.5**2 / 2) / 8)
    # log8(12.5^2 / 0.2) = 3.2
    assert found.required_packets == 3


def test_other_traffic_loses_packets_too() -> None:
    """10 Mbit/s of flows, of which the bound says nothing, and 60 of a stream, on 80 Mbit/s."""
    made = link(flows(10, access_rate_bps=1e6), bdp=1000, limit=5, streams=(stream(60e6),))
    found = MODEL.predict(made, Requirement(utilization=0.9))
    assert found.details["kept_fraction"] == 0
    assert found.utilization == pytest.approx(60 / 80 * (1 - (70 / 80) ** 6))


def test_says_nothing_of_flows_that_can_fill_the_link() -> None:
    with pytest.raises(NotApplicableError, match="neither access rate nor window limits"):
        MODEL.predict(link(flows(10)), Requirement())
    with pytest.raises(NotApplicableError, match=r"the offered load is 1\.25"):
        MODEL.predict(link(flows(100, access_rate_bps=1e6), bdp=1000), Requirement())


def test_what_it_supposes() -> None:
    slow = link(flows(10, access_rate_bps=0.5e6), bdp=1000)
    assert not failed(MODEL.assumptions(slow))
    paced = link(flows(10, access_rate_bps=5e6, pacing=True), bdp=1000)
    assert not failed(MODEL.assumptions(paced))
    bursty = link(
        flows(10, access_rate_bps=inf, max_window=10), bdp=1000, streams=(stream(1e6, "on_off"),)
    )
    assert failed(MODEL.assumptions(bursty)) == {
        "flows are paced, or access links are a hundred times slower than the link": (
            "reno unpaced, with access links of any rate"
        ),
        "nothing else comes in bursts": "flows that do",
    }
