"""Figures 1 to 8 of Barman et al. 2004: what holds robustly, and the numbers behind it."""

from typing import Any

import pyarrow as pa
import pytest

from tailroom.models import read_bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.shipped_scenarios import SCENARIOS
from tailroom.statistics.intervals import Interval
from tailroom_papers.barman_2004 import (
    figure_1,
    figure_3_model,
    predictions,
    red_model,
    two_flows,
)
from tailroom_papers.barman_2004.abstract import abstract
from tailroom_papers.barman_2004.settings import (
    FIGURE_3,
    FIGURE_4,
    FIGURE_7,
    FIGURE_8,
    LIMIT,
    Setting,
)
from tailroom_papers.barman_2004.uniqueness import solutions
from tailroom_papers.framework import (
    Form,
    Judgement,
    PointResults,
    Reproduction,
    StoredRun,
    Verdict,
    load,
    parts_of,
    reproduce,
)
from tailroom_papers.framework.report import picture_file

FIGURES = ("1", "2", "3", "4", "5", "6", "7", "8", "rtt-fairness", "red-bursts")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    paper = load("barman-2004")
    out = tmp_path_factory.mktemp("papers") / "barman"
    return reproduce(paper, out, form=Form.SMOKE, parts=parts_of(paper, FIGURES))


def judgement(done: Reproduction, part: str, name: str) -> Judgement:
    judged = next(one.judged for one in done.parts if one.part.name == part)
    return next(found for claim, found in judged if claim.name == name)


def holds(results: Judgement, what: str) -> object:
    """Without adjustment: the smoke form has few seeds."""
    return next(check.holds_alone.value for check in results.checks if check.what.startswith(what))


def mean(results: Judgement, what: str) -> float:
    measured = next(check.measured for check in results.checks if check.what.startswith(what))
    assert measured is not None
    return measured.mean if isinstance(measured, Interval) else measured


@pytest.mark.slow
def test_the_fixed_point_is_unique_whatever_the_seeds(done: Reproduction) -> None:
    assert judgement(done, "3", "uniqueness").verdict is Verdict.DOES_NOT_HOLD


@pytest.mark.slow
def test_the_bound_in_the_closed_forms_cancels_in_the_rate_only(done: Reproduction) -> None:
    found = judgement(done, "1", "window-dynamics")
    assert holds(found, "T_d") is False
    assert holds(found, "N_d") is False
    assert holds(found, "rate N_d / T_d") is True


@pytest.mark.slow
def test_utilization_falls_drastically_at_one_percent(done: Reproduction) -> None:
    found = judgement(done, "3", "small-buffers")
    assert holds(found, "utilization at 1 %") is True
    assert holds(found, "utilization at 5 %") is False
    assert mean(found, "loss at 1 %") > 2


@pytest.mark.slow
def test_the_loss_of_most_buffers_is_not_p_l(done: Reproduction) -> None:
    assert holds(judgement(done, "3", "loss-is-p_l"), "share of the buffers") is False


@pytest.mark.slow
def test_windows_at_one_percent_are_not_those_of_standard_tcp(done: Reproduction) -> None:
    assert holds(judgement(done, "3", "standard-tcp"), "mean window at 1 %") is False


@pytest.mark.slow
def test_a_tenth_of_6250_packets_is_too_little(done: Reproduction) -> None:
    found = judgement(done, "4", "similar-trends")
    assert holds(found, "utilization at 1 %") is True
    assert holds(found, "utilization at 10 % of 6,250") is False


@pytest.mark.slow
def test_model_is_far_above_the_simulation_with_small_buffers(done: Reproduction) -> None:
    found = judgement(done, "3", "model-is-close")
    assert holds(found, "model minus simulation at 1 %") is False


@pytest.mark.slow
def test_most_of_the_discrepancy_at_one_percent_comes_from_trains(done: Reproduction) -> None:
    assert holds(judgement(done, "3", "why-apart"), "removed at 1 %") is True


@pytest.mark.slow
def test_two_flows_are_unfair_by_their_rtts_and_fairer_with_room(done: Reproduction) -> None:
    unfair = judgement(done, "5", "due-to-rtts")
    assert [check.holds_alone.value for check in unfair.checks] == [True, True]
    assert holds(judgement(done, "6", "larger-is-fairer"), "Jain's index") is True


