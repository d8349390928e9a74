"""The smallest sufficient value over another key, and the delay that it costs."""

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.scenario.axis import key_words
from tailroom.simulation.metric_catalogue import axis_label, axis_scale

if TYPE_CHECKING:
    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.frontier import Frontier

DELAYS = ("queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that the second panel shows at each answer."""


def draw(frontier: "Frontier") -> Figure:
    """Draws the answers with their intervals, and below them the queueing delay of each.

    Raises:
        ArgumentError: No value of the other key has an answer.
    """
    numbers = frontier.axis.numbers
    places = numbers or [float(place) for place in range(len(frontier.sizes))]
    answered = [
        (place, one) for place, one in zip(places, frontier.sizes, strict=True) if not one.is_unmet
    ]
    if not answered:
        raise ArgumentError("no value has an answer, so there is nothing to draw")
    figure = PlainTextFigure(figsize=(8, 5.5), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    above.errorbar(*_bars(answered), fmt="ko-", markersize=3, linewidth=1, capsize=2)
    above.set_ylabel(f"smallest sufficient\n{answered[0][1].varied.axis[1]}")
    for metric, look in zip(DELAYS, style.marked_line_styles(), strict=False):
        label = f"links.{answered[0][1].link.name}.{metric}"
        delays = [axis_scale(label) * one.mean_at_answer(label) for _, one in answered]
        below.plot([place for place, _ in answered], delays, label=axis_label(label), **look)
    below.set_ylabel("at the answer")
    style.legend_beside(below)
    unit = f" ({frontier.axis.unit})" if frontier.axis.unit else ""
    below.set_xlabel(f"{key_words(frontier.axis.key)}{unit}")
    for panel in (above, below):
        panel.set_ylim(bottom=0)
    if numbers is None:
        below.set_xticks(places, [words for words, _ in frontier.named])
    else:
        style.scale_over(below, places, None)
    return figure


def _bars(
    answered: "list[tuple[float, Size]]",
) -> tuple[list[float], list[float], list[list[float]]]:
    """Places, answers, and the distances to the ends of their intervals; 0 without an interval."""
    scale, _ = answered[0][1].varied.axis
    values = [scale * (one.smallest or 0) for _, one in answered]
    arms = [
        [max(0.0, value - scale * one.interval.low) if one.interval else 0.0, 0.0]
        for value, (_, one) in zip(values, answered, strict=True)
    ]
    return [place for place, _ in answered], values, list(map(list, zip(*arms, strict=True)))
