"""The buffers that models require, a line per model."""

from math import isfinite
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    from tailroom.studies.prediction import Predictions


def draw(predictions: "Predictions") -> Figure:
    """Draws required buffers in packets, with the buffer of the scenario.

    Open circles are models with an assumption that the scenario violates.

    Raises:
        ArgumentError: No model requires a finite buffer.
    """
    required = [
        (answer.model.name, answer.prediction.required_packets, bool(answer.failing))
        for answer in predictions.answers
        if answer.prediction and answer.prediction.required_packets is not None
    ]
    finite = sorted((packets, name, fails) for name, packets, fails in required)
    finite = [entry for entry in finite if isfinite(entry[0])]
    if not finite:
        raise ArgumentError("no model requires a finite buffer, so there is nothing to draw")
    figure = PlainTextFigure(figsize=(7, 1.1 + 0.27 * len(finite)), layout="constrained")
    axes = figure.add_subplot()
    for is_failing, label in ((False, "assumptions hold"), (True, "an assumption fails")):
        places = [place for place, (*_, fails) in enumerate(finite) if fails == is_failing]
        if places:
            fill = "white" if is_failing else style.COLOURS[1]
            values = [finite[place][0] for place in places]
            axes.plot(values, places, "o", color=style.COLOURS[1], mfc=fill, label=label)
    axes.axvline(predictions.link.limit_packets, **style.LIMIT_LINE, label="buffer of the scenario")
    limits = [packets for packets, _, _ in finite] + [predictions.link.limit_packets]
    if style.spans_decades(limits):
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    axes.set_yticks(range(len(finite)), [name for _, name, _ in finite])
    axes.set_ylim(len(finite) - 0.5, -0.5)
    axes.set_xlabel("required buffer (packets)")
    axes.grid(axis="x", color="0.9")
    style.legend_at_right(axes)
    return figure
