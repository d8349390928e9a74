"""Index of dispersion of arrivals by time scale."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

    from tailroom.simulation.result import Result

LEAST_INDEX = 0.05
"""Lower end of the band on a logarithmic axis; with few intervals it would reach 0."""


def draw(result: "Result") -> Figure:
    """One line per link, and the band that contains 95 % of Poisson arrivals at each scale.

    Raises:
        ArgumentError: No link measures its arrivals.
    """
    table = result.arrival_dispersion
    if table is None:
        raise ArgumentError(
            "no dispersion was recorded; give a link a time scale to begin with, "
            'as in arrival_dispersion = "10 us"'
        )
    figure = PlainTextFigure(figsize=(9, 3.6), layout="constrained")
    panel = figure.subplots()
    figure.suptitle(style.run_title(result.summary))
    links = style.evenly_spread(table.column("link").unique().to_pylist())
    for link, line in zip(links, style.line_styles(), strict=False):
        of_link = table.filter(pc.field("link") == link)
        panel.plot(of_link["scale_s"], of_link["index"], label=link, marker=".", **line)
    panel.axhline(1, label="Poisson", **style.LIMIT_LINE)
    _draw_spread_of_poisson(panel, table)
    panel.set_xscale("log")
    panel.set_yscale("log")
    label_logarithmic(panel.yaxis)
    panel.set_xlabel("time scale (s)")
    panel.set_ylabel("index of dispersion\n(variance / mean of packets)")
    panel.grid(visible=True, color="0.92")
    style.legend_at_right(panel)
    return figure


def _draw_spread_of_poisson(panel: "Axes", table: "pa.Table") -> None:
    """Draws the 95 % band of the index of Poisson arrivals."""
    scale_s, first = np.unique(table["scale_s"].to_numpy(), return_index=True)
    intervals = table["intervals"].to_numpy()[first].astype(float)
    # The variance of n counts has a relative standard deviation of sqrt(2 / (n - 1)).
    spread = 1.96 * np.sqrt(2 / (intervals - 1))
    low = np.maximum(1 - spread, LEAST_INDEX)
    panel.fill_between(scale_s, low, 1 + spread, color="0.88", zorder=0, label="Poisson, 95 %")
