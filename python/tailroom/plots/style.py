"""Style shared by the figures: lines that differ without colour, axes, labels, legends."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle, pairwise, product
from math import dist, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from tailroom.plots.log_axis import TicksUpTo, label_logarithmic, plain, plain_ticks
from tailroom.simulation.metric_catalogue import metric_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

    from tailroom.simulation.result import Result

DOTS_PER_INCH = 150
"""Resolution of pictures in files."""

MOST_LINES = 10
"""Maximum number of lines in one panel; readers cannot tell more lines apart."""

# The palette of Okabe and Ito, for readers with colour blindness; dark and light alternate.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
LIMIT_LINE: dict[str, Any] = {"color": "0.4", "linestyle": (0, (4, 2)), "linewidth": 1.2}


FAILING_LINE: dict[str, Any] = {"alpha": 0.4, "linewidth": 0.9}
"""Style of the prediction of a model whose assumptions fail: pale and thin, in its own colour."""

DECADES_RATIO = 30
"""Ratio of the largest to the smallest value from which a scale is logarithmic."""
GEOMETRIC_RATIO = 8
"""Ratio of the largest to the smallest chosen value below which their scale is linear."""
MOST_COLUMNS = 400
"""Largest number of samples that a panel over time shows one by one."""
MARKER_ROOM = 0.03
"""Room for markers above the largest possible value, as a fraction of the axis."""
CHARACTERS_PER_INCH = (9.5, 10.5)
"""Characters of a title per inch: above all of the figure, and left of a legend."""
LEGEND_ROOM = 1.6
"""Width of the legend of all panels that figures have room for, in inches."""
TICK_GAP = 0.09
"""Smallest distance of two labels, as a fraction of the axis."""
LINE_HEIGHT = 9
"""Distance of two labels that stand one below the other, in printer's points."""
PIECE = (1.03, 1.075)
"""Where the piece of a line before its label begins and ends, as fractions of the panel."""
DISTANCES = (4, 7)
"""Distances at which a text may stand from its point, in printer's points."""
DIRECTIONS = ((1, -1), (1, 1), (0, -1), (0, 1), (-1, 1), (-1, -1), (1, 0), (-1, 0))
"""Directions of a text from its point: right or left, up or down."""
CHARACTER = 0.018
"""Width of a character of a label, as a fraction of a narrow axis."""


def failing_words(failing: int, predicting: int) -> str:
    """Returns the words that the legend adds to the name of a model.

    Args:
        failing: Number of points at which an assumption fails.
        predicting: Number of points at which the model predicts.
    """
    if not failing:
        return ""
    return " (assumptions fail)" if failing == predicting else " (pale: assumptions fail)"


def line_styles() -> Iterator[dict[str, Any]]:
    """Yields line styles without end; successive styles differ in colour and in dashes."""
    for colour, dashes in zip(cycle(COLOURS), cycle(DASHES), strict=False):
        yield {"color": colour, "linestyle": dashes, "linewidth": 1.1}


def evenly_spread(names: list[Any], most: int = MOST_LINES) -> list[Any]:
    """Returns at most `most` of the items, evenly spread from the first to the last."""
    if len(names) <= most:
        return names
    return [names[round(place * (len(names) - 1) / (most - 1))] for place in range(most)]


def time_axis(axes: "Axes", result: "Result") -> None:
    """Makes x the time in seconds, and shades the time that the statistics leave out."""
    measured_from_s = result.summary["measured_from_s"]
    axes.set_xlim(0, result.summary["measured_to_s"])
    axes.set_xlabel("time (s)")
    if measured_from_s > 0:
        axes.axvspan(0, measured_from_s, color="0.93", zorder=0, label="not in the statistics")


