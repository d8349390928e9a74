"""The formulas of L4S's curves against published values, and short forms of each comparison."""

import csv

import pytest

from tests.validation.frame import ROOT, Claim
from tests.validation.l4s import curves, laws


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
