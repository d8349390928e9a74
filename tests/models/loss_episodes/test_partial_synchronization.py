import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tailroom.errors import NotApplicableError
from tailroom.models import MODELS, Bottleneck, Requirement
from tailroom.models.bottleneck import FlowClass
from tailroom.models.loss_episodes import episodes
from tailroom.models.loss_episodes.partial_synchronization import (
    MODEL,
    at_limit,
    edge_packets,
    exposure_of,
    filled_share,
    utilization,
)
from tailroom.models.window_laws import law_of
from tests.models.links import failed, flows, link

HELD_OUT = Path(__file__).with_name("partial_synchronization_held_out.csv")
GIGABIT = 125_000
"""Packets of 1000 bytes per second."""
CAPACITIES = {"3": GIGABIT, "4": 2.5 * GIGABIT}


def made(
    control: str = "highspeed",
    rtts_ms: tuple[float, ...] = tuple(np.linspace(115.5, 124.5, 10)),
    limit: float = 1249,
    capacity_pps: float = GIGABIT,
    **hosts: Any,
) -> Bottleneck:
    """Flows of these RTTs; by default those of Barman's Figure 3."""
    classes: list[FlowClass] = [flows(1, rtt / 1e3, control, **hosts) for rtt in rtts_ms]
    return replace(link(*classes, limit=limit), rate_bps=8000 * capacity_pps)


def held_out() -> list[tuple[Bottleneck, float]]:
    """Simulations that no constant was fitted to: Figure 4, Reno, 3 and 30 flows."""
    with HELD_OUT.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return [
        (
            made(
                row["congestion"],
                tuple(float(rtt) for rtt in row["rtts_ms"].split()),
                float(row["limit_packets"]),
                CAPACITIES[row["figure"]],
            ),
            float(row["utilization"]),
        )
        for row in rows
    ]


def test_held_out_simulations_above_the_cliff_are_within_3_points() -> None:
    links = [(at, measured) for at, measured in held_out()]
    above = [
        utilization(at, at.limit_packets) - measured
        for at, measured in links
        if at.limit_packets > 1.5 * edge_packets(at) and at.limit_packets > 300
    ]
    assert len(above) > 40
    assert np.max(np.abs(above)) < 0.035
    assert np.mean(np.abs(np.array(above)) <= 0.03) > 0.95


def test_held_out_simulations_far_below_the_edge_are_within_6_points() -> None:
    below = [
        utilization(at, at.limit_packets) - measured
        for at, measured in held_out()
        if at.limit_packets < 0.5 * edge_packets(at) and at.flow_count > 3
    ]
    assert len(below) > 10
    assert np.max(np.abs(below)) < 0.06
    assert np.median(np.abs(below)) < 0.03


@pytest.mark.parametrize("control", ["reno", "highspeed"])
@pytest.mark.parametrize("limit", [500, 2000, 6000])
def test_flows_that_all_lose_at_once_are_the_synchronised_sawtooth(
    control: str, limit: float
) -> None:
    """The sawtooth has neither the round trip of the loss nor that of the recovery."""
    at = made(control, (120.0,) * 10, limit)
    expected = MODELS["sawtooth"].predict(at, Requirement()).utilization
    found = at_limit(at, limit, share=1.0)
    assert found.share == 1
    assert found.utilization == pytest.approx(expected, abs=0.006)


def test_one_reno_flow_without_a_buffer_follows_the_sum_by_hand() -> None:
    """1000 packets: 500 round trips from 500 to 1000 with a mean of 0.75, one before with 1 and one
    after with 0.5: (375 + 1 + 0.5) / 502 = 0.75."""
    at = made("reno", (100.0,), 0, capacity_pps=10_000)
    found = at_limit(at, 0)
    assert found.utilization == pytest.approx(0.75, abs=0.002)
    assert found.cycle_s == pytest.approx(50.2, abs=0.3)
    assert found.growth_packets == pytest.approx(1, abs=1e-9)
    assert found.windows_packets == pytest.approx(1000, abs=2)


def test_one_reno_flow_with_a_buffer_of_a_bdp_fills_the_link() -> None:
    at = made("reno", (100.0,), 1000, capacity_pps=10_000)
    found = at_limit(at, 1000)
    assert found.utilization == pytest.approx(1, abs=1e-3)
    # From 1000 to 2000 packets by one per round trip, which lasts as long as the window.
    assert found.cycle_s == pytest.approx(sum(range(1000, 2000)) / 1e4, rel=0.01)
    assert found.queue_packets_mean == pytest.approx(555.6, abs=5)


def test_losses_of_one_flow_at_a_time_hardly_lower_the_sum_of_the_windows() -> None:
    """One of 50 Reno flows halves: the sum falls by one in a hundred."""
    at = made("reno", (100.0,) * 50, 0, capacity_pps=100_000)
    found = at_limit(at, 0, share=1e-9)
    assert found.share == pytest.approx(1 / 50)
    assert found.utilization == pytest.approx(1, abs=0.008)


def test_larger_shares_lower_the_utilization() -> None:
    at = made()
    found = [at_limit(at, 1249, share=share).utilization for share in (0.2, 0.5, 0.8, 1.0)]
    assert np.all(np.diff(found) < -0.005)


