"""Elements of the pictures: the paper's numbers, marks with intervals, the legend below."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle
from typing import Any

from tailroom_papers.framework import *

PAPER: dict[str, Any] = {
    "linestyle": "none",
    "markersize": 9,
    "markeredgewidth": 1.6,
    "markerfacecolor": "none",
    "zorder": 4,
}
"""The paper's numbers are large hollow marks."""


MARK: dict[str, Any] = {"linestyle": "none", "markersize": 4.5, "elinewidth": 1, "capsize": 2}
"""Style of a mean with its interval."""


def marks() -> Iterator[dict[str, Any]]:
    """Yields filled marks without end; successive marks differ in colour and shape."""
    for colour, marker in zip(cycle(style.COLOURS), cycle(style.MARKERS), strict=False):
        yield {"color": colour, "marker": marker}


def index_mark() -> dict[str, Any]:
    """Returns the mark of the fairness index, which is none of the first four."""
    return {"color": style.COLOURS[4], "marker": "v"}


def figure_of(title: str, rows: int, columns: int) -> tuple[Figure, list[Axes]]:
    """Returns a figure with rows and columns of panels, and the panels row by row."""
    size = (4.3 * columns + 0.4, 3.1 * rows + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    style.title(figure, title)
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def dots(  # noqa: PLR0913 - each is one option of a series
    axes: Axes,
    points: Mapping[Any, PointResults],
    metric: Metric,
    look: Mapping[str, Any],
    label: str,
    *,
    scale: float = 1.0,
    aside: float = 0.0,
    most: float | None = None,
) -> None:
    """Draws means with their 95 % intervals as marks that are not joined.

    Args:
        axes: Axes to draw into.
        points: Points by their position on the x axis.
        metric: The metric.
        look: Colour and marker.
        label: Label for the legend.
        scale: Factor on the metric.
        aside: Shift along a logarithmic x axis, as a fraction of the position.
        most: Largest possible value of the metric, which no error bar exceeds.
    """
    known = [(at, point.interval(metric)) for at, point in points.items()]
    shown = [(at, interval) for at, interval in known if interval is not None]
    axes.errorbar(
        [at * (1 + aside) for at, _ in shown],
        [scale * interval.mean for _, interval in shown],
        bars((interval for _, interval in shown), scale, most),
        label=label,
        **{**MARK, **look},
    )


def rows(  # noqa: PLR0913 - each is one option of a series
    axes: Axes,
    named: Mapping[str, PointResults],
    metric: Metric,
    look: Mapping[str, Any],
    label: str,
    *,
    scale: float = 1.0,
    aside: float = 0.0,
    most: float | None = None,
) -> None:
    """Draws means with their 95 % intervals along x, one row per point from the top.

    Args:
        axes: Axes to draw into.
        named: Points by the name of the row.
        metric: The metric.
        look: Colour and marker.
        label: Label for the legend.
        scale: Factor on the metric.
        aside: Shift of the marks in their row, in rows.
        most: Largest possible value of the metric, which no error bar exceeds.
    """
    known = [(row, point.interval(metric)) for row, point in enumerate(named.values())]
    shown = [(row, interval) for row, interval in known if interval is not None]
    axes.errorbar(
        [scale * interval.mean for _, interval in shown],
        [row + aside for row, _ in shown],
        xerr=bars((interval for _, interval in shown), scale, most),
        label=label,
        **{**MARK, **look},
    )


def name_rows(axes: Axes, names: Iterable[str], *, is_first: bool) -> None:
    """Labels the rows of a panel, in the first panel of a figure, and separates them by lines."""
    labels = list(names)
    axes.set_yticks(range(len(labels)), labels if is_first else [])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(axis="y", color="0.9")


def legend_below(figure: Figure, panels: Iterable[Axes], columns: int = 4) -> None:
    """Draws one legend for all panels, each label once."""
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=columns,
        fontsize="small",
        frameon=False,
    )
