"""Lines with confidence bands, over buffers."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from tailroom.papers.found import Metric, PointFound
from tailroom.papers.today.network import LIMIT
from tailroom.plots import style

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
"""Controls as papers write them."""
LOOKS: Mapping[str, dict[str, Any]] = dict(zip(LABELS, style.marked_line_styles(), strict=False))
"""The same look of a control in every picture."""


def amount(point: PointFound) -> float:
    """The number in a point's queue limit: 0.1 of "0.1 bdp"."""
    return float(str(point.settings[LIMIT]).split()[0])


def line(
    panel: "Axes",
    points: Sequence[PointFound],
    metric: Metric,
    look: Mapping[str, Any],
    scale: float = 1.0,
) -> list[float]:
    """A metric over the queue limits with its 95 % band; returns the means as drawn."""
    over = [amount(point) for point in points]
    found = [point.interval(metric) for point in points]
    means = [scale * one.mean if one else nan for one in found]
    low = [scale * max(one.low, 0.0) if one else nan for one in found]
    high = [scale * one.high if one else nan for one in found]
    panel.plot(over, means, **look)
    panel.fill_between(over, low, high, color=look["color"], **style.band(4))
    return means


def finish(panel: "Axes", points: Sequence[PointFound], values: Sequence[float]) -> None:
    """Scales and grid of a panel over queue limits."""
    style.scale_over(panel, [amount(point) for point in points])
    style.scale_up(panel, values)
    panel.grid(visible=True, color="0.92")
