"""The smallest sufficient value over another key, and the delay that it costs; over two, a map."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import frontier_map, style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.readable_names import readable
from tailroom.scenario.axis import key_words
from tailroom.simulation.metric_catalogue import axis_scale, metric_of

if TYPE_CHECKING:
    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.frontier import Frontier

DELAYS = ("queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that the second panel shows at each answer."""
_WANTED = {"smallest": "smallest sufficient", "largest": "largest sufficient", "best": "best"}


def draw(frontier: "Frontier") -> Figure:
    """Draws the answers with their intervals, and below them the queueing delay of each.

    Values that are words have no line from one to the next.

    Raises:
        ArgumentError: No value of the other key has an answer.
    """
    if len(frontier.axes) > 1:
        return frontier_map.draw(frontier)
    [axis] = frontier.axes
    numbers = axis.numbers
    places = numbers or [float(place) for place in range(len(frontier.sizes))]
    answered = [
        (place, one, chosen)
        for place, one in zip(places, frontier.sizes, strict=True)
        if (chosen := one.chosen)
    ]
    if not answered:
        raise ArgumentError("no value has an answer, so there is nothing to draw")
    first = frontier.sizes[0]
    xs = [place for place, *_ in answered]
    figure = PlainTextFigure(figsize=(8, 5.5), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    targets = " and ".join(str(target) for target in first.targets)
    what = f"buffer of link {first.link.name}" if first.varied.is_limit else first.varied.key
    style.title(
        figure, f"{first.varied.wanted.capitalize()} {what} for {targets}", style.LEGEND_ROOM
    )
    dashes = {} if numbers else {"linestyle": "none"}
    scale, label = first.varied.axis
    values = [scale * chosen.limit for *_, chosen in answered]
    arms = [value - scale * _low(one) for value, (_, one, _) in zip(values, answered, strict=True)]
    own = {"color": "black", "marker": "o", "markersize": 3, "linewidth": 1, **dashes}
    above.errorbar(xs, values, yerr=[arms, [0.0] * len(arms)], capsize=2, **own)
    above.set_ylabel(f"{_WANTED[first.varied.wanted]}\n{label}")
    for name, look in zip(DELAYS, style.marked_line_styles(), strict=False):
        metric = f"links.{first.link.name}.{name}"
        to_ms = axis_scale(metric)
        delays = [chosen.interval(metric) for *_, chosen in answered]
        bars = np.transpose([[to_ms * arm for arm in delay.bar] for delay in delays])
        looks = {**look, **dashes, "label": metric_of(metric).label}
        below.errorbar(xs, [to_ms * delay.mean for delay in delays], bars, capsize=2, **looks)
    counts = (len(chosen.point.finished) for *_, chosen in answered)
    below.errorbar([], [], label=f"95 %, {style.runs_words(counts)}", linestyle="none")
    below.set_ylabel("queueing delay\nat the answer (ms)")
    style.legend_at_right(below)
    unit = f" ({axis.unit})" if axis.unit else ""
    below.set_xlabel(f"{key_words(axis.key)}{unit}")
    for panel in (above, below):
        panel.set_ylim(bottom=0)
    if numbers is None:
        below.set_xticks(places, readable([words for words, _ in frontier.named]))
    else:
        style.scale_over(below, places, None)
    return figure


def _low(one: "Size") -> float:
    """The lower end of the interval, of which the answer is the upper; else the answer."""
    return one.interval.low if one.interval else float(one.answer or 0)
