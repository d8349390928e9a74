"""The vocabulary of pictures: panels, means over runs with their intervals, axes, the legend.

A figure of two panels, with a line for each queue:

    figure, (share, delay) = figure_of("One flow by buffer", columns=2)
    for label, points, look in styled({"FIFO": fifo, "fair": fair}):
        draw_means(share, buffers, points, "utilization", look, label=label, scale=100)
        draw_marks(delay, buffers, points, delay_ms, look, label=label)
    frame(share, x="buffer (packets)", y="utilization (%)", ylim=(0, 103))
    frame(delay, x="buffer (packets)", y="delay (ms)", log="y")
    return legend_below(figure)
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.log_axis import plain_ticks
from tailroom.statistics.intervals import Interval
from tailroom_papers.framework.results import Metric, PointResults

if TYPE_CHECKING:
    from numpy.typing import NDArray

Data = TypeVar("Data")
GRID = "0.92"
"""Colour of grid lines."""


def figure_of(
    title: str,
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float] | None = None,
    **grid: Any,
) -> tuple[Figure, list[Axes]]:
    """Returns a figure with a title, and its panels row by row.

    Args:
        title: Title of the figure.
        rows: Number of rows of panels.
        columns: Number of columns of panels.
        size: Width and height in inches; by the number of panels if left out.
        **grid: Options of `Figure.subplots`, such as `sharex`.
    """
    size = size or (4.3 * columns + 0.4, 3.1 * rows + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    style.title(figure, title)
    return figure, list(figure.subplots(rows, columns, squeeze=False, **grid).ravel())


def styled(
    named: Mapping[str, Data], looks: Iterable[Mapping[str, Any]] | None = None
) -> Iterator[tuple[str, Data, dict[str, Any]]]:
    """Yields each label with its data and a look of its own.

    Args:
        named: The data of each line by label.
        looks: Styles of the lines; lines with markers if left out.
    """
    for (label, data), look in zip(
        named.items(), looks or style.marked_line_styles(), strict=False
    ):
        yield label, data, dict(look)


def draw_means(  # noqa: PLR0913 - each is one option of a line
    axes: Axes,
    over: Sequence[float],
    points: Sequence[PointResults],
    metric: Metric,
    look: Mapping[str, Any],
    *,
    label: str = "",
    scale: float = 1.0,
    lines: int = 4,
) -> list[float]:
    """Draws the means of a nonnegative metric with the band of their 95 % intervals.

    Undefined means are left out; a single run has no band, a single point has a bar.

    Args:
        axes: Axes to draw into.
        over: Position of each point on the x axis.
        points: Points of a study.
        metric: Name or function of the metric.
        look: Style of the line, with its colour.
        label: Label for the legend, if the style has none.
        scale: Factor on the metric.
        lines: Number of lines in the panel; many lines have paler bands.

    Returns:
        The means as drawn.
    """
    pairs = zip(over, (point.interval(metric) for point in points), strict=True)
    known = [(x, interval) for x, interval in pairs if interval is not None]
    x = [x for x, _ in known]
    mean = scale * np.array([interval.mean for _, interval in known])
    below, above = bars((interval for _, interval in known), scale)
    # A band on a logarithmic scale must not reach 0.
    low, high = np.maximum(mean - below, mean / 100), mean + above
    axes.fill_between(x, low, high, color=look["color"], **style.band(lines))
    if len(x) == 1:
        axes.vlines(x, low, high, color=look["color"], linewidth=1)
    axes.plot(x, mean, **{"label": label, **look})
    return [float(number) for number in mean]


def draw_marks(  # noqa: PLR0913 - each is one option of a series
    axes: Axes,
    over: Iterable[float],
    points: Iterable[PointResults],
    metric: Metric,
    look: Mapping[str, Any],
    *,
    label: str = "",
    scale: float = 1.0,
    most: float | None = None,
    across: bool = False,
) -> None:
    """Draws the means of a metric as marks with error bars, without those that are undefined.

    Args:
        axes: Axes to draw into.
        over: Position of each point on the x axis.
        points: Points of a study.
        metric: Name or function of the metric.
        look: Style of marks and line.
        label: Label for the legend, if the style has none.
        scale: Factor on the metric; with 100 it is a fraction, whose error bars end at 0 and 1.
        most: Largest possible value of a nonnegative metric, at which error bars end.
        across: Whether the means are positions on the x axis, and `over` those on the y axis.
    """
    intervals = [point.interval(metric) for point in points]
    most = 1.0 if most is None and scale == 100 else most
    draw_intervals(axes, over, intervals, look, label=label, scale=scale, most=most, across=across)


def draw_categories(  # noqa: PLR0913 - each is one option of a panel
    axes: Axes,
    named: Mapping[str, Sequence[PointResults]],
    metric: Metric,
    names: Sequence[str],
    *,
    scale: float = 1.0,
    apart: float = 0.15,
) -> None:
    """Draws the means of a metric side by side over the names of categories.

    Args:
        axes: Axes to draw into.
        named: The points of each category, by label in the legend.
        metric: Name or function of the metric.
        names: Names of the categories.
        scale: Factor on the metric.
        apart: Distance of the marks of a category, whose distance from the next is 1.
    """
    middle = (len(named) - 1) / 2
    for place, (label, points, look) in enumerate(styled(named)):
        over = [number + apart * (place - middle) for number in range(len(names))]
        marks = look | {"linestyle": "none"}
        draw_marks(axes, over, points, metric, marks, label=label, scale=scale)
    frame(axes, names=names, grid="y")


def draw_intervals(  # noqa: PLR0913 - each is one option of a series
    axes: Axes,
    over: Iterable[float],
    intervals: Iterable[Interval | None],
    look: Mapping[str, Any],
    *,
    label: str = "",
    scale: float = 1.0,
    most: float | None = None,
    across: bool = False,
) -> None:
    """Draws means with their 95 % intervals as error bars, without those that are undefined.

    Args:
        axes: Axes to draw into.
        over: Position of each mean on the x axis.
        intervals: The means.
        look: Style of marks and line.
        label: Label for the legend, if the style has none.
        scale: Factor on the means.
        most: Largest possible value of nonnegative means whose intervals do not state it.
        across: Whether the means are positions on the x axis, and `over` those on the y axis.
    """
    known = [(at, mean) for at, mean in zip(over, intervals, strict=True) if mean is not None]
    at, means = [place for place, _ in known], [scale * mean.mean for _, mean in known]
    error = bars((mean for _, mean in known), scale, most)
    options = {"label": label, "capsize": 2, "elinewidth": 0.9, "markersize": 4.5, **look}
    if across:
        axes.errorbar(means, at, xerr=error, **options)
    else:
        axes.errorbar(at, means, yerr=error, **options)


def bars(
    intervals: Iterable[Interval | None], scale: float = 1.0, most: float | None = None
) -> "NDArray[np.float64]":
    """Returns the lengths of error bars below and above means, in two rows; 0 for a single run.

    Args:
        intervals: Means with their 95 % intervals.
        scale: Factor on the metric.
        most: Largest possible value of a nonnegative metric whose intervals do not state it, as
            those of functions; in the unit of the metric.
    """
    known = [interval or Interval(0.0, 0.0, 0) for interval in intervals]
    if most is not None:
        known = [replace(interval, lowest=0.0, highest=most) for interval in known]
    return scale * np.array([interval.bar for interval in known], float).reshape(-1, 2).T


def frame(  # noqa: PLR0913 - each is one option of a panel
    axes: Axes,
    *,
    x: str = "",
    y: str = "",
    title: str = "",
    log: str = "",
    ticks: Iterable[float] | None = None,
    names: Sequence[str] = (),
    grid: Literal["both", "x", "y", ""] = "both",
    **limits: Any,
) -> None:
    """Gives a panel its labels, scales, ticks, limits and grid.

    Args:
        axes: The panel.
        x: Label of the x axis.
        y: Label of the y axis.
        title: Title of the panel.
        log: The logarithmic axes: "x", "y" or "xy". Their ticks are plain numbers.
        ticks: Ticks of the x axis.
        names: Labels of the ticks, at 0, 1, ... if there are no `ticks`.
        grid: The axes whose ticks have grid lines: "x", "y" or "both"; none if empty.
        **limits: Other properties of `Axes.set`, such as `xlim` and `ylim`.
    """
    for axis, letter in ((axes.xaxis, "x"), (axes.yaxis, "y")):
        if letter in log:
            axes.set(**{f"{letter}scale": "log"})
            axis.set_major_formatter(plain_ticks)
    axes.set(**limits, **({"xlabel": x} if x else {}), **({"ylabel": y} if y else {}))
    if ticks is not None or names:
        places = list(ticks if ticks is not None else range(len(names)))
        axes.set_xticks(places, list(names) or [f"{place:g}" for place in places])
        axes.xaxis.minorticks_off()
    if title:
        axes.set_title(title, loc="left", fontsize="medium")
    if grid:
        axes.grid(visible=True, axis=grid, color=GRID)
        axes.set_axisbelow(True)


def legend_below(figure: Figure, columns: int = 4, of: Iterable[Axes] | None = None) -> Figure:
    """Adds one legend for all panels below them, with each label once, and returns the figure.

    Args:
        figure: The drawn figure.
        columns: Number of columns of the legend.
        of: The panels whose labels it has; all if left out.
    """
    handles: dict[str, Any] = {}
    for axes in of or figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    look: dict[str, Any] = {"ncols": columns, "fontsize": "small", "frameon": False}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", **look)
    return figure
