"""Confidence intervals hold known means as often as they say; warm-up ends where it does."""

from math import inf, sin, sqrt
from pathlib import Path

import numpy as np
import pytest

import tailroom as tr
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.statistics.intervals import mean_interval
from tailroom.studies.sweep_study.plan import Precision, runs_needed
from tailroom.studies.warm_up_time import truncation
from tests import coverage_of_intervals as coverage
from tests.conftest import Tailroom


def test_the_interval_is_students() -> None:
    # Mean 5, sum of squares 0 + 1 + 1 + 4 + 4 = 10, so s = sqrt(10 / 4); t(4, 97.5 %) = 2.776445.
    found = mean_interval([5, 4, 6, 3, 7])
    assert found.mean == 5
    assert found.half_width == pytest.approx(2.776445 * sqrt(10 / 4 / 5), rel=1e-6)
    # t(4, 99.5 %) = 4.604095.
    wide = mean_interval([5, 4, 6, 3, 7], confidence=0.99)
    assert wide.half_width == pytest.approx(4.604095 * sqrt(10 / 4 / 5), rel=1e-6)
    assert (found.low, found.high) == (5 - found.half_width, 5 + found.half_width)


def test_one_value_says_nothing_of_its_spread_and_equal_ones_have_none() -> None:
    assert mean_interval([3.0]).half_width == inf
    assert mean_interval([0.1] * 7) == mean_interval(np.full(7, 0.1))
    assert (mean_interval([0.1] * 7).mean, mean_interval([0.1] * 7).half_width) == (0.1, 0.0)
    with pytest.raises(ValueError, match="at least one value"):
        mean_interval([])


def test_the_autoregressive_process_spreads_as_it_should() -> None:
    """Else its coverage proves nothing: 4,000 runs give the deviation to 1.1 %."""
    values = coverage.run_means(np.random.default_rng(1))(4000)
    assert values.std() == pytest.approx(coverage.deviation_of_run_means(), rel=0.035)
    assert abs(values.mean()) < 3 * values.std() / sqrt(4000)


@pytest.mark.parametrize("runs", [10, 30])
def test_fixed_numbers_of_runs_cover_an_autoregressive_mean(runs: int) -> None:
    # 2,000 intervals: a standard deviation of 0.5 %.
    found = coverage.fixed(coverage.run_means(np.random.default_rng(2)), runs, 2000)
    assert 0.93 <= found <= 0.97


@pytest.mark.slow
def test_ten_runs_cover_the_loss_of_a_queue() -> None:
    # 400 intervals: a standard deviation of 1.1 %.
    draw = coverage.losses(np.random.default_rng(9))
    found = coverage.fixed(draw, 10, 400, mean=coverage.loss_probability())
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize("width", [0.25, 0.4, 0.6, 0.8])
def test_repeating_until_an_interval_is_narrow_covers(width: float) -> None:
    """Widths, in deviations of a run, that take from 60 runs to the least of 10."""
    until = Precision("any", width * coverage.deviation_of_run_means())
    draw = coverage.run_means(np.random.default_rng(4))
    # 600 intervals: a standard deviation of 1.0 %.
    held, taken = coverage.sequential(draw, until, 600)
    assert held >= 0.9
    # At least 10, and (t / width)^2, where t is 1.96 for many runs and 2.26 for ten, and steps of
    # whole runs lie above that.
    assert max(10.0, 0.95 * (1.96 / width) ** 2) <= taken <= max(11.5, 1.1 * (2.26 / width) ** 2)


def test_the_number_of_runs_needed() -> None:
    # Half-width of +-1 ten times each way: t(9) = 2.262157, s = sqrt(10 / 9), over sqrt(10): 0.754.
    values = [1.0, -1.0] * 5
    assert runs_needed(values, Precision("any", 0.76)) == 10
    # (0.754 / 0.7)^2 = 1.16 times 10.
    assert runs_needed(values, Precision("any", 0.7)) == 11
    assert runs_needed(values, Precision("any", 0.75)) == 11
    # Never more than twice as many at once, nor more than the limit.
    assert runs_needed(values, Precision("any", 0.01)) == 20
    assert runs_needed(values, Precision("any", 0.01, at_most=15)) == 15
    assert runs_needed(values, Precision("any", 0.0, at_most=10)) == 10
    assert runs_needed([0.0] * 10, Precision("any", 0.0)) == 10


