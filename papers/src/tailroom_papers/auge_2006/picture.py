"""Pictures for a column of text: width, and text that stays readable at that width."""

import textwrap
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text

WIDTH_INCHES = 7.2
"""Nearly the width of a page in two columns, so that text keeps its size in print."""
TEXT_POINTS = 8.0
SMALL_POINTS = 7.5
"""Ticks, legends and notes."""
TITLE_CHARACTERS = 105
"""Length of a line of the title."""


def blank(height_inches: float) -> Figure:
    """An empty figure of the width of a page."""
    return Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")


def title(figure: Figure, text: str) -> None:
    """Writes the title of a figure, wrapped to its width."""
    figure.suptitle(textwrap.fill(text, TITLE_CHARACTERS))


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


def legend_below(figure: Figure, columns: int) -> None:
    """Adds one legend for all panels below them; each label appears once."""
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    found = list(handles.values())
    figure.legend(handles=found, loc="outside lower center", ncols=columns)
