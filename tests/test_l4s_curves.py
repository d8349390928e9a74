"""The formulas of L4S's curves against published values, and short forms of each comparison."""

import csv

import pytest

from tests.validation.frame import ROOT, Claim
from tests.validation.l4s import curves, falls, laws, step_law, steps


def test_a_classic_loss_of_a_quarter_saturates_the_l4s_queue() -> None:
    """RFC 9332 appendix A.2: p_Cmax = (1 / k)^2 = 25 %."""
    assert laws.coupled(0.25) == 1.0
    assert laws.coupled(0.01) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("p", "window"),
    # RFC 9438 sec. 5, Table 1: RTT 0.1 s, C = 0.4.
    [(1e-4, 187), (1e-5, 1054), (1e-6, 5926), (1e-8, 187400)],
)
def test_the_window_of_cubic_is_that_of_the_table_of_its_rfc(p: float, window: int) -> None:
    assert laws.cubic_window(p, 0.1) == pytest.approx(window, rel=0.003)


def test_both_response_functions_fill_the_link() -> None:
    for rate in (4e6, 200e6):
        found = laws.shares(rate, 0.02)
        assert found.prague_bps + found.cubic_bps == pytest.approx(rate, rel=1e-6)


def test_rounds_after_a_fall_of_capacity_worked_by_hand() -> None:
    """62.5 packets at 30 Mbit/s in 24 ms and the 1 ms of the ramp; 15 Mbit/s are 1.25 per ms.

    Before, 62.5 * 25 / 24 packets make a virtual RTT of 25 ms.
    """
    virtual = 62.5 * 25 / 24
    share = step_law.steady_mark_share(virtual)
    assert laws.prague_window(share) == pytest.approx(virtual)
    found = [*step_law.rounds(30e6, 15e6, 0.024, 0.004)]
    window, alpha, time_ms, length_ms = 62.5, share, 0.0, 24.0
    for number, one in enumerate(found):
        assert one.window == pytest.approx(window)
        assert 1e3 * one.time_s == pytest.approx(time_ms)
        assert 1e3 * one.delay_s == pytest.approx(max(window / 1.25 - 24, 0))
        time_ms += length_ms
        length_ms = max(window / 1.25, 25.0)
        window -= alpha * window / 2
        new = 1 / 16 if number else 1 / 32
        alpha = alpha * (1 - new) + new
    assert found[-1].delay_s < 0.004 <= found[-2].delay_s


def test_a_long_delay_drives_p_above_one_half() -> None:
    """RFC 9332 appendix A.1: 3.2 times the delay, and 0.16 times its excess in each 16 ms."""
    still = step_law.Round(0.0, 0.16, 60.0, 0.075)
    assert step_law.largest_base([still]) == pytest.approx(3.2 * 0.075 + 10 * 0.16 * 0.06)
    assert step_law.largest_base([still] * 2) == pytest.approx(0.24 + 2 * 0.096)
    assert step_law.largest_base([still] * 4) > step_law.OVERLOAD


def test_a_fall_of_capacity_has_the_delay_of_the_formula() -> None:
    high, low, rtt_ms = 40, 20, 20
    assert (high, low, rtt_ms) in falls.FALLS
    limit_s = steps.limit("prague", low)
    *_, second, last = step_law.rounds(high * 1e6, low * 1e6, 1e-3 * rtt_ms, limit_s)
    found = steps.curve("prague", high, low, rtt_ms).returned_s(limit_s)
    assert abs(found - last.time_s) <= 0.04
    assert second.delay_s >= limit_s


@pytest.mark.slow
def test_the_coupling_is_that_of_the_formula() -> None:
    claims = [item for item in curves.coupling() if isinstance(item, Claim)]
    assert len(claims) == 3
    assert all(claim.holds for claim in claims)


def test_prague_next_to_cubic_at_one_point_has_the_delays_and_the_ratio() -> None:
    grid = curves.points((12,), (10,), (1,))
    assert len(grid) == len(curves.CASES)
    claims = [*curves.delays(grid), *curves.ratios(grid)]
    assert all(claim.holds for claim in claims if isinstance(claim, Claim))


def test_the_file_has_every_point_once() -> None:
    with (ROOT / "docs/validation/l4s-curves.csv").open(encoding="utf-8", newline="") as file:
        places = [tuple(row[key] for key in curves.HEADINGS[:3]) for row in csv.DictReader(file)]
    points = len(curves.CASES) * len(curves.RATES_MBPS) * len(curves.RTTS_MS)
    assert len({*places}) == len(places) == points


def test_the_file_of_falls_is_of_the_formula() -> None:
    with (ROOT / "docs/validation/l4s-falls.csv").open(encoding="utf-8", newline="") as file:
        rows = [[float(cell) for cell in row] for row in [*csv.reader(file)][1:]]
    assert [tuple(row[:3]) for row in rows] == [*falls.FALLS, *falls.NEW_FALLS]
    for high, low, rtt_ms, least_ms, most_ms, formula_ms, base, lost in rows:
        limit_s = steps.limit("prague", low)
        law = [*step_law.rounds(high * 1e6, low * 1e6, 1e-3 * rtt_ms, limit_s)]
        assert formula_ms == pytest.approx(1e3 * law[-1].time_s, abs=0.5)
        assert base == pytest.approx(step_law.largest_base(law), abs=0.005)
        assert (lost > 0) == (base > step_law.OVERLOAD)
        if (high, low, rtt_ms) in falls.NEW_FALLS and not lost:
            round_ms = 1e3 * law[1].length_s
            is_met = formula_ms - round_ms <= least_ms <= most_ms <= formula_ms + round_ms
            assert is_met == ((high, low, rtt_ms) != falls.KNOWN_MISS)
