"""Our models compared with Barman et al. 2004: partial synchronization, and Eq. 5 with slips."""

from math import log

import numpy as np
import pytest

from tailroom.models import MODELS, Requirement
from tailroom_papers.barman_2004 import equation_5_slips, loss_shares, partial_synchronization
from tailroom_papers.barman_2004.drop_tail import STATED
from tailroom_papers.barman_2004.equation_5_slips import (
    SLIPS,
    Evaluation,
    buffer_divisor,
    distance,
    ranked,
    utilization,
)
from tailroom_papers.framework import Form, Judgement, Reproduction, load, parts_of, reproduce
from tests.models.links import flows, link

PARTS = ("equation-5", "partial-synchronization")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    paper = load("barman-2004")
    out = tmp_path_factory.mktemp("papers") / "barman"
    return reproduce(paper, out, form=Form.SMOKE, parts=parts_of(paper, PARTS))


def judgement(done: Reproduction, name: str) -> Judgement:
    judged = (pair for part in done.parts for pair in part.judged)
    return next(found for claim, found in judged if claim.name == name)


@pytest.mark.slow
def test_model_is_within_three_points_on_figure_3_s_link(done: Reproduction) -> None:
    """With the buffer of 50 %; with smaller ones windows have not grown yet after 12 s."""
    (half,) = judgement(done, "partial-figure-3").checks
    assert half.holds_alone.value is True


@pytest.mark.slow
def test_every_kind_of_flow_is_judged_at_every_buffer(done: Reproduction) -> None:
    buffers = len(partial_synchronization.fractions(Form.SMOKE))
    for name, cases in (("partial-figure-4", 1), ("partial-reno", 2), ("partial-flows", 4)):
        checks = judgement(done, name).checks
        assert len(checks) == cases * buffers
        assert all(check.measured is not None for check in checks)


@pytest.mark.slow
def test_eq_5_misses_the_paper_s_numbers_and_k_over_8_has_them(done: Reproduction) -> None:
    tenth, fifth = judgement(done, "equation-5").checks
    assert tenth.holds_alone.value is True
    assert fifth.holds_alone.value is False
    assert all(check.holds_alone.value for check in judgement(done, "equation-5-slip").checks)


@pytest.mark.slow
def test_both_parts_have_pictures(done: Reproduction) -> None:
    for part in PARTS:
        assert (done.directory / f"{part}.png").stat().st_size > 10_000


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.2, 1.0])
def test_eq_5_without_a_slip_is_the_fixed_point_of_equal_rtts(fraction: float) -> None:
    """The model's K counts the packet in transmission."""
    at = link(
        flows(10, 0.12, "highspeed"), bdp=15_000, rtt_s=0.12, limit=round(12_500 * fraction) - 1
    )
    said = MODELS["drop_tail_fixed_point"].predict(at, Requirement()).utilization
    assert utilization(Evaluation(), fraction) == pytest.approx(said, abs=2e-5)


def test_a_load_of_nine_tenths_needs_the_buffer_that_m_m_1_k_gives_by_hand() -> None:
    """Ten windows of 0.9 15,000 / 10 = 1350 packets need p = 1e-3 (1350 / 38)^-1.198 = 1.39e-5;
    0.9^K 0.1 = 1.39e-5 at K = 84.3, which is 1250 / 14.8."""
    exponent = log(1e4) / log(83_000 / 38)
    p = 1e-3 * (0.9 * 1500 / 38) ** -exponent
    by_hand = log(p / 0.1) / log(0.9)
    assert 1250 / buffer_divisor(0.1, 0.9) == pytest.approx(by_hand, rel=0.01)


def test_no_slip_that_leaves_the_buffer_comes_near() -> None:
    singles = ranked(STATED)
    assert len(singles) == len(SLIPS)
    near = {slips[0].words for far, slips in singles if far < 0.06}
    assert near == {"buffer K per flow: K / 10", "buffer K in bytes taken for bits: K / 8"}
    own = distance(Evaluation(), STATED)
    others = [far for far, slips in singles if slips[0].field != "buffer"]
    assert min(others) > own - 0.01


def test_pairs_change_two_quantities() -> None:
    for _, slips in ranked(STATED, together=2)[:20]:
        assert slips[0].field != slips[1].field


def test_each_form_of_eq_3_differs_from_the_last() -> None:
    tenth = {
        form: equation_5_slips.utilization(Evaluation(form=str(form)), 0.1)
        for form in ("last", *(slip.value for slip in SLIPS if slip.field == "form"))
    }
    assert len({round(value, 6) for value in tenth.values()}) == len(tenth)


def test_episodes_are_parted_by_a_pause() -> None:
    drops = np.array([0, 1, 1, 0, 0, 0, 0, 2, 0, 1, 0.0])
    assert loss_shares._episodes(drops, 3) == [(1, 2), (7, 9)]
    assert loss_shares._episodes(np.zeros(4), 3) == []


def test_a_flow_that_falls_in_an_episode_has_lost() -> None:
    windows = np.array([[10, 10, 10.0], [11, 11, 11], [5.5, 11, 10.9], [6, 11, 11]])
    assert loss_shares._share(windows, 1, 4) == pytest.approx(1 / 3)
