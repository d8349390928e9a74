"""Metrics of a sweep over a key, with confidence bands and predictions of models."""

from collections.abc import Iterable, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.sweep_view import Line, Means, SweepView
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metric_catalogue import axis_label, axis_scale, metric_of
from tailroom.studies.prediction import predict_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.studies.prediction import Predictions

OF_LINK = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
OF_FLOWS = "flows.jain_index"
"""What is drawn unless metrics are named."""
FARTHEST = 10
"""Largest factor by which a prediction below all simulated means extends a logarithmic axis."""


def draw(
    view: SweepView,
    *,
    x: str | None = None,
    metrics: Sequence[str] = (),
    models: Iterable[str] = (),
) -> Figure:
    """One panel per metric, one line per combination of the other keys.

    Raises:
        ArgumentError: There is no such key or model, or nothing varies.
        MetricError: There is no such metric.
    """
    page = _Page(view, view.key(x) if x else view.along(), list(models))
    names = list(metrics) or _default_metrics(view)
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    size = (3.6 * columns + 2.6, 2.5 * rows + 0.7)
    figure = PlainTextFigure(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    style.title(figure, view.title(), style.LEGEND_ROOM)
    for panel, metric in zip(panels, names, strict=False):
        page.draw(panel, metric)
    for panel in panels[len(names) :]:
        panel.remove()
    figure.supxlabel(view.axis_label(page.key), fontsize="medium")
    style.figure_legend(figure, page.legend(), style.LEGEND_ROOM)
    return figure


def _default_metrics(view: SweepView) -> list[str]:
    """Returns the default metrics; without fairness if it is 1 everywhere, as for a single flow."""
    everywhere = range(len(view.points))
    jain = view.means(OF_FLOWS, everywhere).mean
    fairness = [OF_FLOWS] if any(isfinite(index) and index < 1 for index in jain) else []
    return [*map(view.of_link, OF_LINK), *fairness]


class _Page:
    """Data and styles that the panels of a figure share."""

    def __init__(self, view: SweepView, key: str, models: list[str]) -> None:
        lines = view.lines(key)
        self.view = view
        self.key = key
        self.count = len(lines)
        self.lines: list[Line] = style.evenly_spread(lines)
        self.models = _Models(view, models)
        self.over_words = view.axes[key].numbers is None
        """Whether the values are words; then points are drawn side by side, without lines."""
        self.looks = [look for look, _ in zip(style.marked_line_styles(), self.lines, strict=False)]
        if self.over_words:
            self.looks = [{**look, "linestyle": "none"} for look in self.looks]
        elif models:
            # Dashes are reserved for models; markers and colours distinguish simulated lines.
            self.looks = [{**look, "linestyle": "-"} for look in self.looks]

    def draw(self, panel: "Axes", metric: str) -> None:
        """One metric in its panel."""
        scale = axis_scale(metric)
        values: list[float] = []
        predictions: list[float] = []
        for number, line in enumerate(self.lines):
            means = self.view.means(metric, line.places)
            values += means.mean
            over = self._positions(number)
            self._draw_line(panel, over, means, scale, self.looks[number])
            for place, name in enumerate(self.models.names):
                predicted = self.models.values(name, line, metric)
                predictions += predicted
                if any(map(isfinite, predicted)):
                    look = {**self._model_look(place), "color": self.looks[number]["color"]}
                    if self.models.fails(name, line, metric):
                        look.update(style.FAILING_LINE)
                    panel.plot(over, np.multiply(scale, predicted), **look)
        panel.set_ylabel(axis_label(metric))
        panel.grid(visible=True, color="0.92")
        if metric_of(metric).is_logarithmic:
            # A prediction that is far too small does not squeeze what is simulated.
            least = min((value for value in values if value > 0), default=0.0) / FARTHEST
            scaled = values + [value for value in predictions if value >= least]
            style.scale_up(panel, np.multiply(scale, scaled).tolist())
        _bound(panel, metric, min(values, default=0.0))
        numbers = self.view.axes[self.key].numbers
        if numbers is None:
            words = self.view.words(self.key)
            panel.set_xticks(range(len(words)), words)
        else:
            style.scale_over(panel, numbers)

    def legend(self) -> list[Any]:
        """Handles for lines, models and bands."""
        handles: list[Any] = [
            Line2D([], [], label=line.label or "simulation", **look)
            for line, look in zip(self.lines, self.looks, strict=True)
        ]
        handles += [
            Line2D([], [], color="0.3", label=self.models.label(name), **self._model_look(place))
            for place, name in enumerate(self.models.names)
        ]
        confidence = f"95 % confidence, {self.view.runs_words()}"
        if self.over_words:
            look: dict[str, Any] = {
                "color": "0.3",
                "linestyle": "none",
                "marker": "|",
                "markersize": 9,
            }
            handles.append(Line2D([], [], label=confidence, **look))
        else:
            handles.append(Patch(color="0.3", label=confidence, **style.band(1)))
        if len(self.lines) < self.count:
            handles.append(Patch(alpha=0, label=f"{len(self.lines)} of {self.count} lines"))
        return handles

    def _positions(self, number: int) -> list[float]:
        over = self.view.positions(self.key, self.lines[number].places)
        if not self.over_words:
            return over
        aside = 0.6 * ((number + 0.5) / len(self.lines) - 0.5)
        return [place + aside for place in over]

    def _draw_line(
        self,
        panel: "Axes",
        over: list[float],
        means: Means,
        scale: float,
        look: dict[str, Any],
    ) -> None:
        mean = np.multiply(scale, means.mean)
        if self.over_words:
            panel.errorbar(over, mean, yerr=scale * means.bars, elinewidth=0.9, **look)
            return
        band = style.band(len(self.lines))
        low, high = np.multiply(scale, means.low), np.multiply(scale, means.high)
        panel.fill_between(over, low, high, color=look["color"], **band)
        panel.plot(over, mean, **look)

    def _model_look(self, place: int) -> dict[str, Any]:
        if self.over_words:
            markers = "_x+1234"
            return {"linestyle": "none", "marker": markers[place % len(markers)], "markersize": 7}
        dashes = style.DASHES[1:]
        return {"linestyle": dashes[place % len(dashes)], "linewidth": 1.0}


def _bound(panel: "Axes", metric: str, least: float) -> None:
    """Leaves out the parts of the bands that no mean can reach."""
    style.cap_at_highest(panel, metric)
    if panel.get_ylim()[0] < 0 <= least:
        panel.set_ylim(bottom=0)


class _Models:
    """Predictions of models at the points of a sweep, each computed once."""

    def __init__(self, view: SweepView, names: list[str]) -> None:
        self.view = view
        self.names = names
        self.predicting: set[str] = set()
        """Models that predict a drawn metric."""
        self._asked: dict[tuple[int, str], Predictions | None] = {}

    def label(self, name: str) -> str:
        """Returns the legend entry of a model."""
        if name not in self.predicting:
            return f"model: {name} (no prediction)"
        failing = [answer.fails(name) for answer in self._asked.values() if answer]
        return f"model: {name}{style.failing_words(sum(failing), sum(failing))}"

    def values(self, name: str, line: Line, metric: str) -> list[float]:
        """Returns a metric along a line; NaN where the model does not predict it."""
        prefix, _, quantity = metric.rpartition(".")
        kind, _, link = prefix.partition(".")
        if kind != "links" or quantity not in OF_LINK[:3]:
            return [nan] * len(line.places)
        answers = [self._ask(place, link) for place in line.places]
        values = [answer.value(name, quantity) if answer else None for answer in answers]
        if any(value is not None for value in values):
            self.predicting.add(name)
        return [nan if value is None else value for value in values]

    def fails(self, name: str, line: Line, metric: str) -> bool:
        """Whether one of a model's assumptions does not hold somewhere along a line."""
        link = metric.split(".")[1]
        answers = (self._ask(place, link) for place in line.places)
        return any(answer.fails(name) for answer in answers if answer)

    def _ask(self, place: int, link: str) -> "Predictions | None":
        if (place, link) not in self._asked:
            text = self.view.scenario(place)
            self._asked[place, link] = (
                predict_source(Scenario.stored(text), link=link, only=self.names) if text else None
            )
        return self._asked[place, link]
