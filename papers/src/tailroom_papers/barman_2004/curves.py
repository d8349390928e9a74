"""Elements of the pictures over the buffer: lines with bands, ns-2's points, axes."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tailroom_papers.barman_2004.settings import Reference, Setting
from tailroom_papers.barman_2004.smallest_buffer import stays_from
from tailroom_papers.framework import *

if TYPE_CHECKING:
    from matplotlib.axis import Axis

PAPER_LOOK: dict[str, Any] = {
    "linestyle": "none",
    "marker": "P",
    "markersize": 9,
    "markerfacecolor": "#F0E442",
    "markeredgecolor": "black",
    "zorder": 7,
}
NS2_LOOK: dict[str, Any] = {
    "linestyle": "none",
    "marker": "*",
    "markersize": 11,
    "markerfacecolor": "white",
    "markeredgecolor": "black",
    "markeredgewidth": 0.7,
    "zorder": 5,
}
NS2_VARIANT_LOOK = {**NS2_LOOK, "marker": "x", "markersize": 6, "markeredgewidth": 1.1}
MODEL_DASHES: tuple[Any, ...] = ("-", "--", (0, (1, 1.5)), "-.", (0, (6, 1, 1, 1, 1, 1)))
MODEL_COLOURS = ("0.72", "#009E73", "black", "#CC79A7", "#E69F00")
MODEL_WIDTHS = (5.0, 1.4, 1.4, 1.6, 1.6)
"""The paper's model is broad, so that those that coincide with it are seen upon it."""


def model_looks() -> Iterator[dict[str, Any]]:
    """Lines of models: without markers, in colours of their own."""
    for colour, dashes, width in zip(MODEL_COLOURS, MODEL_DASHES, MODEL_WIDTHS, strict=True):
        yield {"color": colour, "linestyle": dashes, "linewidth": width, "zorder": 1.5}


def simulated_looks() -> Iterator[dict[str, Any]]:
    """Lines of simulations: solid, with markers."""
    for look in style.marked_line_styles():
        yield {**look, "linestyle": "-"}


def simulated(  # noqa: PLR0913, PLR0917 - each says one thing about the lines
    axes: Axes,
    results: PartResults,
    names: Mapping[str, str],
    setting: Setting,
    metric: Metric,
    scale: float = 1.0,
) -> None:
    """A metric over the fraction of the buffer, with 95 % bands: a line per study of the form.

    Args:
        axes: Axes to draw into.
        results: The results of the part.
        names: Labels of the studies, by name.
        setting: The setting of all studies.
        metric: The metric.
        scale: Factor on the metric.
    """
    for look, (name, label) in zip(simulated_looks(), names.items(), strict=False):
        if name in results.studies:
            points = results.study(name).points
            over = [setting.fraction(point) for point in points]
            draw_means(axes, over, points, metric, look, label=label, scale=scale)


def ns2_points(  # noqa: PLR0913, PLR0917 - each says one thing about the points
    axes: Axes,
    rows: Sequence[Reference],
    what: str,
    scale: float = 1.0,
    label: str = "ns-2",
    look: Mapping[str, Any] = NS2_LOOK,
) -> None:
    """ns-2's rows."""
    if rows:
        values = [scale * getattr(row, what) for row in rows]
        axes.plot([row.fraction for row in rows], values, label=label, **look)


def ns2_variant_points(axes: Axes, rows: Sequence[Reference], what: str, scale: float) -> None:
    """ns-2's rows with a detail changed."""
    ns2_points(axes, rows, what, scale, "ns-2, another detail", NS2_VARIANT_LOOK)


def spread(low: float, high: float, count: int) -> list[float]:
    """Fractions in equal steps of their logarithm."""
    return [float(number) for number in np.geomspace(low, high, count)]


def reaches(study: StudyResults, setting: Setting, level: float) -> float | None:
    """Returns the fraction of the buffer from which mean utilization stays at a level."""
    fractions = [setting.fraction(point) for point in study.points]
    return stays_from(fractions, [point.mean("utilization") for point in study.points], level)


def percent(fraction: float) -> str:
    """In words: "4.1 %"."""
    return f"{100 * fraction:.3g} %"


def reached(study: StudyResults, setting: Setting, level: float) -> str:
    """In words: "6.3 % of 12,500 packets, which are 5.2 % of the BDP of the mean RTT"."""
    fraction = reaches(study, setting, level)
    if fraction is None:
        return "no buffer of this form"
    return (
        f"{percent(fraction)} of {setting.full_packets:,} packets "
        f"({percent(setting.in_bdp(fraction))} of the BDP of the mean RTT)"
    )


def _times(values: Any, factor: float) -> Any:
    return values * factor


def axis_in_bdp(axes: Axes, setting: Setting) -> None:
    """A second x axis above: the buffer as a share of the mean RTT's BDP."""
    factor = setting.in_bdp(1)
    above = axes.secondary_xaxis(
        "top", functions=(partial(_times, factor=factor), partial(_times, factor=1 / factor))
    )
    above.set_xlabel(f"share of the BDP of the mean RTT ({setting.bdp_packets:,.0f} packets)")
    above.tick_params(labelsize="small")
    if axes.get_xscale() == "log":
        for axis in (axes.xaxis, above.xaxis):
            _label_ticks(axis)


def _label_ticks(axis: "Axis") -> None:
    """Labels 1, 2 and 5 in every decade, as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(labelsize="small")


def _plain(value: float, _: object) -> str:
    return f"{value:g}"


def cut_bands(axes: Axes, top: float = 100.0) -> None:
    """Cuts confidence bands where no value can be: above 100 %."""
    (left, right), (bottom, highest) = axes.get_xlim(), axes.get_ylim()
    height = min(top, highest) - bottom
    for band in axes.collections:
        band.set_clip_path(
            Rectangle((left, bottom), right - left, height, transform=axes.transData)
        )
        band.set_in_layout(False)


def paper_points(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """What the paper states: fraction of the buffer and utilization in percent."""
    axes.plot(*zip(*points, strict=True), label="stated in the paper", **PAPER_LOOK)