@pytest.mark.slow
def test_the_fairer_buffer_has_the_higher_utilization(done: Reproduction) -> None:
    found = judgement(done, "rtt-fairness", "tradeoff")
    assert holds(found, "utilization, over- minus under-buffered") is False


@pytest.mark.slow
def test_red_with_room_agrees_with_the_papers_model(done: Reproduction) -> None:
    found = judgement(done, "7", "close-agreement")
    assert holds(found, "model minus simulation at 100 % of 12,500 packets, thresholds") is True


@pytest.mark.slow
def test_red_without_room_does_not_agree_with_the_papers_model(done: Reproduction) -> None:
    found = judgement(done, "8", "close-agreement")
    assert holds(found, "model minus simulation at 10 % of 6,250 packets, automatic") is False


@pytest.mark.slow
def test_bursty_flows_lose_more_per_packet_under_drop_tail(done: Reproduction) -> None:
    assert mean(judgement(done, "red-bursts", "removes-bias"), "loss of bursty") > 1


@pytest.mark.slow
def test_the_abstract_has_at_most_150_words(done: Reproduction) -> None:
    parts = {part.part.name: part.results for part in done.parts}
    words = abstract(parts).split()
    assert 50 < len(words) <= 150
    assert "nan" not in words


@pytest.mark.slow
def test_every_part_has_a_caption_and_a_picture(done: Reproduction) -> None:
    for part in done.parts:
        assert part.part.caption
        picture = done.directory / picture_file(part.part.name)
        assert picture.stat().st_size > 10_000


def test_shares_of_the_bdp_are_those_of_the_mean_rtt() -> None:
    # 1 Gbit/s times 120 ms and 2.5 Gbit/s times 90 ms, in packets of 8,000 bits.
    assert FIGURE_3.bdp_packets == pytest.approx(15_000)
    assert FIGURE_4.bdp_packets == pytest.approx(28_125)
    assert FIGURE_3.limit(FIGURE_3.of_bdp(0.1)) == "1499 packets"
    assert FIGURE_4.limit(FIGURE_4.of_bdp(0.2)) == "5624 packets"
    assert FIGURE_4.in_bdp(1.0) == pytest.approx(6_250 / 28_125)


def test_the_closed_form_differs_from_the_fluid_by_the_papers_bound() -> None:
    # With a decrease of b_h everywhere the bound is exact: at w_h both agree to their curvature.
    for mine, exact in zip(
        figure_1.closed_form(83_000.0), figure_1.exact_fluid(83_000.0), strict=True
    ):
        assert mine == pytest.approx(exact, rel=0.03)
    # The bound (2 - b) / b is 19 at b_h and 5.5 at a window of 1800 packets, where b is 0.3.
    packets, rounds = figure_1.closed_form(1800.0)
    _, exact_rounds = figure_1.exact_fluid(1800.0)
    assert rounds / exact_rounds > 2.5
    # N_d / T_d is the mean window, between (1 - b) peak and the peak.
    assert 0.7 * 1800 < packets / rounds < 1800


def test_the_papers_red_drops_by_the_number_in_the_buffer() -> None:
    # K = 10, min_th = 4, p_max = 0.1: nothing up to 4, 0.05 at 7, everything at K.
    queue = red_model.chain(10, 0.1)
    assert queue.places == 10
    refusals = queue._refusals
    assert list(refusals[:5]) == [0.0] * 5
    assert refusals[7] == pytest.approx(0.05)
    assert refusals[10] == 1.0


def test_another_model_removes_half_if_it_is_half_as_far_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = PointResults({}, tuple(_Utilized(value) for value in (0.7, 0.8, 0.9)))
    monkeypatch.setattr(predictions, "utilization", lambda *_: 1.0)
    found = figure_3_model.removed([point], lambda _: 0.9)
    assert found.mean == pytest.approx(0.5)
    assert found.count == 3


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


class _Utilized(StoredRun):
    """A run with a utilization of our own."""

    def __init__(self, utilization: float) -> None:
        object.__setattr__(self, "read", {})
        object.__setattr__(self, "number", utilization)

    def value(self, metric: object) -> float:
        assert metric == "utilization"
        return self.number  # type: ignore[attr-defined, no-any-return]


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
    source = Scenario.of(SCENARIOS / FIGURE_3.scenario, {LIMIT: "1249 packets"})
    found = solutions(read_bottleneck(source))
    assert found.crossings == 1
    assert found.falls
    assert found.slope == pytest.approx(-0.7 * 1250, rel=0.2)
