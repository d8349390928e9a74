import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.rules.bbr_buffer import (
    MODEL,
    in_flight_cap,
    loss_based_share,
    probing_fraction,
)
from tests.models.links import FIXED, failed, flows, link


@pytest.mark.parametrize(("bdp", "limit", "count"), [(33, 1067, 1), (208, 833, 4), (1e4, 4e4, 10)])
def test_share_is_where_the_window_bound_meets_what_bbr_has_in_flight(
    bdp: float, limit: float, count: int
) -> None:
    """2 (1 - p) (p q + 4 N + BDP) = (1 - p) (q + BDP): Ware et al. 2019, Eqs. 7 and 8."""

    def excess(p: float) -> float:
        return 2 * (1 - p) * (p * limit + 4 * count + bdp) - (1 - p) * (limit + bdp)

    root = brentq(excess, 0, 0.9, xtol=1e-13)
    assert loss_based_share(bdp, limit, count) == pytest.approx(root, abs=1e-9)


def test_deep_buffers_leave_half_however_many_flows_there_are() -> None:
    assert loss_based_share(100, 1e9, 1) == pytest.approx(0.5, abs=1e-6)
    shares = [
        MODEL.predict(link(flows(1, 0.1, "bbr1"), flows(many), limit=9000), Requirement()).details
        for many in (1, 16)
    ]
    assert shares[0]["bbr_share_fraction"] == pytest.approx(shares[1]["bbr_share_fraction"])


def test_one_bandwidth_delay_product_leaves_nothing() -> None:
    assert loss_based_share(1000, 1000, 1) == 0
    assert loss_based_share(1000, 0, 1) == 0


def test_probing_takes_what_a_full_queue_and_200_ms_last() -> None:
    """4 BDPs of 100 ms, one round trip and 200 ms: 0.7 s of 10 s."""
    assert probing_fraction(link(flows(1, 0.1, "bbr1"), limit=4000)) == pytest.approx(0.07)


def test_several_flows_alone_fill_one_bandwidth_delay_product() -> None:
    several = link(flows(4, 0.1, "bbr1"), limit=2000)
    found = MODEL.predict(several, Requirement())
    assert found.queue_packets_mean == pytest.approx(1000)
    assert found.queue_delay_s_mean == pytest.approx(0.1)
    assert found.required_packets == pytest.approx(1500)
    assert MODEL.predict(several.with_limit(300), Requirement()).queue_packets_mean == 300


def test_so_many_that_they_cannot_empty_the_queue_have_more_in_flight() -> None:
    """Ware et al. 2019, Fig. 6: 64 flows at 15 Mbit/s and 40 ms (50 packets) keep 256 there."""
    assert in_flight_cap(50, 64) == 512
    assert in_flight_cap(50, 12) == 100


def test_one_flow_alone_needs_a_quarter() -> None:
    found = MODEL.predict(link(flows(1, 0.1, "bbr1")), Requirement())
    assert found.required_packets == pytest.approx(250)
    assert found.queue_packets_mean is None


@FIXED
@given(st.floats(1, 1e6), st.floats(0, 1e7), st.integers(1, 10_000))
def test_share_is_below_half_and_grows_with_the_buffer(
    bdp: float, limit: float, count: int
) -> None:
    share = loss_based_share(bdp, limit, count)
    assert 0 <= share < 0.5
    assert share <= loss_based_share(bdp, 1.1 * limit, count) + 1e-12


def test_says_nothing_without_bbr() -> None:
    with pytest.raises(NotApplicableError, match="no BBRv1 flow"):
        MODEL.predict(link(flows(1)), Requirement())


def test_what_it_supposes() -> None:
    good = link(flows(2, 0.1, "bbr1"), flows(2, 0.1, "cubic"), limit=2000)
    assert not failed(MODEL.assumptions(good))
    bad = link(flows(2, 0.05, "bbr1"), flows(2, 0.15, "vegas"), limit=500)
    assert set(failed(MODEL.assumptions(bad))) == {
        "flows run bbr1 or cubic or reno",
        "flows have one round trip time",
        "the buffer holds 1.5 bandwidth-delay products",
    }
