"""Curves over the buffer with their confidence bands, as the further questions draw them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tailroom_papers.barman_2004.settings import FIGURE_3
from tailroom_papers.framework import *
from tailroom_papers.reference import ns2_row

BUFFER_LABEL = "buffer (% of 12,500 packets)"


Lines = Mapping[str, tuple[Sequence[PointResults], Metric]]
"""The points of each line and their metric, by label."""


def draw_curves(  # noqa: PLR0913 - each is one option of a panel
    axes: Axes,
    fractions: Sequence[float],
    lines: Lines,
    label: str,
    title: str,
    *,
    scale: float = 1.0,
    looks: Iterable[Mapping[str, Any]] | None = None,
    **options: Any,
) -> None:
    """Means over the buffer in percent, with their 95 % confidence bands.

    Args:
        axes: The panel.
        fractions: The buffers of the points.
        lines: The lines.
        label: Label of the y axis.
        title: Title of the panel.
        scale: Factor on the metrics.
        looks: Styles of the lines.
        **options: Options of `frame`.
    """
    percent = [100 * fraction for fraction in fractions]
    for name, (points, metric), look in styled(lines, looks):
        draw_means(axes, percent, points, metric, look, label=name, scale=scale, lines=len(lines))
    frame_over_buffers(axes, fractions, y=label, title=title, **options)


def frame_over_buffers(axes: Axes, fractions: Sequence[float], **options: Any) -> None:
    """The frame of a panel over the buffer, in percent below and above; options as of `frame`."""
    style.scale_over(axes, [100 * fraction for fraction in fractions])
    frame(axes, x=BUFFER_LABEL, **options)
    ticks = [float(tick) for tick in axes.get_xticks()]
    above = axes.secondary_xaxis("top")
    above.set_xticks(ticks, [f"{FIGURE_3.in_bdp(tick):.2g}" for tick in ticks], fontsize="small")
    above.minorticks_off()
    above.set_xlabel("% of the BDP of the mean RTT (15,000 packets)", fontsize="small")


def legend_inside(axes: Axes) -> None:
    """A legend for what only this panel shows."""
    axes.legend(fontsize="small", frameon=False)


def draw_stated(axes: Axes, percent: float, text: str) -> None:
    """A utilization that the paper states."""
    axes.axhline(percent, label=text, **style.LIMIT_LINE)


def ns2_utilization(fraction: float, variation: str = "") -> float | None:
    """Of ns-2 on Figure 3's network with this buffer; `None` if there is no such row."""
    row = ns2_row(f"S1 {round(fraction * FIGURE_3.full_packets)} {variation}".rstrip())
    return float(row["util"]) if row else None
