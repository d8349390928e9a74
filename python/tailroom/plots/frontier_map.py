"""The smallest sufficient value, or the best alpha, over two other keys."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.heat_map import COLOURS
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.readable_names import readable
from tailroom.scenario.axis import key_words, value_words
from tailroom.studies.size_study.alphas import ALPHAS

if TYPE_CHECKING:
    from tailroom.scenario.axis import Axis
    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.frontier import Frontier

WIDTH_OF_CELL, HEIGHT_OF_CELL = 1.1, 0.55
"""Size of a cell, in inches."""


def draw(frontier: "Frontier") -> Figure:
    """Draws a cell per pair of values: the answer, and the range of alphas that meet targets."""
    up, across = frontier.axes
    shape = len(up.values), len(across.values)
    scale, label = frontier.sizes[0].varied.axis
    answers = [np.nan if one.answer is None else scale * one.answer for one in frontier.sizes]
    values = np.ma.masked_invalid(np.reshape(answers, shape))
    figure = PlainTextFigure(
        figsize=(2.6 + WIDTH_OF_CELL * shape[1], 1.6 + HEIGHT_OF_CELL * shape[0]),
        layout="constrained",
    )
    panel = figure.add_subplot()
    found = values.compressed()
    norm = LogNorm(found.min(), found.max()) if found.size and found.min() < found.max() else None
    image = panel.imshow(values, norm=norm, cmap=COLOURS, aspect="auto", origin="lower")
    for place, one in enumerate(frontier.sizes):
        row, column = divmod(place, shape[1])
        is_dark = norm is not None and one.answer is not None and norm(answers[place]) < 0.5
        colour = "white" if is_dark else "black"
        words = _words(one)
        panel.text(column, row, words, ha="center", va="center", fontsize="x-small", color=colour)
    panel.set_xticks(range(shape[1]), _values(across))
    panel.set_yticks(range(shape[0]), _values(up))
    panel.set_xlabel(_label(across))
    panel.set_ylabel(_label(up))
    style.title(figure, f"{frontier.sizes[0].varied.wanted.capitalize()} {label}")
    if norm is not None:
        bar = figure.colorbar(image, ax=panel)
        written = {scale * one.answer: _answer(one) for one in frontier.sizes if one.answer}
        bar.set_ticks(list(written), labels=list(written.values()))
        bar.minorticks_off()
    return figure


def _words(one: "Size") -> str:
    """The answer; below the best alpha, which meet the targets: a range, or how many of it."""
    if one.answer is None:
        return one.answer_text
    alphas = one.alphas
    if len(alphas) < 2:
        return _answer(one)
    range_text = one.varied.range_text(alphas[0], alphas[-1])
    is_whole = ALPHAS.index(alphas[-1]) - ALPHAS.index(alphas[0]) == len(alphas) - 1
    return f"{_answer(one)}\n({range_text if is_whole else f'{len(alphas)} from {range_text}'})"


def _answer(one: "Size") -> str:
    return one.varied.text(one.answer or 0)


def _values(axis: "Axis") -> list[str]:
    return readable([value_words(value, axis.values) for value in axis.values])


def _label(axis: "Axis") -> str:
    return key_words(axis.key)
