"""Pictures for a column of text: width, and text that stays readable at that width."""

import textwrap
from typing import Any

from matplotlib.text import Text

from tailroom_papers.framework import *

WIDTH_INCHES = 7.2
"""Nearly the width of a page in two columns, so that text keeps its size in print."""
TEXT_POINTS = 8.0
SMALL_POINTS = 7.5
"""Ticks, legends and notes."""
TITLE_CHARACTERS = 105
"""Length of a line of the title."""


def page(
    title: str, height_inches: float, rows: int = 1, columns: int = 1, **grid: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of the width of a page, with its title and panels."""
    figure, panels = figure_of("", rows, columns, (WIDTH_INCHES, height_inches), **grid)
    figure.suptitle(textwrap.fill(title, TITLE_CHARACTERS))
    return figure, panels


def readable(figure: Figure) -> Figure:
    """Gives every text of a drawn figure its size in print, and returns the figure."""
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_fontsize(TEXT_POINTS)
    for axes in figure.axes:
        axes.tick_params(labelsize=SMALL_POINTS)
        for note in axes.texts:
            note.set_fontsize(SMALL_POINTS)
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    for legend in legends:
        for text in legend.get_texts():
            text.set_fontsize(SMALL_POINTS)
    return figure


def finished(figure: Figure, columns: int) -> Figure:
    """Adds the legend of a drawn figure, and makes every text readable."""
    return readable(legend_below(figure, columns))
