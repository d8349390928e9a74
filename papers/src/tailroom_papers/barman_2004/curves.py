"""Elements of the pictures over the buffer: lines with bands, ns-2's points, axes."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tailroom.plots import style
from tailroom.reproduction.mean_curves import draw_means
from tailroom.reproduction.part_results import Metric, StudyResults
from tailroom_papers.barman_2004.settings import Reference, Setting
from tailroom_papers.barman_2004.smallest_buffer import stays_from

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NS2_LOOK: dict[str, Any] = {
    "linestyle": "none",
    "marker": "*",
    "markersize": 11,
    "markerfacecolor": "#E69F00",
    "markeredgecolor": "black",
    "markeredgewidth": 0.7,
    "zorder": 5,
}
NS2_VARIANT_LOOK = {**NS2_LOOK, "marker": "x", "markersize": 6, "markeredgewidth": 1.1}
MODEL_DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
MODEL_COLOURS = ("0.25", "#D55E00", "#009E73", "#CC79A7")


def model_looks() -> Iterator[dict[str, Any]]:
    """Lines of models: dashed, without markers."""
    for colour, dashes in zip(MODEL_COLOURS, MODEL_DASHES, strict=True):
        yield {"color": colour, "linestyle": dashes, "linewidth": 1.5}


def simulated_looks() -> Iterator[dict[str, Any]]:
    """Lines of simulations: solid, with markers."""
    for look in style.marked_line_styles():
        yield {**look, "linestyle": "-"}


def measured(  # noqa: PLR0913, PLR0917 - each says one thing about a line
    axes: "Axes",
    study: StudyResults,
    setting: Setting,
    metric: Metric,
    look: dict[str, Any],
    label: str,
    scale: float = 1.0,
) -> None:
    """A metric of a study over the fraction of the buffer, with its 95 % band."""
    over = [setting.fraction(point) for point in study.points]
    draw_means(axes, over, study.points, metric, look, label=label, scale=scale)


def ns2_points(axes: "Axes", rows: Sequence[Reference], what: str, scale: float) -> None:
    """ns-2's rows."""
    _points(axes, rows, what, scale, "ns-2", NS2_LOOK)


def ns2_variant_points(axes: "Axes", rows: Sequence[Reference], what: str, scale: float) -> None:
    """ns-2's rows with a detail changed."""
    _points(axes, rows, what, scale, "ns-2, another detail", NS2_VARIANT_LOOK)


def _points(  # noqa: PLR0913, PLR0917 - each says one thing about the points
    axes: "Axes",
    rows: Sequence[Reference],
    what: str,
    scale: float,
    label: str,
    look: dict[str, Any],
) -> None:
    if rows:
        values = [scale * getattr(row, what) for row in rows]
        axes.plot([row.fraction for row in rows], values, label=label, **look)


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


def buffer(setting: Setting, fraction: float | None) -> str:
    """In words: "4.1 % of 12,500 packets"; the result of `reaches`."""
    if fraction is None:
        return "no buffer looked at"
    return f"{percent(fraction)} of {setting.full_packets:,} packets"
