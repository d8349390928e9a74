from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailroom.errors import NotApplicableError
from tailroom.models import Bottleneck, Requirement
from tailroom.models.rules.dctcp_threshold import (
    MODEL,
    THRESHOLD_BDP,
    amplitude,
    queue_mean,
    utilization,
)
from tests.models.links import FIXED, failed, flows, link


def made(count: int = 2, threshold: float = 40, limit: float = 1000) -> Bottleneck:
    """The paper's 10 Gbit/s and 100 us, 125 packets of 1000 B."""
    return link(
        flows(count, 1e-4, "dctcp", {"gain": 1 / 16}, ecn=True),
        bdp=125,
        limit=limit,
        rtt_s=1e-4,
        discipline="step_mark",
        amounts={"threshold": threshold},
    )


def test_a_seventh_is_the_largest_threshold_at_which_some_number_of_flows_empties_the_queue() -> (
    None
):
    """Smallest threshold whose lowest queue K + N - A is not negative for any N, by bisection over
    a scan of N."""
    bdp = 70_000.0
    numbers = np.arange(1.0, 40_000.0)
    low, high = 0.0, bdp
    while high - low > 1e-6:
        middle = (low + high) / 2
        lowest = middle + numbers - np.sqrt(2 * numbers * (bdp + middle)) / 2
        low, high = (low, middle) if lowest.min() >= 0 else (middle, high)
    assert high == pytest.approx(THRESHOLD_BDP * bdp, rel=1e-3)


def counted(flows: int, bdp: float, threshold: float, gain: float = 1 / 64) -> tuple[float, float]:
    """Lowest and highest packets in flight of DCTCP flows in step, round by round.

    In a round trip that finds more than the threshold all packets are marked; the estimate is
    moved and the windows fall one round trip later.
    """
    window, alpha = (bdp + threshold) / flows, 0.3
    sent = marked = 0.0
    lowest, highest = np.inf, 0.0
    for cycle in range(3000):
        while flows * window <= bdp + threshold:
            sent += window
            window += 1
        sent, marked = sent + window, window
        # The estimate as the share of packets, over many cycles.
        alpha += 4 * gain * (marked / sent - alpha)
        if cycle > 1000:
            highest = max(highest, flows * window)
            lowest = min(lowest, flows * window * (1 - alpha / 2))
        window *= 1 - alpha / 2
        sent = 0.0
    return lowest, highest


@pytest.mark.parametrize(
    ("count", "bdp", "threshold"), [(1, 1000, 200), (2, 5000, 800), (10, 9e3, 2e3)]
)
def test_swing_is_that_of_windows_counted_round_by_round(
    count: int, bdp: float, threshold: float
) -> None:
    """alpha is small, so that Eq. 8 leaves out terms of its order: 4 to 9 % of the swing here.

    And windows are whole packets a round: the highest point may be one packet a flow lower.
    """
    lowest, highest = counted(count, bdp, threshold)
    assert highest - lowest == pytest.approx(amplitude(bdp, threshold, count), rel=0.12)
    assert bdp + threshold < highest <= bdp + threshold + count


@pytest.mark.parametrize(("lowest", "highest"), [(60, 90), (60, 140), (100, 140)])
def test_utilization_and_queue_by_stepping_through_a_cycle(lowest: float, highest: float) -> None:
    bdp = 100.0
    w = np.linspace(lowest, highest, 100_001)
    trip = np.maximum(w, bdp)
    assert utilization(lowest, highest, bdp) == pytest.approx(w.sum() / trip.sum(), rel=1e-4)
    queue = (np.maximum(w - bdp, 0) * trip).sum() / trip.sum()
    assert queue_mean(lowest, highest, bdp) == pytest.approx(queue, rel=1e-3, abs=1e-9)


def test_paper_s_figure_12() -> None:
    """K = 40, N = 2, 10 Gbit/s, 100 us: the queue peaks at K + N."""
    found = MODEL.predict(made(2), Requirement()).details
    assert found["queue_packets_max"] == pytest.approx(42)
    assert found["amplitude_packets"] == pytest.approx(sqrt(2 * 2 * 165) / 2)
    assert found["period_round_trips"] == pytest.approx(sqrt(2 * 165 / 2) / 2)
    assert found["required_threshold_packets"] == pytest.approx(125 / 7)


def test_low_threshold_costs_utilization() -> None:
    assert MODEL.predict(made(2, 40), Requirement()).utilization == 1
    low = MODEL.predict(made(2, 2), Requirement()).utilization
    assert low is not None
    assert 0.9 < low < 1


@FIXED
@given(st.integers(1, 1000), st.floats(0, 1e4), st.floats(0, 1e4))
def test_predictions_are_in_range(count: int, threshold: float, limit: float) -> None:
    found = MODEL.predict(made(count, threshold, limit), Requirement())
    assert found.utilization is not None
    assert found.queue_packets_mean is not None
    assert 0 < found.utilization <= 1
    assert 0 <= found.queue_packets_mean <= limit
    assert found.details["queue_packets_min"] <= found.details["queue_packets_max"]


def test_says_nothing_without_a_threshold_or_dctcp() -> None:
    with pytest.raises(NotApplicableError, match="drop_tail has no marking threshold"):
        MODEL.predict(link(flows(1, 0.1, "dctcp")), Requirement())
    with pytest.raises(NotApplicableError, match="no DCTCP flow"):
        MODEL.predict(link(flows(1)), Requirement())


def test_what_it_supposes() -> None:
    assert not failed(MODEL.assumptions(made()))
    bad = failed(MODEL.assumptions(made(40, 10, 20)))
    assert bad == {
        "the threshold is above a seventh of the bandwidth-delay product": (
            "10 packets, a seventh is 17.86"
        ),
        "flows reduce together: few, with large windows": "40 flows",
        "windows are larger than 4 packets": "3.38 packets",
        "the buffer holds the queue": "20 packets for 50",
    }
