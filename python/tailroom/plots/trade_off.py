"""Utilization against mean queueing delay for the points of a sweep."""

from math import isfinite

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic, plain
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.sweep_view import SweepView
from tailroom.simulation.metric_catalogue import axis_label, axis_scale

PAID, GOT = "queue_delay_s_mean", "utilization"


def draw(view: SweepView, *, x: str | None = None) -> Figure:
    """One line per combination of the other keys, from point to point along a key.

    Raises:
        ArgumentError: There is no such key, or nothing varies.
    """
    key = view.key(x) if x else view.along()
    lines = view.lines(key)
    shown = style.evenly_spread(lines)
    figure = PlainTextFigure(figsize=(9, 5), layout="constrained")
    panel = figure.subplots()
    style.title(figure, view.title(), style.LEGEND_ROOM)
    numbers = view.axes[key].numbers
    delays: list[float] = []
    points: list[tuple[float, float]] = []
    texts: list[str] = []
    handles = []
    across, up = axis_scale(PAID), axis_scale(GOT)
    for line, look in zip(shown, style.marked_line_styles(), strict=False):
        paid, got = (view.means(view.of_link(name), line.places) for name in (PAID, GOT))
        delay, share = np.multiply(across, paid.mean), np.multiply(up, got.mean)
        panel.plot(delay, share, **look)
        panel.errorbar(
            delay,
            share,
            xerr=across * paid.bars,
            yerr=up * got.bars,
            fmt="none",
            ecolor=look["color"],
            elinewidth=0.7,
            alpha=0.6,
        )
        words = view.words(key)
        values = view.positions(key, line.places)
        for place, value in enumerate(values):
            if isfinite(delay[place]) and isfinite(share[place]):
                points.append((float(delay[place]), float(share[place])))
                texts.append(words[int(value)] if numbers is None else plain(value))
        delays += delay.tolist()
        handles.append(Line2D([], [], label=line.label or "simulation", **look))
    if style.spans_decades(delays):
        panel.set_xscale("log")
        label_logarithmic(panel.xaxis)
    panel.margins(0.06)
    panel.set_xlabel(f"{axis_label(PAID)}; the labels: {view.axis_label(key)}")
    panel.set_ylabel(axis_label(GOT))
    panel.grid(visible=True, color="0.92")
    confidence = f"95 % confidence, {view.runs_words()}"
    handles.append(Line2D([], [], color="0.3", marker="|", linewidth=0.7, label=confidence))
    style.cap_at_highest(panel, GOT)
    style.figure_legend(figure, handles, style.LEGEND_ROOM)
    figure.draw_without_rendering()
    style.label_points(panel, points, texts)
    return figure
