"""Lines with confidence bands, over buffers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tailroom.plots import style
from tailroom_papers.framework import *
from tailroom_papers.today.network import LIMIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {
    "reno": "Reno",
    "cubic": "CUBIC",
    "highspeed": "HighSpeed",
    "scalable": "Scalable",
    "bbr1": "BBRv1",
    "bbr3": "BBRv3",
}
"""Names of the controls in the papers' spelling."""
LOOKS: Mapping[str, dict[str, Any]] = dict(zip(LABELS, style.marked_line_styles(), strict=False))
"""The same look of a control in every picture."""


def line(
    panel: "Axes",
    points: Sequence[PointResults],
    metric: Metric,
    look: Mapping[str, Any],
    scale: float = 1.0,
) -> list[float]:
    """A metric over the queue limits with its 95 % band; returns the means as drawn."""
    limits = [point.number(LIMIT) for point in points]
    return draw_means(panel, limits, points, metric, look, scale=scale)


def finish(panel: "Axes", points: Sequence[PointResults], values: Sequence[float]) -> None:
    """Scales and grid of a panel over queue limits."""
    style.scale_over(panel, [point.number(LIMIT) for point in points])
    style.scale_up(panel, values)
    panel.grid(visible=True, color="0.92")
