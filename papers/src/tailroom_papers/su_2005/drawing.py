"""Elements of the pictures: the paper's numbers, and marks with intervals in rows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

from tailroom_papers.framework import *
from tailroom_papers.su_2005.paper_table import TABLE, Column

PAPER: dict[str, Any] = {
    "linestyle": "none",
    "markersize": 9,
    "markeredgewidth": 1.6,
    "markerfacecolor": "none",
    "zorder": 4,
}
"""The paper's numbers are large hollow marks."""
ASIDE = {5: -0.2, 10: 0.0, 20: 0.2}
"""Shift of the marks of each c in their row."""


def marks() -> Iterator[dict[str, Any]]:
    """Yields filled marks without end; successive marks differ in colour and shape."""
    for colour, marker in zip(cycle(style.COLOURS), cycle(style.MARKERS), strict=False):
        yield {"color": colour, "marker": marker, "linestyle": "none"}


def dots(  # noqa: PLR0913 - each is one option of a series
    axes: Axes,
    points: Mapping[int, PointResults],
    column: Column,
    look: Mapping[str, Any],
    label: str,
    *,
    aside: float = 0.0,
) -> None:
    """Draws the means of a column of Table 1 over a logarithmic x axis.

    Args:
        axes: Axes to draw into.
        points: Points by their position on the x axis.
        column: The column.
        look: Colour and marker.
        label: Label for the legend.
        aside: Shift along the x axis, as a fraction of the position.
    """
    over, metric = [at * (1 + aside) for at in points], column.metric
    draw_marks(axes, over, points.values(), metric, look, label=label, scale=column.scale, most=1.0)


def rows(axes: Axes, named: Mapping[str, Mapping[int, PointResults]], column: Column) -> None:
    """Draws a row per name from the top, with the means of a column of Table 1 by c.

    Args:
        axes: Axes to draw into.
        named: Points by name of the row and by c.
        column: The column; dotted lines are the paper's numbers.
    """
    scale = column.scale
    for c, look in zip(next(iter(named.values())), marks(), strict=False):
        over = [row + ASIDE[c] for row in range(len(named))]
        points = [of_row[c] for of_row in named.values()]
        look["label"] = f"c = {c}"
        draw_marks(axes, over, points, column.metric, look, scale=scale, most=1.0, across=True)
        line = {"color": look["color"], "linestyle": ":", "linewidth": 1}
        axes.axvline(scale * column.stated(TABLE[c]), label=f"Su et al., c = {c}", **line)
    axes.set_xlabel(column.label)


def name_rows(panels: Sequence[Axes], names: Sequence[str]) -> None:
    """Labels the rows of the first panel, and separates those of all panels by lines."""
    for axes in panels:
        axes.set_yticks(range(len(names)), names if axes is panels[0] else [])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.grid(axis="y", color="0.9")
