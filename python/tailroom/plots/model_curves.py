"""Predictions of models over a key of the scenario, compared with the simulation."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.readable_names import readable
from tailroom.scenario.axis import key_words, value_words
from tailroom.simulation.metric_catalogue import axis_label, axis_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.scenario.axis import Axis
    from tailroom.studies.prediction import Curves

QUANTITIES = ("utilization", "loss_fraction", "queue_delay_s_mean")
"""What is drawn, a panel each."""
FAILING: dict[str, Any] = {"color": "0.5", "linewidth": 0.9}
"""Style of a model of which an assumption fails; its dashes and markers stay its own."""
SIMULATION: dict[str, Any] = {
    "color": "black",
    "marker": "o",
    "markersize": 4,
    "linewidth": 2,
    "zorder": 3,
}


def draw(curves: "Curves") -> Figure:
    """One panel per quantity, one line per model, with its name and a piece of it at its end.

    A model is grey where one of its assumptions fails.
    """
    quantities = [metric for metric in QUANTITIES if curves.models_predicting(metric)] or [
        "utilization"
    ]
    figure = PlainTextFigure(figsize=(8, 2.4 * len(quantities) + 0.9), layout="constrained")
    panels = figure.subplots(len(quantities), sharex=True, squeeze=False)[:, 0]
    link = curves.points[0].link.name
    what = "models and simulation" if curves.simulated else "models"
    words = f"Link {link}: {what} over {key_words(curves.axis.key)}"
    figure.suptitle(words, fontsize="medium")
    # Looks are few, so that models without a line take none.
    names = list(dict.fromkeys(itertools.chain(*map(curves.models_predicting, quantities))))
    lines = iter(style.marked_line_styles())
    next(lines)  # Black is the simulation.
    looks = {name: {**look, "markersize": 3.5} for name, look in zip(names, lines, strict=False)}
    for panel, quantity in zip(panels, quantities, strict=True):
        _draw_panel(panel, curves, quantity, looks)
    _label(panels[-1], curves.axis)
    figure.legend(
        handles=_handles(curves),
        loc="outside lower center",
        ncols=2,
        fontsize="small",
        frameon=False,
    )
    # The ends of the lines are known only after the layout.
    figure.draw_without_rendering()
    for panel in panels:
        style.label_ends(panel)
    return figure


def _draw_panel(
    panel: "Axes", curves: "Curves", quantity: str, looks: dict[str, dict[str, Any]]
) -> None:
    scale, places = axis_scale(quantity), np.array(_places(curves.axis))
    drawn: list[float] = []
    for name in curves.models_predicting(quantity):
        values = scale * np.array(curves.values(name, quantity), dtype=float)
        failing = np.array([point.fails(name) for point in curves.points])
        # The segments next to a point with a failing assumption are grey too.
        near = failing | np.append(failing[1:], False) | np.insert(failing[:-1], 0, False)
        parts = ((near, {**looks[name], **FAILING}), (~failing, looks[name]))
        for shown, look in parts:
            if (shown & np.isfinite(values)).any():
                panel.plot(places, np.where(shown, values, np.nan), label=name, **look)
        drawn += values.tolist()
    simulated = curves.simulation(quantity)
    known = [one for one in simulated if one]
    if known:
        over = [place for place, one in zip(places, simulated, strict=True) if one]
        means = [scale * one.mean for one in known]
        bars = np.transpose([[scale * arm for arm in one.bar] for one in known])
        panel.errorbar(over, means, yerr=bars, capsize=2, label="simulation", **SIMULATION)
        drawn += means
    panel.set_ylabel(axis_label(quantity))
    panel.grid(visible=True, color="0.92")
    if quantity == "loss_fraction":
        style.scale_up(panel, drawn)
    style.cap_at_highest(panel, quantity)
    if quantity == "queue_delay_s_mean":
        panel.set_ylim(bottom=0)


def _handles(curves: "Curves") -> list[Line2D]:
    handles = [Line2D([], [], label="an assumption fails", **FAILING)]
    if curves.simulated:
        counts = (one.count for metrics in curves.simulated for one in metrics.values())
        words = f"simulation, 95 %, {style.runs_words(counts)}"
        handles.insert(0, Line2D([], [], label=words, **SIMULATION))
    return handles


def _places(axis: "Axis") -> list[float]:
    return axis.numbers or [float(place) for place in range(len(axis.values))]


def _label(panel: "Axes", axis: "Axis") -> None:
    """Labels the axis of the values with key and unit."""
    panel.set_xlabel(f"{key_words(axis.key)} ({axis.unit})" if axis.unit else key_words(axis.key))
    if axis.numbers is None:
        words = readable([value_words(value, axis.values) for value in axis.values])
        panel.set_xticks(range(len(words)), words)
    else:
        style.scale_over(panel, axis.numbers)
