"""The papers' questions on today's links: a smoke run's verdicts, and its numbers by hand."""

import json
from typing import Any, cast

import pyarrow as pa
import pytest

from tailroom.statistics.intervals import Interval
from tailroom.storage.store import Store
from tailroom_papers import framework
from tailroom_papers.framework import (
    Form,
    Judgement,
    PointResults,
    StoredRun,
    Verdict,
    paired_difference,
)
from tailroom_papers.today import PAPER, background, fair_and_codel, hardware, rtt_unfairness
from tailroom_papers.today.cycles import cycles
from tailroom_papers.today.network import Bottleneck


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> framework.Reproduction:
    out = tmp_path_factory.mktemp("out") / "today"
    return framework.reproduce(framework.load("today"), out, form=Form.SMOKE)


def judgement(done: framework.Reproduction, name: str) -> Judgement:
    judged = [pair for part in done.parts for pair in (*part.judged, *part.conditions)]
    return next(found for claim, found in judged if claim.name == name)


def means(results: Judgement, begin: str) -> list[float]:
    """Means of the sides whose description begins so; a smoke run decides few of them."""
    found = [check.measured for check in results.checks if check.what.startswith(begin)]
    return [one.mean for one in found if isinstance(one, Interval)]


@pytest.mark.slow
def test_every_part_is_drawn_with_a_caption(done: framework.Reproduction) -> None:
    for part in done.parts:
        assert (done.directory / f"{part.part.name}.png").stat().st_size > 10_000
        assert part.part.caption


@pytest.mark.slow
def test_the_verdicts_follow_from_the_data_next_to_the_report(
    done: framework.Reproduction,
) -> None:
    assert framework.recheck(PAPER, done.directory).differences == ()


@pytest.mark.slow
def test_the_abstract_has_at_most_150_words(done: framework.Reproduction) -> None:
    assert PAPER.abstract is not None
    text = PAPER.abstract({part.part.name: part.results for part in done.parts})
    assert 100 < len(text.split()) <= 150


@pytest.mark.slow
def test_fair_queueing_keeps_the_background_lossless(done: framework.Reproduction) -> None:
    assert all(check.holds_alone.value for check in judgement(done, "background-lossless").checks)


@pytest.mark.slow
def test_the_jitter_is_fitted_on_cells_that_are_not_judged(
    done: framework.Reproduction,
) -> None:
    (part,) = [part for part in done.parts if part.part.name == "hardware"]
    fit, judged = (hardware.cells(part.results, for_fit=half) for half in (True, False))
    assert (fit, judged) == ([("reno", 1), ("scalable", 2)], [("reno", 2), ("scalable", 1)])
    chosen = hardware.fitted(part.results)
    least = hardware.distance(part.results, chosen)
    assert all(
        least <= hardware.distance(part.results, one) for one in hardware.amounts_of(part.results)
    )


@pytest.mark.slow
def test_twenty_packets_are_too_few_but_for_bbr(done: framework.Reproduction) -> None:
    found = judgement(done, "twenty-packets")
    assert means(found, "Reno, 10 Gbit/s")[0] < 0.75
    assert means(found, "BBRv1, 10 Gbit/s")[0] > 0.9


@pytest.mark.slow
def test_a_small_buffer_costs_cubic_more_than_bbr(done: framework.Reproduction) -> None:
    found = judgement(done, "fall")
    cubic, bbr = (means(found, control) for control in ("CUBIC", "BBRv3"))
    assert len(cubic) == len(bbr) == 2
    assert all(one < other for one, other in zip(cubic, bbr, strict=True))


@pytest.mark.slow
def test_a_run_of_a_second_is_found_too_short(done: framework.Reproduction) -> None:
    """Of the smoke form, whose verdicts are not the paper's."""
    assert judgement(done, "cycles-10g").verdict is Verdict.DOES_NOT_HOLD


def test_each_number_of_flows_is_once_fitted_and_once_judged() -> None:
    for flows in hardware.FLOWS:
        halves = [hardware.is_for_fit(control, flows) for control in hardware.MEASURED]
        assert sorted(halves) == [False, True]


