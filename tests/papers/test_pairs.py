"""Points compared run by run, and the bands of means, against numbers worked out by hand."""

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome
from tailroom_papers.framework import (
    NamedBound,
    PointResults,
    StoredRun,
    bars,
    draw_means,
    less,
    more,
    paired_difference,
    paired_ratio,
)


def point(values: dict[int, float | None]) -> PointResults:
    """A run for each seed, whose summary is its value."""
    runs = []
    for seed, value in values.items():
        run = StoredRun(None, "", pa.table({"seed": [seed]}))
        run.__dict__["summary"] = {"value": value}
        runs.append(run)
    return PointResults({}, tuple(runs))


def value(run: StoredRun) -> float | None:
    found: float | None = run.summary["value"]
    return found


def test_runs_are_paired_by_seed() -> None:
    # 5 - 1 and 8 - 2: 5 with a standard error of 1, whatever the order of the seeds.
    found = paired_difference(point({1: 5.0, 2: 8.0}), point({2: 2.0, 1: 1.0}), value)
    assert found is not None
    assert found.mean == 5
    assert found.half_width == pytest.approx(12.7062, rel=1e-4)


def test_a_seed_counts_only_if_both_runs_are_there_and_defined() -> None:
    one, other = point({1: 5.0, 2: None, 3: 7.0, 4: 9.0}), point({1: 1.0, 2: 2.0, 4: 3.0})
    found = paired_difference(one, other, value)
    assert found is not None
    assert (found.mean, found.count) == (5, 2)
    assert paired_difference(point({1: 5.0}), point({2: 5.0}), value) is None


def test_nothing_is_divided_by_0() -> None:
    found = paired_ratio(point({1: 6.0, 2: 1.0}), point({1: 3.0, 2: 0.0}), value)
    assert found is not None
    assert (found.mean, found.count) == (2, 1)
    assert paired_ratio(point({1: 6.0}), point({1: 0.0}), value) is None


def test_more_and_less_compare_run_by_run() -> None:
    # 1 and 2 less than 11 and 13: differences of 10 and 11, whatever separates the seeds.
    low, high = point({1: 1.0, 2: 2.0}), point({1: 11.0, 2: 13.0})
    assert more("", high, low, value, "larger").holds is Outcome.YES
    assert more("", low, high, value, "larger").holds is Outcome.NO
    assert less("", low, high, value, "smaller").holds is Outcome.YES
    assert less("", high, low, value, "smaller").holds is Outcome.NO
    # What is equal in every run is neither.
    assert more("", low, low, value, "larger").holds is Outcome.NO
    assert less("", low, low, value, "smaller").holds is Outcome.NO


def test_a_point_is_compared_with_a_bound_in_the_unit_of_the_bound() -> None:
    runs = point(dict.fromkeys(range(9), 0.5))
    half = NamedBound("half", (0.4,), "about half", "", known=True, percent=True)
    check = runs.above("use", value, half)
    assert (check.stated, check.percent, check.holds) == ("about half", True, Outcome.YES)
    assert not runs.above("use", value, half, percent=False).percent
    check = runs.below("use", value, 0.4)
    assert (check.stated, check.percent, check.holds) == ("below 0.4", False, Outcome.NO)
    range_of = NamedBound("near", (0.4, 0.6), "near", "of course", known=True, percent=True)
    check = runs.between("use", value, range_of)
    assert (check.stated, check.holds) == ("near (40 % to 60 %)", Outcome.YES)


def test_a_band_stays_above_0_and_what_is_undefined_is_left_out() -> None:
    axes = Figure().subplots()
    points = [point({1: 1.0, 2: 3.0}), point({1: None}), point({1: 4.0})]
    draw_means(axes, [10, 20, 30], points, value, {"color": "black"}, label="a", scale=100)
    (line,) = axes.get_lines()
    assert np.asarray(line.get_xydata()).tolist() == [[10, 200], [30, 400]]
    (band,) = axes.collections
    heights = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert heights.min() == pytest.approx(2)
    assert heights.max() == pytest.approx(200 + 100 * 12.7062, rel=1e-4)


def test_a_single_run_has_no_error_bar() -> None:
    assert bars([Interval(1.0, float("inf"), 1), None]).tolist() == [[0, 0], [0, 0]]
    assert bars([Interval(1.0, 0.5, 3)], scale=2).tolist() == [[1], [1]]


def test_error_bars_end_where_the_metric_does() -> None:
    below, above = bars([Interval(0.98, 0.05, 3)], most=1.0)
    assert above[0] == pytest.approx(0.02)
    assert below[0] > 0.05