def test_the_truncation_of_mser_5_by_hand() -> None:
    # Batch means 9, 1, 3, 1, 3, 1, 3, 1, 3. Leaving out none: their mean is 25 / 9, squares
    # 81 + 4 + 36 = 121 less 625 / 9, over 81: 0.637. Leaving out one: mean 2, 8 / 64 = 0.125. Two:
    # 3, 1, 3, 1, 3, 1, 3 is (39 - 225 / 7) / 49 = 0.140. Three: 6 / 36 = 0.167. Four: 0.192.
    batches = [9, 1, 3, 1, 3, 1, 3, 1, 3]
    assert truncation(np.repeat(batches, 5)) == 1
    # What does not fill a batch at the end is left out.
    assert truncation([*np.repeat(batches, 5), 1e9, 1e9]) == 1
    assert truncation([4.0] * 40) == 0
    assert truncation(np.arange(40.0)) is None, "it never settles"
    with pytest.raises(ValueError, match="too few"):
        truncation([1.0] * 19)


def test_a_decaying_bias_is_cut_off_where_it_drowns_in_the_noise() -> None:
    """x_t = 20 e^(-t / 50) + e_t: MSER weighs bias against the values that are lost."""
    noise = np.random.default_rng(6).normal(size=2000)
    biased = noise + 20 * np.exp(-np.arange(2000) / 50)
    brute = min(
        range(0, 1000, 5),
        key=lambda at: float(np.var(means(biased[at:])) / len(means(biased[at:]))),
    )
    found = truncation(biased)
    assert found is not None
    assert 5 * found == brute
    # At 100 values the bias is 2.7 deviations, at 350 a fiftieth of one.
    assert 100 < brute < 350


def means(values: np.ndarray) -> np.ndarray:
    """Of each five values."""
    return np.array(
        [sum(five) / 5 for five in zip(*(values[at::5] for at in range(5)), strict=True)]
    )


LATE: dict[str, object] = {
    "duration": "60 s",
    "measure_from": "0 s",
    "series.interval": "50 ms",
    "flows.reno.count": 20,
    "flows.reno.rtt": {"uniform": ["20 ms", "60 ms"]},
    "flows.reno.start": {"uniform": ["0 s", "15 s"]},
}


def test_the_warm_up_of_a_run_ends_when_its_flows_have_come(small: Path) -> None:
    result = tr.run(small, set=LATE)
    found = tr.warm_up(result)
    assert found is not None
    # By 5 s a third of the flows is there; by 15 s all are.
    assert 1.0 < found < 20.0
    assert tr.warm_up([result.link_series] * 2) == found
    assert tr.warm_up(result, link="bottleneck", metric="queue_packets") == found


