"""Predictions of models over a key of the scenario."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tailroom.scenario.axis import Axis
    from tailroom.studies.prediction import Curves

PANELS = {
    "utilization": "utilization (%)",
    "loss_fraction": "loss (%)",
    "queue_delay_s_mean": "mean queueing delay (ms)",
}
SCALE = {"utilization": 100.0, "loss_fraction": 100.0, "queue_delay_s_mean": 1e3}


def draw(curves: "Curves") -> Figure:
    """One panel per quantity, one line per model."""
    quantities = [metric for metric in PANELS if curves.models_predicting(metric)] or [
        "utilization"
    ]
    figure = PlainTextFigure(figsize=(9, 2.6 * len(quantities) + 0.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(quantities), sharex=True))
    figure.suptitle(f"Models, link {curves.points[0].link.name}")
    names = [answer.model.name for answer in curves.points[0].answers]
    styles = dict(zip(names, style.line_styles(), strict=False))
    for panel, quantity in zip(panels, quantities, strict=True):
        for name in curves.models_predicting(quantity):
            values = curves.values(name, quantity)
            scaled = np.array(
                [np.nan if value is None else SCALE[quantity] * value for value in values]
            )
            _draw_line(panel, curves, name, scaled, styles[name])
        panel.set_ylabel(PANELS[quantity])
        if quantity == "loss_fraction":
            panel.set_yscale("log")
            label_logarithmic(panel.yaxis)
        style.legend_beside(panel)
    _label(panels[-1], curves.axis)
    return figure


def _draw_line(
    panel: "Axes",
    curves: "Curves",
    name: str,
    values: "NDArray[np.float64]",
    look: dict[str, Any],
) -> None:
    """Draws the line of a model, pale where its assumptions fail, as its legend states."""
    failing = np.array([point.fails(name) for point in curves.points])
    predicted = np.isfinite(values)
    part = style.failing_words(int(np.sum(failing & predicted)), int(np.sum(predicted)))
    places = np.array(_places(curves.axis))
    if failing[predicted].all():
        panel.plot(places, values, label=name + part, **{**look, **style.FAILING_LINE})
        return
    panel.plot(places, np.where(failing, np.nan, values), label=name + part, **look)
    # The segments next to a point with a failing assumption are pale too.
    near = failing | np.append(failing[1:], False) | np.insert(failing[:-1], 0, False)
    panel.plot(places, np.where(near, values, np.nan), **{**look, **style.FAILING_LINE})


def _places(axis: "Axis") -> list[float]:
    return axis.numbers or [float(place) for place in range(len(axis.values))]


def _label(panel: "Axes", axis: "Axis") -> None:
    """Labels the axis with key and unit; logarithmic if the values span 1.5 decades."""
    numbers = axis.numbers
    panel.set_xlabel(f"{axis.key} ({axis.unit})" if axis.unit else axis.key)
    if numbers is None:
        panel.set_xticks(range(len(axis.values)), [str(value) for value in axis.values])
    elif min(numbers) > 0 and max(numbers) / min(numbers) >= 30:
        panel.set_xscale("log")
        label_logarithmic(panel.xaxis)
