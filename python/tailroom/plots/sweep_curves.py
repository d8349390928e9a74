"""Metrics of a sweep over one of its keys, with confidence bands, and models beside them."""

import tomllib
from collections.abc import Iterable, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tailroom.plots import style
from tailroom.plots.sweep_view import Line, SweepView
from tailroom.predict import predict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.predict import Predictions

OF_LINK = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
OF_FLOWS = "flows.jain_index"
"""What is drawn unless metrics are named."""
LARGEST = {"utilization": 100.0, "loss_fraction": 100.0, "jain_index": 1.0}
"""Bounds that no mean passes, though its interval may."""


def draw(
    view: SweepView,
    *,
    x: str | None = None,
    metrics: Sequence[str] = (),
    models: Iterable[str] = (),
) -> Figure:
    """One panel a metric, one line a combination of the other keys.

    Raises:
        ValueError: There is no such key or model, or nothing varies.
        MetricError: There is no such metric.
    """
    key = view.key(x) if x else view.along()
    lines = view.lines(key)
    shown = style.evenly_spread(lines)
    names = list(metrics) or _with_something_to_say(view)
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3.6 * columns + 2.6, 2.5 * rows + 0.7), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    style.title(figure, view.result.record.title)
    looks = [look for look, _ in zip(style.marked_line_styles(), shown, strict=False)]
    said = _Models(view, list(models))
    if said.names:
        # Dashes are the models' then; markers and colours tell the simulated lines apart.
        looks = [{**look, "linestyle": "-"} for look in looks]
    for panel, metric in zip(panels, names, strict=False):
        _draw_metric(panel, view, key, metric, list(zip(shown, looks, strict=True)), said)
    for panel in panels[len(names) :]:
        panel.remove()
    figure.supxlabel(view.axis_label(key), fontsize="medium")
    style.figure_legend(figure, _legend(shown, looks, said, len(lines)))
    return figure


def _with_something_to_say(view: SweepView) -> list[str]:
    """The usual metrics; without fairness where one flow is alone with itself."""
    everywhere = range(len(view.points))
    jain = view.means(OF_FLOWS, everywhere).mean
    fairness = [OF_FLOWS] if any(isfinite(one) and one < 1 for one in jain) else []
    return [*map(view.of_link, OF_LINK), *fairness]


def _draw_metric(  # noqa: PLR0913, PLR0917 - a panel needs them all
    panel: "Axes",
    view: SweepView,
    key: str,
    metric: str,
    lines: list[tuple[Line, dict[str, Any]]],
    said: "_Models",
) -> None:
    label, scale = style.quantity(metric)
    values: list[float] = []
    for line, look in lines:
        over = view.positions(key, line.places)
        means = view.means(metric, line.places)
        values += means.mean
        mean, half = np.multiply(scale, means.mean), np.multiply(scale, means.half_width)
        band = style.band(len(lines))
        panel.fill_between(over, mean - half, mean + half, color=look["color"], **band)
        panel.plot(over, mean, **look)
        for place, name in enumerate(said.names):
            predicted = said.values(name, line, metric)
            if any(map(isfinite, predicted)):
                said.spoken.add(name)
                panel.plot(
                    over, np.multiply(scale, predicted), color=look["color"], **_model_look(place)
                )
    panel.set_ylabel(label)
    panel.grid(visible=True, color="0.92")
    style.scale_up(panel, np.multiply(scale, values).tolist())
    _bound(panel, metric, min(values, default=0.0))
    _label_key(panel, view, key)


def _bound(panel: "Axes", metric: str, least: float) -> None:
    """Leaves out the parts of the bands that no mean can reach."""
    most = LARGEST.get(metric.rpartition(".")[2])
    low, high = panel.get_ylim()
    if most is not None and high > most:
        panel.set_ylim(top=most + 0.03 * (most - max(low, 0)))
    if low < 0 <= least:
        panel.set_ylim(bottom=0)


def _label_key(panel: "Axes", view: SweepView, key: str) -> None:
    numbers = view.axes[key].numbers
    if numbers is None:
        panel.set_xticks(range(len(view.axes[key].values)), view.words(key))
    else:
        style.scale_over(panel, numbers)


def _model_look(place: int) -> dict[str, Any]:
    dashes = style.DASHES[1:]
    return {"linestyle": dashes[place % len(dashes)], "linewidth": 1.0}


def _legend(
    lines: list[Line], looks: list[dict[str, Any]], said: "_Models", count: int
) -> list[Any]:
    handles: list[Any] = [
        Line2D([], [], label=line.label or "simulation", **look)
        for line, look in zip(lines, looks, strict=True)
    ]
    handles += [
        Line2D([], [], color="0.3", label=said.label(name), **_model_look(place))
        for place, name in enumerate(said.names)
    ]
    handles.append(Patch(color="0.3", label="95 % confidence", **style.band(1)))
    if len(lines) < count:
        handles.append(Patch(alpha=0, label=f"{len(lines)} of {count} lines"))
    return handles


class _Models:
    """What models say at the points of a sweep, each asked once."""

    def __init__(self, view: SweepView, names: list[str]) -> None:
        self.view = view
        self.names = names
        self.spoken: set[str] = set()
        """Those that say something of what is drawn."""
        self._asked: dict[int, Predictions | None] = {}

    def label(self, name: str) -> str:
        """How the legend names a model."""
        return f"model: {name}" if name in self.spoken else f"model: {name} (says nothing here)"

    def values(self, name: str, line: Line, metric: str) -> list[float]:
        """A metric along a line; NaN where the model says nothing of it."""
        prefix, _, quantity = metric.rpartition(".")
        if prefix != f"links.{self.view.link}" or quantity not in OF_LINK[:3]:
            return [nan]
        said = [self._ask(place) for place in line.places]
        found = [one.says(name, quantity) if one else None for one in said]
        return [nan if one is None else one for one in found]

    def _ask(self, place: int) -> "Predictions | None":
        if place not in self._asked:
            text = self.view.scenario(place)
            link = self.view.link
            self._asked[place] = (
                predict(tomllib.loads(text), link=link, only=self.names)  # type: ignore[arg-type]
                if text
                else None
            )
        return self._asked[place]
