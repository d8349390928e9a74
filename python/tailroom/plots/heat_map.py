"""A metric of a sweep over two keys."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from tailroom import arguments
from tailroom.errors import ArgumentError
from tailroom.plots import style
from tailroom.plots.log_axis import plain
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.sweep_view import Line, SweepView
from tailroom.simulation.metric_catalogue import axis_label, axis_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

MOST_PANELS = 9
"""Largest number of panels on a page."""
MOST_NUMBERS = 12
"""Largest number of columns with numbers in the cells."""
COLOURS = "cividis"
"""Colour map with evenly growing lightness, for grey print and colour blindness."""


def draw(
    view: SweepView, *, x: str | None = None, y: str | None = None, metric: str = ""
) -> Figure:
    """One panel per combination of the other keys; a cell is the mean over the runs of a point.

    Raises:
        ArgumentError: Fewer than two keys vary, or the other keys have too many combinations.
        MetricError: There is no such metric.
    """
    across, up = _keys(view, x, y)
    name = metric or view.of_link("utilization")
    lines = view.lines(across, up)
    if len(lines) > MOST_PANELS:
        raise ArgumentError(
            f"the other keys have {len(lines)} combinations, more than the {MOST_PANELS} panels of "
            "a page; choose other keys, or sweep fewer"
        )
    label, scale = axis_label(name), axis_scale(name)
    cells = [_cells(view, line, across, up, name) * scale for line in lines]
    norm = _norm(np.concatenate([cell.ravel() for cell in cells]))
    columns = min(3, len(lines))
    rows = -(-len(lines) // columns)
    width = 1.4 + 0.55 * len(view.words(across))
    height = 1.0 + 0.42 * len(view.words(up))
    size = (max(5.0, columns * max(2.6, width) + 1.2), max(2.6, rows * max(2.0, height) + 0.6))
    figure = PlainTextFigure(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    style.title(figure, view.title())
    for panel, line, values in zip(panels, lines, cells, strict=False):
        image = panel.imshow(values, norm=norm, cmap=COLOURS, aspect="auto", origin="lower")
        panel.set_title(line.label, fontsize="small", loc="left")
        _label(panel, view, across, up)
        _write_numbers(panel, values, norm)
        panel.label_outer()
    for panel in panels[len(lines) :]:
        panel.remove()
    figure.colorbar(image, ax=list(panels[: len(lines)]), label=f"{label}\n{view.runs_words()}")
    return figure


def _keys(view: SweepView, x: str | None, y: str | None) -> tuple[str, str]:
    """Returns the two keys: the named keys, else the first two whose values are combined.

    Raises:
        ArgumentError: No two keys of the sweep have values that are all combined.
    """
    across = [view.key(x)] if x else list(dict.fromkeys([view.along(), *view.axes]))
    up = [view.key(y)] if y else list(view.axes)
    for key, other in itertools.product(across, up):
        if _are_crossed(view, key, other):
            return key, other
    named = " and ".join(filter(None, (x, y)))
    raise ArgumentError(
        f"heatmap: needs two keys in {arguments.named('grid')} whose values are all combined; this "
        f"sweep varies {', '.join(view.axes)}"
        + (f", and {named} are not combined" if named else "")
    )


def _are_crossed(view: SweepView, first: str, second: str) -> bool:
    """Whether neither key's value determines the value of the other."""
    pairs = set(
        zip(*(view.positions(key, range(len(view.points))) for key in (first, second)), strict=True)
    )
    counts = [len({pair[side] for pair in pairs}) for side in (0, 1)]
    return first != second and len(pairs) > max(counts) and min(counts) > 1


def _cells(view: SweepView, line: Line, across: str, up: str, metric: str) -> "NDArray[np.float64]":
    means = view.means(metric, line.places).mean
    ordered = {
        key: sorted(set(view.positions(key, range(len(view.points))))) for key in (across, up)
    }
    cells = np.full((len(ordered[up]), len(ordered[across])), np.nan)
    along = view.positions(across, line.places)
    upwards = view.positions(up, line.places)
    for right, high, mean in zip(along, upwards, means, strict=True):
        cells[ordered[up].index(high), ordered[across].index(right)] = mean
    return cells


def _norm(values: "NDArray[np.float64]") -> Normalize:
    finite = values[np.isfinite(values)]
    if finite.size and style.spans_decades(finite.tolist()):
        return LogNorm(finite.min(), finite.max())
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    return Normalize(low, high)


def _label(panel: "Axes", view: SweepView, across: str, up: str) -> None:
    words = [_bare(view, across), _bare(view, up)]
    step = -(-len(words[0]) // MOST_NUMBERS)
    long = max(map(len, words[0])) > 6
    turned: dict[str, Any] = {"rotation": 30, "ha": "right"} if long else {}
    panel.set_xticks(range(0, len(words[0]), step), words[0][::step], **turned)
    panel.set_yticks(range(len(words[1])), words[1])
    panel.set_xlabel(view.axis_label(across))
    panel.set_ylabel(view.axis_label(up))


def _bare(view: SweepView, key: str) -> list[str]:
    """Returns the values of a key in words, without the unit."""
    numbers = view.axes[key].numbers
    return view.words(key) if numbers is None else [plain(number) for number in sorted(numbers)]


def _write_numbers(panel: "Axes", values: "NDArray[np.float64]", norm: Normalize) -> None:
    if values.shape[1] > MOST_NUMBERS:
        return
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            dark = float(norm(value)) < 0.5
            panel.text(
                column,
                row,
                f"{value:.3g}",
                ha="center",
                va="center",
                fontsize="x-small",
                color="white" if dark else "black",
            )