def envelope(axes: "Axes", time_s: Any, values: Any, label: str) -> None:
    """Draws a series; of more samples than columns, the range and the mean of each column."""
    times, numbers = np.asarray(time_s), np.asarray(values)
    each = len(numbers) // MOST_COLUMNS
    if each < 2:
        axes.plot(times, numbers, color="black", linewidth=0.8, label=label)
        return
    whole = each * (len(numbers) // each)
    columns = numbers[:whole].reshape(-1, each)
    at = times[:whole].reshape(-1, each).mean(axis=1)
    ends = columns.min(axis=1), columns.max(axis=1)
    axes.fill_between(at, *ends, color="0.65", linewidth=0, label=f"{label}, smallest to largest")
    axes.plot(at, columns.mean(axis=1), color="black", linewidth=0.8, label=f"{label}, mean")


def legend_at_right(axes: "Axes") -> None:
    """Places the legend to the right of the panel, where it hides no data."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small", frameon=False)


def marked_line_styles() -> Iterator[dict[str, Any]]:
    """Yields line styles with markers without end, so that overlapping lines differ."""
    for line, marker in zip(line_styles(), cycle(MARKERS), strict=False):
        yield {**line, "marker": marker, "markersize": 4.5, "markerfacecolor": "white"}


def band(lines: int) -> dict[str, Any]:
    """Returns the style of confidence bands without their colour; paler with more than 4 lines."""
    return {"alpha": 0.18 if lines <= 4 else 0.09, "linewidth": 0}


def spans_decades(values: Sequence[float]) -> bool:
    """Returns whether these values span enough decades for a logarithmic scale."""
    finite = [value for value in values if isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) >= DECADES_RATIO


def title(figure: "Figure", text: str, legend: float = 0.0) -> None:
    """Writes the title of a figure, wrapped to the width of the figure.

    Args:
        figure: The figure.
        text: The title.
        legend: Width of the legend at the right, in inches; the title then begins at the left, so
            that it ends before the legend.
    """
    width = int(CHARACTERS_PER_INCH[legend > 0] * (figure.get_figwidth() - legend))
    place: dict[str, Any] = {"x": 0.01, "ha": "left"} if legend else {}
    figure.suptitle(textwrap.fill(text, width), fontsize="medium", **place)


def run_title(summary: Mapping[str, Any], shown: str = "") -> str:
    """Returns the title of a figure of one run, which says that it is one.

    Args:
        summary: The summary of the run.
        shown: What the figure shows of it.
    """
    runs = f"{runs_words([1])}, seed {summary['seed']}"
    return "\n".join(filter(None, (summary["title"], shown, runs)))


def runs_words(counts: Iterable[int]) -> str:
    """Returns how many runs are behind the means of a figure: `n = 3 runs`, `n = 4 to 32 runs`.

    Args:
        counts: The number of runs of each mean; 0 is left out.
    """
    known = sorted({count for count in counts if count})
    if not known:
        return "no run"
    several = f"{known[0]} to {known[-1]}" if len(known) > 1 else f"{known[0]}"
    return f"n = {several} {'run' if known == [1] else 'runs'}"


def scale_over(axes: "Axes", values: Sequence[float], first: float | None = None) -> None:
    """Scales the x axis for chosen values, with a label at each value.

    The scale is logarithmic if that spreads the values more evenly. If two labels would touch, the
    second one is left out.

    Args:
        axes: The panel.
        values: The values.
        first: A value whose label is never left out.
    """
    values = sorted(set(values))
    if _are_geometric(values):
        axes.set_xscale("log")
    places = [log10(value) if axes.get_xscale() == "log" else value for value in values]
    reach = places[-1] - places[0]
    widths = [len(plain(value)) for value in values]
    ticks: list[int] = []
    for place in sorted(range(len(values)), key=lambda place: values[place] != first):
        gaps = [
            abs(places[place] - places[other])
            >= max(TICK_GAP, CHARACTER * (widths[place] + widths[other] + 1) / 2) * reach
            for other in ticks
        ]
        if all(gaps):
            ticks.append(place)
    ticks.sort()
    axes.set_xticks([values[place] for place in ticks], [plain(values[place]) for place in ticks])
    axes.minorticks_off()


def _are_geometric(values: Sequence[float]) -> bool:
    """Returns whether a logarithmic scale spreads chosen values, in ascending order, better."""
    low, high = values[0], values[-1]
    if spans_decades(values) or low <= 0 or high / low < GEOMETRIC_RATIO:
        return spans_decades(values)
    pairs = list(pairwise(values))
    linear = min((b - a) / (high - low) for a, b in pairs)
    return linear < min(log10(b / a) / log10(high / low) for a, b in pairs)


def scale_up(axes: "Axes", values: Sequence[float]) -> None:
    """Scales the y axis for measured values: logarithmic over decades, with 0 at the bottom."""
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
    """Writes a text next to each point, nearer to it than to others, inside the panel and free.

    No line, point or other text crosses it.

    A text without such a place is left out. The layout of the figure must be known.
    """
    dots = axes.figure.dpi / 72
    at = [tuple(map(float, axes.transData.transform(point))) for point in points]
    taken = [(x - 3 * dots, y - 3 * dots, x + 3 * dots, y + 3 * dots) for x, y in at]
    lines = _drawn_lines(axes)
    for (x, y), point, text in zip(at, points, texts, strict=True):
        width, height = (4.6 * len(text) + 2) * dots, 8 * dots
        for away, (across, up) in product(DISTANCES, DIRECTIONS):
            left = x + across * away * dots - (1 - across) / 2 * width
            low = y + up * away * dots - (1 - up) / 2 * height
            box = (left, low, left + width, low + height)
            if not _is_inside(axes, box) or any(_overlap(box, other) for other in taken):
                continue
            middle = (left + width / 2, low + height / 2)
            if dist(middle, (x, y)) > min(dist(middle, other) for other in at):
                continue
            if any(line.intersects_bbox(Bbox.from_extents(*box), filled=False) for line in lines):
                continue
            taken.append(box)
            axes.annotate(
                text,
                point,
                textcoords="offset points",
                xytext=(across * away, up * away),
                ha={1: "left", 0: "center", -1: "right"}[across],
                va={1: "bottom", 0: "center", -1: "top"}[up],
                fontsize="x-small",
            )
            break


def label_ends(axes: "Axes") -> None:
    """Writes the label of each line next to its last point, right of the panel, below each other.

    A thin line leads from the point to a piece of the line, which stands before its label: lines
    that end together are told apart by it. The layout of the figure must be known.
    """
    dots = axes.figure.dpi / 72
    area = axes.get_window_extent()
    ends: dict[str, tuple[Line2D, float]] = {}
    for line in axes.lines:
        corners = line.get_transform().transform(line.get_xydata())
        known = corners[np.isfinite(corners).all(axis=1)]
        name = str(line.get_label())
        if not name.startswith("_") and len(known):
            ends[name] = (line, float(np.clip(known[-1, 1], area.y0, area.y1)))
    lowest, step = area.y0 - LINE_HEIGHT * dots, LINE_HEIGHT * dots
    # From the lowest up, each label at its point or just above the one below.
    heights: dict[str, float] = {}
    for name, (_, height) in sorted(ends.items(), key=lambda end: end[1][1]):
        lowest = heights[name] = max(height, lowest + step)
    # Down again as far as the panel asks.
    highest = area.y1 + step
    for name in reversed(heights):
        highest = heights[name] = min(heights[name], highest - step)
    for name, height in heights.items():
        line, end = ends[name]
        low, high = ((place - area.y0) / area.height for place in (end, height))
        leader = Line2D([1, PIECE[0]], [low, high], color="0.7", linewidth=0.5)
        piece = Line2D(PIECE, [high, high], markevery=[1])
        piece.update_from(line)
        piece.set(markevery=[0], label="_piece")
        for one in (leader, piece):
            one.set(transform=axes.transAxes, clip_on=False)
            axes.figure.add_artist(one)
        axes.annotate(
            name,
            (PIECE[1] + 0.008, high),
            xycoords="axes fraction",
            va="center",
            fontsize="x-small",
            color=line.get_color(),
            annotation_clip=False,
        )


def _drawn_lines(axes: "Axes") -> list["Path"]:
    """The lines and error bars of a panel, in dots."""
    bars = [bar for bar in axes.collections if isinstance(bar, LineCollection)]
    paths = [(line.get_transform(), line.get_path()) for line in axes.lines]
    paths += [(bar.get_transform(), path) for bar in bars for path in bar.get_paths()]
    return [transform.transform_path(path) for transform, path in paths]


def figure_legend(figure: "Figure", handles: Sequence[Any], room: float | None = None) -> None:
    """Adds one legend for all panels to the right of them.

    Args:
        figure: The figure.
        handles: Lines and patches with their labels.
        room: Width that the figure has for the legend, in inches. A wider legend widens the figure,
            and leaves the panels as they are; if left out, it narrows the panels.
    """
    legend = figure.legend(
        handles=list(handles), loc="outside right upper", fontsize="small", frameon=False
    )
    if room is None:
        return
    for text in legend.get_texts():
        text.set_parse_math(False)
    missing = legend.get_window_extent().width / figure.dpi - room
    if missing > 0:
        figure.set_figwidth(figure.get_figwidth() + missing)


def cap_at_highest(axes: "Axes", metric: str) -> None:
    """Ends the y axis just above the largest possible value of a metric, such as 100 %.

    The markers of means at that value stay whole, longer intervals are cut, and no tick is above.

    Args:
        axes: The panel, with its lines and its lower limit.
        metric: Name of the metric on the y axis.
    """
    known = metric_of(metric)
    low, high = axes.get_ylim()
    if known.highest is None or axes.get_yscale() != "linear":
        return
    most = known.unit.scale * known.highest
    if high > most:
        axes.set_ylim(top=most + MARKER_ROOM * (most - max(low, 0)))
        axes.yaxis.set_major_locator(TicksUpTo(most))


_Box = tuple[float, float, float, float]


def _overlap(first: _Box, second: _Box) -> bool:
    across = first[0] < second[2] and second[0] < first[2]
    return across and first[1] < second[3] and second[1] < first[3]


def _is_inside(axes: "Axes", box: _Box) -> bool:
    area = axes.get_window_extent()
    return bool(box[0] >= area.x0 and box[2] <= area.x1 and box[1] >= area.y0 and box[3] <= area.y1)
