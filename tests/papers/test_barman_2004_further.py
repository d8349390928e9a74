"""What Barman et al. 2004 leave open or to future work: what holds robustly, and the numbers."""

from math import sqrt
from typing import Any

import pyarrow as pa
import pytest

from tailroom.reproduction import Form, Judgement, Reproduction, load, parts_of, reproduce
from tailroom.reproduction.part_results import PointResults, StoredRun
from tailroom_papers.barman_2004 import parking_lot, sensitivity
from tailroom_papers.barman_2004.interval_curves import ns2_utilization
from tailroom_papers.barman_2004.settings import LIMIT
from tailroom_papers.barman_2004.smallest_buffer import smallest_fraction, stays_from

PARTS = ("sensitivity", "parking-lot", "other-traffic", "other-controls")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    paper = load("barman-2004")
    out = tmp_path_factory.mktemp("papers") / "barman"
    return reproduce(paper, out, form=Form.SMOKE, parts=parts_of(paper, PARTS))


def judgement(done: Reproduction, name: str) -> Judgement:
    judged = (pair for part in done.parts for pair in part.judged)
    return next(found for claim, found in judged if claim.name == name)


def holds(results: Judgement, what: str) -> object:
    """Without adjustment: the smoke form has few seeds."""
    return next(check.holds_alone.value for check in results.checks if check.what.startswith(what))


@pytest.mark.slow
def test_constant_rate_flows_lose_little_and_wait_longer_in_larger_buffers(
    done: Reproduction,
) -> None:
    found = judgement(done, "other-traffic-constant")
    assert holds(found, "loss, buffer 10 %") is True
    assert holds(found, "p99 queueing delay") is True


@pytest.mark.slow
def test_fast_needs_room_and_does_not_fill_a_larger_buffer(done: Reproduction) -> None:
    assert all(check.holds_alone.value for check in judgement(done, "other-controls-fast").checks)


@pytest.mark.slow
def test_short_flows_are_slowed_by_a_large_buffer_only(done: Reproduction) -> None:
    short = judgement(done, "other-traffic-short")
    assert holds(short, "mean completion over that without HighSpeed flows, buffer 10 %")
    assert holds(short, "mean completion over that without HighSpeed flows, buffer 100 %")


@pytest.mark.slow
def test_every_part_has_a_picture(done: Reproduction) -> None:
    for part in PARTS:
        assert (done.directory / f"{part}.png").stat().st_size > 10_000


def test_every_form_tries_values_of_its_own_base() -> None:
    names = {form: {one.name for one in sensitivity.choices(form)} for form in Form}
    assert names[Form.SMOKE] < names[Form.QUICK] < names[Form.FULL]
    keys = [one.name for one in sensitivity.studies(Form.FULL)]
    assert len(keys) == len(set(keys)) == len(names[Form.FULL]) + 1


def test_headline_claims_are_judged_again_with_every_value() -> None:
    for variation in sensitivity.of_figure_3(Form.FULL):
        (study,) = variation.studies
        assert len(study.grid[LIMIT]) == len(sensitivity.FRACTIONS)
        assert variation.claims == ("ten-percent", "twenty-percent")
    implausible = [one.name for one in sensitivity.of_figure_3(Form.FULL) if not one.plausible]
    assert len(implausible) == 3
    assert any("paced" in name for name in implausible)


def run(summary: dict[str, Any]) -> StoredRun:
    found = StoredRun(None, "", pa.table({}))
    found.__dict__["summary"] = summary
    return found


def test_a_long_flow_with_a_quarter_of_the_goodput_has_a_fifth_of_both() -> None:
    groups = {"long": {"goodput_bps": 5 * 40e6}}
    for link, rate in zip(parking_lot.LINKS, (100e6, 160e6, 220e6), strict=True):
        groups[f"cross_{link}"] = {"goodput_bps": 5 * rate}
    assert parking_lot.long_share(run({"groups": groups})) == pytest.approx(0.2)


def test_a_target_between_two_buffers_is_interpolated_on_their_logarithm() -> None:
    assert stays_from((0.01, 0.04), (0.8, 1.0), 0.9) == pytest.approx(0.02)
    assert stays_from((0.01, 0.04), (0.95, 1.0), 0.9) == 0.01
    assert stays_from((0.01, 0.04), (0.95, 0.85), 0.9) is None


def test_the_smallest_buffer_is_that_after_the_last_fall() -> None:
    found = stays_from((0.01, 0.02, 0.04, 0.08), (0.92, 0.95, 0.85, 0.95), 0.9)
    assert found == pytest.approx(0.04 * sqrt(2))


def utilization(one: StoredRun) -> float:
    return float(one.summary["u"])


def test_a_target_that_one_run_misses_has_no_smallest_buffer() -> None:
    points = [
        PointResults({}, tuple(run({"u": u}) for u in us)) for us in ((0.8, 0.8), (1.0, 0.85))
    ]

    assert smallest_fraction((0.1, 0.2), points, utilization, 0.9) is None
    found = smallest_fraction((0.1, 0.2), points, utilization, 0.85)
    assert found is not None
    assert found.count == 2


def test_ns2_is_found_by_buffer_and_variation() -> None:
    assert ns2_utilization(0.1) == pytest.approx(0.915, abs=0.001)
    assert ns2_utilization(0.1, "jitter_8us") == pytest.approx(0.903, abs=0.001)
    assert ns2_utilization(0.2) is None