def test_losses_per_flow_follow_the_growth_of_its_window() -> None:
    """Reno grows by 1: 0.5 losses, so that 1 - exp(-0.5) = 39 % of the flows lose."""
    assert exposure_of(law_of(flows(1)))(np.array([[100.0]]), np.array([[0.1]])) == 0.5
    at = made("reno", (100.0,) * 50, capacity_pps=100_000)
    assert at_limit(at, 5000).share == pytest.approx(0.3935, abs=0.01)


def test_edge_follows_the_formula_by_hand() -> None:
    """15,000 packets, 1500 per flow: burst_cliff's edge is 0.151 * 15,000 / 1500^0.2 + 10^0.4 =
    527.1. RTTs of 115.5, ... 124.5 ms vary by 2.872 / 120 = 0.02394: 1.35 (1 - exp(-0.6137)) =
    0.6192."""
    assert edge_packets(made()) == pytest.approx(326.4, abs=0.5)


def test_half_of_the_rest_is_filled_on_the_edge() -> None:
    at = made()
    edge = edge_packets(at)
    far_below, on_edge = (filled_share(at, limit) for limit in (edge / 3, edge))
    assert far_below < 0.3
    assert on_edge == pytest.approx((1 + 0.6177) / 2, abs=0.15)
    assert filled_share(at, 3 * edge) > 0.999


def test_paced_flows_need_few_packets() -> None:
    at = made(pacing=True)
    assert filled_share(at, 100) > 0.95
    assert filled_share(made(), 100) < 0.3


def test_the_same_link_always_has_the_same_answer() -> None:
    assert utilization(made(), 1249) == utilization(made(), 1249)


def test_a_larger_buffer_does_not_lower_the_utilization() -> None:
    at = made()
    found = [utilization(at, limit) for limit in (50, 200, 400, 800, 1600, 3200, 12_800)]
    assert np.all(np.diff(found) > -0.001)
    assert found[-1] == pytest.approx(1, abs=1e-3)


def test_a_buffer_far_above_the_bdp_is_full_and_not_more_than_full() -> None:
    """Sums of rounded numbers once gave a utilization above 1."""
    for limit in (1169, 6021, 11_242, 22_695, 62_605):
        at = made(rtts_ms=(1.0, 1.0), limit=limit, capacity_pps=155.4)
        found = at_limit(at, limit)
        assert found.utilization <= 1
        assert found.queue_packets_mean <= limit


def test_required_limit_has_the_target() -> None:
    at = made()
    need = MODEL.predict(at, Requirement(utilization=0.95)).required_packets
    assert need is not None
    assert utilization(at, need) >= 0.95 > utilization(at, 0.97 * need)


def test_queue_and_loss_are_left_open_below_the_cliff() -> None:
    above, below = (MODEL.predict(made(limit=limit), Requirement()) for limit in (1249, 200))
    assert above.queue_packets_mean is not None
    # About 100 packets of growth in 5 s at 125,000 packets per second.
    assert above.loss_fraction == pytest.approx(1.7e-4, rel=0.15)
    assert below.queue_packets_mean is None
    assert below.loss_fraction is None


def test_controls_without_a_fitted_law_and_many_flows_are_refused() -> None:
    target = Requirement()
    for at, words in (
        (made("cubic"), "fitted for reno and highspeed"),
        (link(flows(3), flows(3, congestion="highspeed")), "highspeed, reno"),
        (link(flows(201)), "201 flows"),
        (link(flows(3), flows(3, pacing=True)), "some flows are paced"),
    ):
        with pytest.raises(NotApplicableError, match=words):
            MODEL.predict(at, target)


def test_names_the_assumptions_that_fail() -> None:
    at = link(flows(10, access_rate_bps=1e6, send_burst=4, packets_per_ack=2), bdp=1000, limit=10)
    statements = " ".join(failed(MODEL.assumptions(at)))
    for words in ("round trips differ", "each packet", "one by one", "access links"):
        assert words in statements
    assert not failed(MODEL.assumptions(made()))
    near = failed(MODEL.assumptions(made(limit=330)))
    assert near == {
        "the buffer is not near the cliff's edge, where runs differ": "330 packets, the edge is at "
        "326.4"
    }


@pytest.mark.parametrize("control", ["reno", "highspeed"])
def test_a_prediction_at_another_limit_follows_the_windows_once_more(
    monkeypatch: pytest.MonkeyPatch, control: str
) -> None:
    """The search for the required limit is the same, and none of its limits is followed again."""
    followed: list[float] = []
    run = episodes.run

    def counted(at: episodes.Link, exposure: episodes.Exposure) -> episodes.Episodes:
        followed.append(at.limit_packets)
        return run(at, exposure)

    monkeypatch.setattr(episodes, "run", counted)
    here = made(control, (20.0, 21.0, 23.0), 57, 1_000)
    first = MODEL.predict(here, Requirement())
    assert followed[0] == 57
    followed.clear()
    second = MODEL.predict(here.with_limit(58), Requirement())
    assert set(followed) <= {58}
    assert second.required_packets == first.required_packets
    assert second.utilization != first.utilization