def run(summary: dict[str, Any], seed: int = 1) -> StoredRun:
    known = {"measured_from_s": 0.0, "measured_to_s": 1.0, "warnings": [], **summary}
    row = pa.table({"summary": [json.dumps(known)], "seed": [seed]})
    return StoredRun(cast(Store, None), "", row)


def point(*values: float) -> PointResults:
    groups = [{"groups": {"a": {"goodput_bps": value}}} for value in values]
    return PointResults({}, tuple(map(run, groups, range(1, len(values) + 1))))


def test_cycles_are_means_over_the_flows_of_a_control() -> None:
    flows = [
        {"congestion": "cubic", "congestion_events": 3},
        {"congestion": "cubic", "congestion_events": 6},
        {"congestion": "bbr1", "congestion_events": 90},
        {"congestion": None, "congestion_events": 0},
    ]
    assert cycles(run({"flows": flows}), "cubic") == 4.5
    assert cycles(run({"flows": flows}), "reno") is None


def test_unfairness_is_the_larger_goodput_over_the_smaller() -> None:
    two = run({"groups": {"short": {"goodput_bps": 2e9}, "long": {"goodput_bps": 8e9}}})
    assert rtt_unfairness.ratio(two) == 0.25
    assert rtt_unfairness.unfairness(two) == 4


def test_the_share_is_that_of_what_the_background_leaves() -> None:
    summary = {
        "links": {"bottleneck": {"capacity_bps": 10e9}},
        "groups": {"one": {"goodput_bps": 2e9}},
    }
    assert background.share_of_residual(run(summary)) == 0.4


def test_what_cubic_gets_of_both() -> None:
    groups = {"cubic": {"goodput_bps": 1e9}, "bbr": {"goodput_bps": 3e9}}
    assert fair_and_codel.share_of_cubic(run({"groups": groups})) == 0.25
    assert fair_and_codel.cubic_over_bbr(run({"groups": groups})) == pytest.approx(1 / 3)
    # (1 + 3)^2 / (2 (1 + 9))
    assert fair_and_codel.fairness(run({"groups": groups})) == pytest.approx(0.8)


def goodput(results: StoredRun) -> float:
    return float(results.summary["groups"]["a"]["goodput_bps"])


def test_differences_are_taken_seed_by_seed() -> None:
    """2 - 1 and 5 - 2: the mean is 2, the half-width 12.706 sqrt(2) / sqrt(2)."""
    found = paired_difference(point(2, 5), point(1, 2), goodput)
    assert found is not None
    assert found.mean == pytest.approx(2)
    assert found.half_width == pytest.approx(12.706, rel=1e-4)


def test_the_bandwidth_delay_product_is_in_packets() -> None:
    """10 Gbit/s for 10 ms are 1e8 bits, and a packet has 72,000."""
    assert Bottleneck(10, 10).bdp_packets == pytest.approx(1388.9, abs=0.05)


def test_the_switchs_smallest_buffers_are_those_of_its_authors() -> None:
    """In packets, for 1, 2, 4, 8, 16, 32 and 64 flows, as in docs/validation/tofino.md."""
    published = {
        "reno": (177.8, 133.3, 111.1, 111.1, 66.7, 35.6, 26.7),
        "scalable": (40.0, 40.0, 31.1, 35.6, 35.6, 26.7, 26.7),
    }
    for control, buffers in published.items():
        for count, buffer in zip((1, 2, 4, 8, 16, 32, 64), buffers, strict=True):
            found = hardware.smallest_of_switch(hardware.rows()[control, count])
            assert found == pytest.approx(buffer, abs=0.05)


def test_a_buffer_of_the_switch_holds_two_packets_less_here() -> None:
    """250 cells of 80 bytes are 2.2 packets, 20,000 are 177.8: dropped at a reading of 178."""
    assert hardware.limit(250) == "1 packets"
    assert hardware.limit(20_000) == "176 packets"
