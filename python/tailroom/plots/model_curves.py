"""What models predict over a key of the scenario."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.axis import Axis
    from tailroom.predict import Curves

PANELS = {
    "utilization": "utilization (%)",
    "loss_fraction": "loss fraction",
    "queue_delay_s_mean": "mean queueing delay (ms)",
}
SCALE = {"utilization": 100.0, "loss_fraction": 1.0, "queue_delay_s_mean": 1e3}


def draw(curves: "Curves") -> Figure:
    """One panel a quantity, one line a model."""
    quantities = [one for one in PANELS if curves.who_say(one)] or ["utilization"]
    figure = Figure(figsize=(9, 2.6 * len(quantities) + 0.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(quantities), sharex=True))
    figure.suptitle(f"Models, link {curves.points[0].link.name}")
    names = [answer.model.name for answer in curves.points[0].answers]
    styles = dict(zip(names, style.line_styles(), strict=False))
    for panel, quantity in zip(panels, quantities, strict=True):
        for name in curves.who_say(quantity):
            values = curves.values(name, quantity)
            scaled = [np.nan if one is None else SCALE[quantity] * one for one in values]
            panel.plot(_places(curves.axis), scaled, label=name, **styles[name])
        panel.set_ylabel(PANELS[quantity])
        if quantity == "loss_fraction":
            panel.set_yscale("log")
        style.legend_beside(panel)
    _label(panels[-1], curves.axis)
    return figure


def _places(axis: "Axis") -> list[float]:
    return axis.numbers or [float(place) for place in range(len(axis.values))]


def _label(panel: "Axes", axis: "Axis") -> None:
    """The key and its unit; a logarithmic scale where the values span two decades."""
    numbers = axis.numbers
    panel.set_xlabel(f"{axis.key} ({axis.unit})" if axis.unit else axis.key)
    if numbers is None:
        panel.set_xticks(range(len(axis.values)), [str(value) for value in axis.values])
    elif min(numbers) > 0 and max(numbers) / min(numbers) >= 30:
        panel.set_xscale("log")
