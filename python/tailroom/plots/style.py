"""What the figures share: lines that differ without colour, the time axis, the legend beside."""

from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.results import Result

DOTS_PER_INCH = 150
"""Of pictures in a file."""

MOST_LINES = 10
"""More lines in one panel cannot be told apart."""

# Okabe and Ito's colours, readable to the colour-blind, dark and light in turn.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
LIMIT_LINE: dict[str, Any] = {"color": "0.4", "linestyle": (0, (4, 2)), "linewidth": 1.2}


def line_styles() -> Iterator[dict[str, Any]]:
    """Endless line styles; neighbours differ in colour and in dashes."""
    for colour, dashes in zip(cycle(COLOURS), cycle(DASHES), strict=False):
        yield {"color": colour, "linestyle": dashes, "linewidth": 1.1}


def evenly_spread(names: list[str], most: int = MOST_LINES) -> list[str]:
    """At most `most` of the names, from first to last."""
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
