"""The numbers of a picture, read from what matplotlib draws."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.patches import Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Row(NamedTuple):
    """A drawn point."""

    panel: int
    """Number of the panel, from 1, in the order of drawing."""
    series: str
    """Label in the legend; empty for a series without one."""
    kind: str
    """`line` (lines and markers), `band` (outline of a confidence band), `bar` (ends of an error
    bar), `mark` (scattered markers), `box` (top of a bar), or `reference` (a line across the
    panel)."""
    x: float
    y: float


def numbers(figure: "Figure") -> pa.Table:
    """Returns a row per drawn point: `panel`, `series`, `kind`, `x`, `y` in the units of the axes.

    Args:
        figure: The drawn figure.
    """
    rows = [row for place, axes in enumerate(figure.axes, 1) for row in _panel(place, axes)]
    columns = zip(*rows, strict=True) if rows else [[] for _ in Row._fields]
    types = (pa.int16(), pa.string(), pa.string(), pa.float64(), pa.float64())
    arrays = [pa.array(list(values), of) for values, of in zip(columns, types, strict=True)]
    return pa.table(dict(zip(Row._fields, arrays, strict=True)))


def _panel(place: int, axes: "Axes") -> Iterator[Row]:
    for line in axes.lines:
        kind = "line" if line.get_transform() == axes.transData else "reference"
        x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
        yield from _rows(place, line.get_label(), kind, np.column_stack([x, y]))
    for collection in axes.collections:
        yield from _collection(place, collection)
    for box in axes.patches:
        if isinstance(box, Rectangle):
            centre = box.get_x() + box.get_width() / 2
            top = np.array([[centre, box.get_y() + box.get_height()]])
            yield from _rows(place, box.get_label(), "box", top)


def _collection(place: int, collection: Any) -> Iterator[Row]:
    label = collection.get_label()
    offsets = np.ma.filled(collection.get_offsets(), np.nan)
    paths = [path.vertices for path in collection.get_paths()]
    if len(offsets) and np.any(offsets):
        yield from _rows(place, label, "mark", offsets)
    elif type(collection).__name__ == "LineCollection":
        for ends in paths:
            yield from _rows(place, label, "bar", ends)
    else:
        for outline in paths:
            yield from _rows(place, label, "band", outline)


def _rows(panel: int, label: object, kind: str, points: Any) -> Iterator[Row]:
    series = str(label)
    series = "" if series.startswith("_") else " ".join(series.split())
    for x, y in points:
        yield Row(panel, series, kind, float(x), float(y))
