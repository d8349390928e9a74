"""Curves over the buffer with their confidence bands, as the further questions draw them."""

from collections.abc import Sequence
from typing import Any

from tailroom_papers.barman_2004.settings import FIGURE_3
from tailroom_papers.framework import *
from tailroom_papers.reference import ns2

BUFFER_LABEL = "buffer (% of 12,500 packets)"


def draw_curve(  # noqa: PLR0913 - each says one thing about a curve
    axes: Axes,
    fractions: Sequence[float],
    points: Sequence[PointResults],
    metric: Metric,
    look: dict[str, Any],
    *,
    label: str,
    scale: float = 1.0,
    lines: int = 4,
) -> None:
    """The means of a metric over the buffer in percent, with the 95 % confidence band."""
    percent = [100 * fraction for fraction in fractions]
    draw_means(axes, percent, points, metric, look, label=label, scale=scale, lines=lines)


def finish(axes: Axes, fractions: Sequence[float], label: str, title: str) -> None:
    """The buffer below, a grid, what is drawn at the side."""
    style.scale_over(axes, [100 * fraction for fraction in fractions])
    axes.set_xlabel(BUFFER_LABEL)
    _in_bdp(axes)
    axes.set_ylabel(label)
    axes.set_title(title, fontsize="medium", loc="left")
    axes.grid(visible=True, color="0.92")


def _in_bdp(axes: Axes) -> None:
    """The ticks again above, as shares of the mean RTT's bandwidth-delay product (BDP)."""
    ticks = [float(tick) for tick in axes.get_xticks()]
    above = axes.secondary_xaxis("top")
    above.set_xticks(ticks, [f"{FIGURE_3.in_bdp(tick):.2g}" for tick in ticks], fontsize="small")
    above.minorticks_off()
    above.set_xlabel("% of the BDP of the mean RTT (15,000 packets)", fontsize="small")


def finish_utilization(axes: Axes, fractions: Sequence[float], title: str) -> None:
    """The same for utilization in percent: no band reaches where no mean can."""
    finish(axes, fractions, "utilization (%)", title)
    axes.set_ylim(top=101.5)


def one_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    """One legend under the figure with every label of these panels."""
    shown: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", fontsize="small",
        frameon=False, ncols=4,
    )  # fmt: skip


def legend_inside(axes: Axes) -> None:
    """A legend for what only this panel shows."""
    axes.legend(fontsize="small", frameon=False)


def draw_stated(axes: Axes, percent: float, text: str) -> None:
    """A utilization that the paper states."""
    axes.axhline(percent, label=text, **style.LIMIT_LINE)


def ns2_utilization(fraction: float, variation: str = "") -> float | None:
    """Of ns-2 on Figure 3's network with this buffer; `None` if there is no such row."""
    case = f"S1 {round(fraction * FIGURE_3.full_packets)} {variation}".rstrip()
    for row in ns2(case).to_pylist():
        if row["case"] == case:
            return float(row["util"])
    return None
