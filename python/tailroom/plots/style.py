"""What the figures share: lines that differ without colour, axes, labels, the legend beside."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from math import isfinite, log10
from typing import TYPE_CHECKING, Any

from tailroom.plots.log_axis import label_logarithmic, plain, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tailroom.simulation.result import Result

DOTS_PER_INCH = 150
"""Of pictures in a file."""

MOST_LINES = 10
"""More lines in one panel cannot be told apart."""

# Okabe and Ito's colours, readable to the colour-blind, dark and light in turn.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
LIMIT_LINE: dict[str, Any] = {"color": "0.4", "linestyle": (0, (4, 2)), "linewidth": 1.2}


FAILING_LINE: dict[str, Any] = {"alpha": 0.4, "linewidth": 0.9}
"""Of a model whose assumptions fail: paler and thinner, in its own colour, as many often fail."""

DECADES_RATIO = 30
"""Values that span more than this are drawn on a logarithmic scale."""
GEOMETRIC_RATIO = 8
"""Chosen values that span less are drawn on a linear scale, however they are spread."""
TICK_GAP = 0.09
"""Labels nearer than this part of an axis would touch."""


def failing_words(failing: int, predicting: int) -> str:
    """What the legend adds to a model's name, by how many of its points its assumptions fail at."""
    if not failing:
        return ""
    return " (assumptions fail)" if failing == predicting else " (pale: assumptions fail)"


def line_styles() -> Iterator[dict[str, Any]]:
    """Endless line styles; neighbours differ in colour and in dashes."""
    for colour, dashes in zip(cycle(COLOURS), cycle(DASHES), strict=False):
        yield {"color": colour, "linestyle": dashes, "linewidth": 1.1}


def evenly_spread(names: list[Any], most: int = MOST_LINES) -> list[Any]:
    """At most `most` of the names, or of whatever it is, from first to last."""
    if len(names) <= most:
        return names
    return [names[round(place * (len(names) - 1) / (most - 1))] for place in range(most)]


def time_axis(axes: "Axes", result: "Result") -> None:
    """Time in seconds, with the part that the statistics leave out shaded."""
    measured_from_s = result.summary["measured_from_s"]
    axes.set_xlim(0, result.summary["measured_to_s"])
    axes.set_xlabel("time (s)")
    if measured_from_s > 0:
        axes.axvspan(0, measured_from_s, color="0.93", zorder=0, label="not in the statistics")


def legend_beside(axes: "Axes") -> None:
    """The legend right of the panel, where it hides nothing."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small", frameon=False)


def marked_line_styles() -> Iterator[dict[str, Any]]:
    """Endless line styles with markers, so that lines differ where they lie on one another."""
    for line, marker in zip(line_styles(), cycle(MARKERS), strict=False):
        yield {**line, "marker": marker, "markersize": 4.5, "markerfacecolor": "white"}


def band(lines: int) -> dict[str, Any]:
    """How confidence bands look, beside their line's colour; paler where many overlap."""
    return {"alpha": 0.18 if lines <= 4 else 0.09, "linewidth": 0}


def spans_decades(values: Sequence[float]) -> bool:
    """Whether a logarithmic scale shows these values better."""
    finite = [value for value in values if isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) >= DECADES_RATIO


def title(figure: "Figure", text: str, columns: int = 2) -> None:
    """The title in as many lines as the figure's width takes.

    Above a single column of panels it begins at the left: the legend is right of it.
    """
    if columns == 1:
        figure.suptitle(textwrap.fill(text, 36), x=0.01, ha="left", fontsize="medium")
        return
    width = int(9.5 * figure.get_figwidth())
    figure.suptitle(textwrap.fill(text, width), fontsize="medium")


def scale_over(axes: "Axes", values: Sequence[float]) -> None:
    """The x axis of values that were chosen: logarithmic if that spreads them, labelled at them.

    Of values whose labels would touch, the later one goes without.
    """
    values = sorted(set(values))
    if _are_geometric(values):
        axes.set_xscale("log")
    places = [log10(value) if axes.get_xscale() == "log" else value for value in values]
    reach = places[-1] - places[0]
    widest = max(len(plain(value)) for value in values)
    gap = max(TICK_GAP, 0.014 * widest) * reach
    ticks: list[int] = []
    for place in range(len(values)):
        if not ticks or places[place] - places[ticks[-1]] >= gap:
            ticks.append(place)
    axes.set_xticks([values[place] for place in ticks], [plain(values[place]) for place in ticks])
    axes.minorticks_off()


def _are_geometric(values: Sequence[float]) -> bool:
    """Whether a logarithmic scale keeps chosen values, in ascending order, further apart."""
    low, high = values[0], values[-1]
    if spans_decades(values) or low <= 0 or high / low < GEOMETRIC_RATIO:
        return spans_decades(values)
    pairs = list(pairwise(values))
    linear = min((b - a) / (high - low) for a, b in pairs)
    return linear < min(log10(b / a) / log10(high / low) for a, b in pairs)


def scale_up(axes: "Axes", values: Sequence[float]) -> None:
    """The y axis of what was measured: logarithmic over decades, with 0 at its foot."""
    positive = [value for value in values if isfinite(value) and value > 0]
    if not spans_decades(positive):
        return
    least = 10.0 ** int(log10(min(positive)) - (min(positive) < 1))
    if any(value == 0 for value in values):
        axes.set_yscale("symlog", linthresh=least, linscale=0.5)
        axes.set_ylim(bottom=0, top=2 * max(positive))
    else:
        axes.set_yscale("log")
        axes.set_ylim(bottom=min(positive) / 2)
        label_logarithmic(axes.yaxis)
        return
    axes.yaxis.set_major_formatter(plain_ticks)


def label_points(axes: "Axes", points: Sequence[tuple[float, float]], texts: Sequence[str]) -> None:
    """Writes each point's text beside it, and leaves out those for which there is no room."""
    canvas = axes.figure.dpi / 72
    at = [tuple(map(float, axes.transData.transform(point))) for point in points]
    taken = [(x - 3 * canvas, y - 3 * canvas, x + 3 * canvas, y + 3 * canvas) for x, y in at]
    for (x, y), point, text in zip(at, points, texts, strict=True):
        for right, up in ((True, False), (True, True), (False, True), (False, False)):
            width, height = (4.6 * len(text) + 2) * canvas, 8 * canvas
            left = x + 4 * canvas if right else x - 4 * canvas - width
            low = y + 3 * canvas if up else y - 3 * canvas - height
            box = (left, low, left + width, low + height)
            inside = _is_inside(axes, box)
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                axes.annotate(
                    text,
                    point,
                    textcoords="offset points",
                    xytext=(4 if right else -4, 3 if up else -3),
                    ha="left" if right else "right",
                    va="bottom" if up else "top",
                    fontsize="x-small",
                )
                break


def figure_legend(figure: "Figure", handles: Sequence[Any]) -> None:
    """One legend for all panels, right of them."""
    figure.legend(handles=list(handles), loc="outside right upper", fontsize="small", frameon=False)


_Box = tuple[float, float, float, float]


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _is_inside(axes: "Axes", box: _Box) -> bool:
    area = axes.get_window_extent()
    return bool(box[0] >= area.x0 and box[2] <= area.x1 and box[1] >= area.y0 and box[3] <= area.y1)
