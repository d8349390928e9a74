"""Figures 3 to 8 of Barman et al. 2004: what holds robustly, and the numbers behind it."""

from typing import Any

import pyarrow as pa
import pytest

from tailroom.models import read_bottleneck
from tailroom.reproduction import Form, Judgement, Reproduction, Verdict, load, parts_of, reproduce
from tailroom.reproduction.part_results import StoredRun
from tailroom.scenario.shipped import SCENARIOS
from tailroom.scenario.source import ScenarioSource
from tailroom_papers.barman_2004 import two_flows
from tailroom_papers.barman_2004.settings import (
    FIGURE_3,
    FIGURE_4,
    FIGURE_7,
    FIGURE_8,
    LIMIT,
    Setting,
)
from tailroom_papers.barman_2004.uniqueness import solutions

FIGURES = ("3", "4", "5", "6", "7", "8", "rtt-fairness")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    paper = load("barman-2004")
    out = tmp_path_factory.mktemp("papers") / "barman"
    return reproduce(paper, out, form=Form.SMOKE, parts=parts_of(paper, FIGURES))


def judgement(done: Reproduction, part: str, name: str) -> Judgement:
    judged = next(one.judged for one in done.parts if one.part.name == part)
    return next(found for claim, found in judged if claim.name == name)


def holds(results: Judgement, what: str) -> bool | None:
    return next(check.holds for check in results.checks if check.what.startswith(what))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "claim", "verdict"),
    [
        ("3", "loss-is-p_l", Verdict.DOES_NOT_HOLD),
        ("3", "why-apart", Verdict.DOES_NOT_HOLD),
        ("3", "uniqueness", Verdict.DOES_NOT_HOLD),
        ("4", "similar-trends", Verdict.IN_PART),
        ("5", "due-to-rtts", Verdict.HOLDS),
    ],
)
def test_verdicts_that_no_seed_changes(
    done: Reproduction, part: str, claim: str, verdict: Verdict
) -> None:
    assert judgement(done, part, claim).verdict is verdict


@pytest.mark.slow
def test_utilization_falls_drastically_at_one_percent(done: Reproduction) -> None:
    found = judgement(done, "3", "small-buffers")
    assert holds(found, "utilization at 1 %") is True
    assert holds(found, "loss at 1 %") is True


@pytest.mark.slow
def test_windows_at_one_percent_are_not_those_of_standard_tcp(done: Reproduction) -> None:
    assert holds(judgement(done, "3", "standard-tcp"), "mean window at 1 %") is False


@pytest.mark.slow
def test_a_tenth_is_too_little_where_it_is_a_fiftieth_of_the_product(done: Reproduction) -> None:
    found = judgement(done, "4", "similar-trends")
    assert holds(found, "utilization grows") is True
    assert holds(found, "utilization at 1 %") is True
    assert holds(found, "utilization at 10 %") is False


@pytest.mark.slow
def test_model_is_far_above_the_simulation_with_small_buffers(done: Reproduction) -> None:
    found = judgement(done, "3", "model-is-close")
    assert holds(found, "model minus simulation at 1 %") is False
    assert holds(found, "model minus simulation at 5 %") is False


@pytest.mark.slow
def test_two_flows_with_a_small_buffer_do_not_become_fair(done: Reproduction) -> None:
    found = judgement(done, "rtt-fairness", "convergence")
    assert holds(found, "Jain's index at the end of the run, 500 packets") is False


@pytest.mark.slow
def test_red_with_room_agrees_with_its_model(done: Reproduction) -> None:
    found = judgement(done, "7", "close-agreement")
    assert holds(found, "model minus simulation at 20 %, 0.4 B and B") is True


@pytest.mark.slow
def test_red_without_room_does_not_agree_with_its_model(done: Reproduction) -> None:
    found = judgement(done, "8", "close-agreement")
    assert holds(found, "model minus simulation at 10 %, automatic") is False


@pytest.mark.parametrize(
    ("setting", "limit"),
    [
        (FIGURE_3, "1249 packets"),
        (FIGURE_4, "624 packets"),
        (FIGURE_7, "1250 packets"),
        (FIGURE_8, "625 packets"),
    ],
)
def test_a_tenth_of_the_buffer_is_what_the_scenarios_say(setting: Setting, limit: str) -> None:
    assert setting.limit(0.1) == limit
    assert (SCENARIOS / setting.scenario).is_file()


def test_rows_of_ns2_are_found_at_their_fractions() -> None:
    assert [row.fraction for row in FIGURE_3.ns2()] == [0.01, 0.05, 0.1, 1.0]
    assert [row.fraction for row in FIGURE_4.ns2()] == [0.2, 1.0]
    assert [row.fraction for row in FIGURE_7.ns2()] == [0.05, 0.2]
    assert [row.fraction for row in FIGURE_8.ns2()] == [0.1]
    # 0.1 mean 1250 packets: jitter twice, slow start, sinks, starts and a later window.
    assert [row.fraction for row in FIGURE_3.ns2_with_variants()] == [0.1] * 6


def test_rates_are_means_of_the_samples_inside() -> None:
    series = pa.table(
        {
            "time_s": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0],
            "flow": ["a", "b"] * 3,
            "goodput_bps": [9.0, 9.0, 2.0, 4.0, 4.0, 8.0],
        }
    )
    assert two_flows.rates_between(series, 1.0, 3.0) == [3.0, 6.0]


class _Run(StoredRun):
    """A run with a summary of our own."""

    def __init__(self, summary: dict[str, Any]) -> None:
        object.__setattr__(self, "summary", summary)


def test_flows_that_lose_together_come_to_rest_by_the_power_of_their_rtts() -> None:
    # q = ln(1e4) / ln(83000 / 38) = 1.19786; q / (q - 1) = 6.0540. 40 ms of wait make 120 over 80.
    empty = _Run({"links": {"bottleneck": {"queue_delay_s_mean": 0.0}}})
    waiting = _Run({"links": {"bottleneck": {"queue_delay_s_mean": 0.04}}})
    assert two_flows.expected_ratio(empty) == pytest.approx(2**6.0540, rel=1e-3)
    assert two_flows.expected_ratio(waiting) == pytest.approx(1.5**6.0540, rel=1e-3)


def test_a_difference_of_two_flows_halves_in_so_many_reductions() -> None:
    # At w = 83000, b = 0.1 and q - 1 = 0.19786: each leaves 1 - 0.019786, ln 2 / 0.019984 = 34.7.
    run = _Run({"flows": [{"cwnd_packets_mean": 83_000.0}, {"cwnd_packets_mean": 50.0}]})
    assert two_flows.reductions_to_halve(run) == pytest.approx(34.68, rel=1e-3)


def test_log_of_the_ratio_is_that_of_the_shorter_rtt_over_the_longer() -> None:
    run = _Run({"flows": [{"goodput_bps": 7.389056}, {"goodput_bps": 1.0}]})
    assert two_flows.log_ratio(run) == pytest.approx(2.0)
    starved = _Run({"flows": [{"goodput_bps": 7.0}, {"goodput_bps": 0.0}]})
    assert two_flows.log_ratio(starved) is None


def test_the_fixed_point_is_one_and_its_iteration_diverges() -> None:
    # docs/models/fixed-points.md: plain iteration has a slope of about -0.7 K.
    source = ScenarioSource.of(SCENARIOS / FIGURE_3.scenario, {LIMIT: "1249 packets"})
    found = solutions(read_bottleneck(source))
    assert found.crossings == 1
    assert found.falls
    assert found.slope == pytest.approx(-0.7 * 1250, rel=0.2)
