"""The smallest sufficient value over another key, and the delay that it costs; over two, a map."""

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import frontier_map, style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.scenario.axis import key_words
from tailroom.simulation.metric_catalogue import axis_label, axis_scale

if TYPE_CHECKING:
    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.frontier import Frontier

DELAYS = ("queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that the second panel shows at each answer."""
_WANTED = {"smallest": "smallest sufficient", "best": "best"}


def draw(frontier: "Frontier") -> Figure:
    """Draws the answers with their intervals, and below them the queueing delay of each.

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
    xs = [place for place, *_ in answered]
    scale, label = frontier.sizes[0].varied.axis
    figure = PlainTextFigure(figsize=(8, 5.5), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    values = [scale * chosen.limit for *_, chosen in answered]
    arms = [value - scale * _low(one) for value, (_, one, _) in zip(values, answered, strict=True)]
    bars = [arms, [0.0] * len(arms)]
    above.errorbar(xs, values, yerr=bars, fmt="ko-", markersize=3, linewidth=1, capsize=2)
    above.set_ylabel(f"{_WANTED[frontier.sizes[0].varied.wanted]}\n{label}")
    for name, look in zip(DELAYS, style.marked_line_styles(), strict=False):
        metric = f"links.{frontier.sizes[0].link.name}.{name}"
        delays = [axis_scale(metric) * chosen.interval(metric).mean for *_, chosen in answered]
        below.plot(xs, delays, label=axis_label(metric), **look)
    below.set_ylabel("at the answer")
    style.legend_at_right(below)
    unit = f" ({axis.unit})" if axis.unit else ""
    below.set_xlabel(f"{key_words(axis.key)}{unit}")
    for panel in (above, below):
        panel.set_ylim(bottom=0)
    if numbers is None:
        below.set_xticks(places, [words for words, _ in frontier.named])
    else:
        style.scale_over(below, places, None)
    return figure


def _low(one: "Size") -> float:
    """The lower end of the interval, of which the answer is the upper; else the answer."""
    return one.interval.low if one.interval else float(one.smallest or 0)