def test_a_sweep_with_series_names_points_that_are_measured_too_early(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    text = small.read_text(encoding="utf-8").replace("count = 2", "count = 20")
    text = text.replace('"4 s"', '"60 s"').replace('measure_from = "1 s"', "")
    text = text.replace('rtt = "20 ms"', 'rtt = { uniform = ["20 ms", "60 ms"] }')
    small.write_text(text + 'start = { uniform = ["0 s", "25 s"] }\n', encoding="utf-8")
    command = ("sweep", small, "--store", tmp_path / "store", "--seeds", 3, "--series")
    early = tailroom(*command, "--set", "measure_from=0 s")
    settled = "warning: the queue has not settled at measure_from (MSER-5): it settles at "
    assert settled in early.output
    opened = tr.Store(tmp_path / "store")
    result = tr.SweepResult(opened, opened.sweeps()[0])
    (found,) = [one for one in result.warnings if one["kind"] == "warm_up_too_short"]
    assert 0 < found["values"]["settles_s"] < 30
    assert "settled" not in tailroom(*command, "--set", "measure_from=25 s").output


def test_wrong_questions_about_the_warm_up(small: Path) -> None:
    result = tr.run(small, series_samples=100)
    for options, message in (
        ({"link": "core"}, "choose one of bottleneck"),
        ({"metric": "queue"}, "no such column; did you mean queue_packets"),
    ):
        with pytest.raises(ValueError, match=message):
            tr.warm_up(result, **options)
    with pytest.raises(ValueError, match="no time series"):
        tr.warm_up(tr.run(small, series_samples=None))
    with pytest.raises(ValueError, match="too few"):
        tr.warm_up(tr.run(small, series_samples=10))


def test_intervals_of_bounded_quantities_stay_in_their_range() -> None:
    # Student's interval is 0.9868 +- 0.0196: it reaches 1.006.
    found = mean_interval([0.978, 0.987, 0.9954], lowest=0.0, highest=1.0)
    assert found.mean + found.half_width > 1
    assert found.low < found.mean < found.high <= 1
    below, above = found.arms
    assert below > above
    # t(2) s / sqrt(3) = 4.302653 * 0.008702 / 1.732 = 0.021617, on the scale over
    # 2 sqrt(0.9868 * 0.0132) = 0.22826: 0.09470; asin(sqrt(0.9868)) - 0.09470 = 1.36095.
    assert found.low == pytest.approx(sin(1.36095) ** 2, abs=2e-5)
    losses = mean_interval([0.0, 0.0, 3e-4], lowest=0.0, highest=1.0)
    assert losses.mean - losses.half_width < 0 <= losses.low < losses.mean < losses.high


def test_an_interval_far_from_the_ends_is_students() -> None:
    found = mean_interval([0.4, 0.41, 0.39, 0.402], lowest=0.0, highest=1.0)
    assert found.arms == pytest.approx((found.half_width, found.half_width), rel=0.01)
    assert found.plus_minus("{:.2g}".format) == "±0.013"


def test_an_interval_with_one_bound_is_cut_there() -> None:
    found = mean_interval([1.0, 0.0, 0.2], lowest=0.0)
    assert (found.low, found.high) == (0.0, found.mean + found.half_width)
    assert found.plus_minus("{:.2g}".format) == "+1.3 -0.4"


def test_values_at_a_bound_have_no_width() -> None:
    for bound in (0.0, 1.0):
        found = mean_interval([bound] * 5, lowest=0.0, highest=1.0)
        assert (found.low, found.mean, found.high) == (bound, bound, bound)
        assert mean_interval([bound], lowest=0.0, highest=1.0).plus_minus(str) == ""
    # Rounding may put a mean beyond a bound.
    beyond = mean_interval([1.0 + 1e-15, 1.0 + 3e-15], lowest=0.0, highest=1.0)
    assert beyond.high == beyond.mean


@pytest.mark.parametrize("mean", [0.5, 0.9, 0.99])
def test_intervals_on_the_arcsine_scale_cover_a_skewed_mean(mean: float) -> None:
    """Values of a beta distribution whose deviation is half of the distance to 1."""
    deviation = (1 - mean) / 2
    total = mean * (1 - mean) / deviation**2 - 1
    draw = np.random.default_rng(5).beta(mean * total, (1 - mean) * total, (2000, 8))
    found = [mean_interval(values, lowest=0.0, highest=1.0) for values in draw]
    # 2,000 intervals: a standard deviation of 0.5 %.
    assert 0.92 <= np.mean([one.low <= mean <= one.high for one in found]) <= 0.97
    students = np.mean([abs(one.mean - mean) <= one.half_width for one in found])
    assert np.mean([one.low <= mean <= one.high for one in found]) >= students - 0.005


def test_intervals_of_metrics_have_the_range_of_the_catalogue() -> None:
    assert metric_interval("flows.jain_index", [0.99, 1.0]).high <= 1
    assert metric_interval("links.core.utilization", [0.99, 1.0]).high <= 1
    assert metric_interval("queue_delay_s_mean", [0.0, 1.0]).low == 0
    assert metric_interval("queue_delay_s_mean", [0.0, 1.0]).high > 1
