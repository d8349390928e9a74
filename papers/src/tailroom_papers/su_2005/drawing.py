"""Elements of the pictures: the paper's numbers, grouped bars, the legend below."""

from collections.abc import Iterable, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction.mean_curves import bar_length
from tailroom.reproduction.part_results import Metric, PointResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER: dict[str, Any] = {
    "linestyle": "none",
    "markersize": 8,
    "markeredgewidth": 1.6,
    "markerfacecolor": "none",
}
"""The paper's numbers are large hollow markers without lines."""

SHADES = ("0.4", "0.62", "0.8", "0.95")
HATCHES = ("", "///", "...", "xx")
"""Bars differ in both, as colours do not in print."""


def figure_of(title: str, rows: int, columns: int) -> tuple[Figure, list["Axes"]]:
    """A figure with so many panels, row by row."""
    size = (4.3 * columns + 0.4, 3.1 * rows + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    style.title(figure, title)
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def grouped_bars(
    axes: "Axes",
    groups: Sequence[str],
    series: Sequence[tuple[str, Sequence[PointResults], Metric]],
    scale: float = 1.0,
) -> None:
    """Draws grouped bars with intervals: a group per place, a bar per series.

    A series is its label, a point for each group, and the metric.
    """
    width = 0.8 / len(series)
    for number, (label, points, metric) in enumerate(series):
        intervals = [point.interval(metric) for point in points]
        at = [place + (number - (len(series) - 1) / 2) * width for place in range(len(groups))]
        axes.bar(
            at,
            [nan if interval is None else scale * interval.mean for interval in intervals],
            width,
            yerr=[scale * bar_length(interval) for interval in intervals],
            color=SHADES[number % len(SHADES)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="black",
            linewidth=0.7,
            error_kw={"elinewidth": 1.0, "capsize": 2.5, "ecolor": "black"},
            label=label,
        )
    axes.set_xticks(range(len(groups)), groups)


def legend_below(figure: Figure, panels: Iterable["Axes"], columns: int = 4) -> None:
    """One legend for all panels, each label once."""
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
