"""The vocabulary of pictures, by the artists that it leaves in a panel."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tailroom.statistics.intervals import Interval
from tailroom_papers.framework import (
    Axes,
    Figure,
    PointResults,
    StoredRun,
    draw_categories,
    draw_intervals,
    draw_marks,
    figure_of,
    frame,
    legend_below,
    styled,
)


def point(*values: float | None) -> PointResults:
    """A run for each value."""
    runs = [StoredRun(None, "", pa.table({"seed": [seed]})) for seed in range(len(values))]
    for run, number in zip(runs, values, strict=True):
        run.__dict__["summary"] = {"value": number}
    return PointResults({}, tuple(runs))


def value(run: StoredRun) -> float | None:
    found: float | None = run.summary["value"]
    return found


def marks(axes: Axes) -> list[Any]:
    """Positions of the means, by place."""
    return np.asarray(axes.containers[0].lines[0].get_xydata()).tolist()  # type: ignore[attr-defined,no-any-return]


def ends(axes: Axes) -> list[Any]:
    """Both ends of each error bar."""
    (collection,) = axes.collections
    return [np.asarray(path.vertices).tolist() for path in collection.get_paths()]


def test_a_figure_has_its_panels_row_by_row() -> None:
    figure, (first, _, third, _) = figure_of("Title", 2, 2, (5, 4), sharex="col")
    assert figure.get_suptitle() == "Title"
    assert figure.get_size_inches().tolist() == [5, 4]
    first.set_xlim(3, 7)
    assert third.get_xlim() == (3, 7)


def test_each_line_has_a_look_of_its_own() -> None:
    looks = [(look["color"], look["marker"]) for _, _, look in styled({"a": 1, "b": 2, "c": 3})]
    assert len(set(looks)) == 3
    assert list(styled({"a": 1, "b": 2}, [{"color": "red"}])) == [("a", 1, {"color": "red"})]


def test_error_bars_of_a_fraction_end_at_0_and_100_percent() -> None:
    axes = Figure().subplots()
    draw_marks(axes, [5, 6], [point(0.9, 1.0), point(None)], value, {"color": "k"}, scale=100)
    assert marks(axes) == [[5, pytest.approx(95)]]
    ((low, high),) = ends(axes)
    assert 0 <= low[1] < 95 < high[1] <= 100


def test_error_bars_of_a_difference_may_be_negative() -> None:
    axes = Figure().subplots()
    draw_intervals(axes, [2], [Interval(-0.02, 0.5, 3)], {"color": "k"}, scale=100, across=True)
    assert marks(axes) == [[-2, 2]]
    assert ends(axes) == [[[pytest.approx(-52), 2], [pytest.approx(48), 2]]]


def test_marks_of_a_category_stand_side_by_side() -> None:
    axes = Figure().subplots()
    named = {"one": [point(1.0), point(2.0)], "two": [point(3.0), point(4.0)]}
    draw_categories(axes, named, value, ["left", "right"], apart=0.2)
    places = [np.asarray(of.lines[0].get_xdata()).tolist() for of in axes.containers]  # type: ignore[attr-defined]
    assert places == [[-0.1, 0.9], [0.1, 1.1]]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["left", "right"]


def test_a_frame_has_labels_plain_ticks_and_limits() -> None:
    axes = Figure().subplots()
    axes.plot([1, 100], [1, 1000])
    frame(axes, title="A", x="x (s)", y="y (ms)", log="y", ticks=(1, 50), ylim=(0.5, 2000))
    axes.figure.canvas.draw()
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title("left")) == (
        "x (s)",
        "y (ms)",
        "A",
    )
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_ylim()) == ("linear", "log", (0.5, 2000))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "50"]
    assert "1,000" in [text.get_text() for text in axes.get_yticklabels()]
    assert all(line.get_visible() for line in (*axes.get_xgridlines(), *axes.get_ygridlines()))


def test_a_later_frame_keeps_what_it_does_not_name() -> None:
    axes = Figure().subplots()
    frame(axes, x="time (s)", title="A", ticks=(0, 1))
    frame(axes, y="rate")
    assert (axes.get_xlabel(), axes.get_title("left")) == ("time (s)", "A")
    assert axes.get_xticks().tolist() == [0, 1]


def test_the_legend_has_each_label_once_and_only_those_of_its_panels() -> None:
    figure, (left, middle, right) = figure_of("", columns=3)
    for panel, labels in ((left, "ab"), (middle, "bc"), (right, "d")):
        for label in labels:
            panel.plot([0], [0], label=label)
    legend_below(figure, of=[left, middle])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "c"]
