"""Utilization of the links over time."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    from tailroom.simulation.result import Result


def draw(result: "Result") -> Figure:
    """One line per link: bits that left it, headers included, as a part of its capacity.

    Raises:
        ArgumentError: No series was recorded.
    """
    figure = PlainTextFigure(figsize=(9, 3.6), layout="constrained")
    panel = figure.subplots()
    figure.suptitle(result.summary["title"])
    links = style.evenly_spread(list(result.links))
    for link, line in zip(links, style.line_styles(), strict=False):
        series = result.series("utilization", link=link)
        mean = result.links[link]["utilization"]
        label = f"{link}, mean {mean:.1%}"
        panel.plot(series["time_s"], np.multiply(series["utilization"], 100), label=label, **line)
    style.time_axis(panel, result)
    panel.set_ylim(0, 105)
    panel.set_ylabel("utilization (%)")
    style.legend_beside(panel)
    return figure
