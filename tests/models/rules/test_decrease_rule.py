from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.rules.decrease_rule import MODEL, minimum_utilization
from tests.models.links import FIXED, failed, flows, link

HIGHSPEED: dict[str, Any] = {}
HTCP = {"adaptive_backoff": True}

CONTROLS: list[tuple[str, dict[str, Any]]] = [
    ("reno", {}),
    ("aimd", {"decrease": 0.2}),
    ("cubic", {"beta": 0.7}),
    ("bic", {"decrease": 205 / 1024}),
    ("scalable", {"decrease": 0.125}),
    ("highspeed", HIGHSPEED),
    ("fhstcp", {}),
    ("htcp", HTCP),
    ("htcp", {"adaptive_backoff": False}),
    ("bbr1", {}),
]


def required(congestion: str, parameters: dict[str, Any], bdp: float = 1000) -> float:
    """The rule, in bandwidth-delay products."""
    found = MODEL.predict(link(flows(1, 0.1, congestion, parameters), bdp=bdp), Requirement())
    assert found.required_packets is not None
    return found.required_packets / bdp


@pytest.mark.parametrize(
    ("congestion", "parameters", "expected"),
    [
        ("reno", {}, 1),
        ("cubic", {"beta": 717 / 1024}, 0.428),
        ("scalable", {"decrease": 0.125}, 0.143),
        ("bbr1", {}, 0.25),
    ],
)
def test_rules_of_spang_arslan_and_mckeown(
    congestion: str, parameters: dict[str, Any], expected: float
) -> None:
    assert required(congestion, parameters) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("window", "decrease", "expected"),
    [(38, 0.5, 1), (1058, 0.33, 0.493), (9991, 0.21, 0.266), (83000, 0.1, 0.111)],
)
def test_highspeed_needs_less_the_larger_its_window(
    window: float, decrease: float, expected: float
) -> None:
    """Windows and b(w) as RFC 3649's table has them, two digits."""
    bdp = (1 - decrease) * window
    assert required("highspeed", HIGHSPEED, bdp) == pytest.approx(expected, abs=0.01)


def lowest_of_a_sawtooth(
    increase: Callable[[float], float], beta: float, bdp: float, limit: float
) -> float:
    """Smallest share of the link in use in a round trip, counted."""
    window, lowest = bdp, 1.0
    for _ in range(20_000):
        lowest = min(lowest, window / bdp)
        window = window + increase(window) if window < bdp + limit else beta * window
    return lowest


@pytest.mark.parametrize("buffer", [0.0, 0.05, 0.3, 0.9, 1.2])
@pytest.mark.parametrize(
    ("congestion", "parameters", "increase", "beta"),
    [
        ("reno", {}, lambda _w: 1.0, 0.5),
        ("cubic", {"beta": 0.7}, lambda _w: 0.53, 0.7),
        ("scalable", {"decrease": 0.125}, lambda w: 0.001 * w, 0.875),
    ],
)
def test_minimum_is_that_of_a_sawtooth_counted_round_by_round(
    congestion: str,
    parameters: dict[str, Any],
    increase: Callable[[float], float],
    beta: float,
    buffer: float,
) -> None:
    """One step beyond the buffer is the difference: 1 packet of 2000, 1 permille for Scalable."""
    bdp = 2000.0
    made = link(flows(1, 0.1, congestion, parameters), bdp=bdp, limit=buffer * bdp)
    counted = lowest_of_a_sawtooth(increase, beta, bdp, buffer * bdp)
    assert minimum_utilization(made) == pytest.approx(counted, abs=1.5e-3)


def test_htcp_backs_off_to_just_what_the_link_holds() -> None:
    """RTTmin / RTTmax of what fills link and buffer is the link, within 0.5 and 0.8."""
    for buffer, expected in [(0, 0.8), (0.125, 0.9), (0.25, 1), (0.6, 1), (3, 1)]:
        made = link(flows(1, 0.1, "htcp", HTCP), bdp=1000, limit=1000 * buffer)
        assert minimum_utilization(made) == pytest.approx(expected)


def test_bbr_drains_a_quarter_in_its_slow_round_trip() -> None:
    for buffer, expected in [(0, 0.75), (0.1, 0.85), (0.25, 1), (1, 1)]:
        made = link(flows(1, 0.1, "bbr1"), bdp=1000, limit=1000 * buffer)
        assert minimum_utilization(made) == pytest.approx(expected)


@pytest.mark.parametrize(("congestion", "parameters"), CONTROLS)
def test_smallest_limit_limit_is_the_smallest_that_fills_the_link(
    congestion: str, parameters: dict[str, Any]
) -> None:
    for bdp in (30.0, 1000.0, 1e5):
        made = link(flows(2, 0.1, congestion, parameters), bdp=bdp)
        limit = MODEL.predict(made, Requirement()).required_packets
        assert limit is not None
        assert minimum_utilization(made.with_limit(limit)) == pytest.approx(1, abs=1e-9)
        assert minimum_utilization(made.with_limit(0.95 * limit)) < 1 - 1e-3


@FIXED
@given(st.sampled_from(CONTROLS), st.floats(1, 1e6), st.floats(0, 5), st.floats(0, 5))
def test_more_buffer_never_costs_utilization(
    control: tuple[str, dict[str, Any]], bdp: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    made = link(flows(1, 0.1, *control), bdp=bdp)
    small = minimum_utilization(made.with_limit(low * bdp))
    assert 0 < small <= minimum_utilization(made.with_limit(high * bdp)) + 1e-12 <= 1 + 2e-12


def test_the_flow_that_needs_most_decides() -> None:
    both = link(flows(1), flows(1, 0.1, "cubic", {"beta": 0.7}), bdp=1000)
    assert MODEL.predict(both, Requirement()).required_packets == pytest.approx(1000)
    assert "all flows run one control" in failed(MODEL.assumptions(both))


def test_says_nothing_of_controls_that_heed_delay() -> None:
    with pytest.raises(NotApplicableError, match=r"no closed window law for vegas \(group vegas\)"):
        MODEL.predict(link(flows(1, 0.1, "vegas")), Requirement())
