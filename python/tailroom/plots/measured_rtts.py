"""Measured and simulated RTTs over time, and their distributions."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    from tailroom.studies.measured_comparison import MeasuredComparison


def draw(comparison: "MeasuredComparison") -> Figure:
    """Two panels with a line per source; each time axis begins with the first sample.

    The title is the estimate of the buffer.

    Raises:
        ArgumentError: Neither the measurement nor the simulation has an RTT.
    """
    measured = comparison.measurement
    sources = {
        f"measured ({measured.tool})": (measured.rtt_time_s, measured.rtt_s),
        "simulated": comparison.simulated_rtts(),
    }
    known = {name: series for name, series in sources.items() if len(series[0])}
    if not known:
        raise ArgumentError("there is nothing to draw: no RTT; measure on the side that sends")
    figure = PlainTextFigure(figsize=(9, 4.2), layout="constrained")
    buffer = comparison.buffer.sentence
    style.title(figure, f"{buffer[0].upper()}{buffer[1:]}")
    over_time, distribution = figure.subplots(1, 2, width_ratios=(3, 2))
    for (name, (times, rtts)), line in zip(known.items(), style.line_styles(), strict=False):
        ms = 1e3 * rtts
        over_time.plot(times - times[0], ms, **line)
        distribution.step(np.sort(ms), np.arange(1, len(ms) + 1) / len(ms), label=name, **line)
    if measured.idle_rtt_s is not None:
        over_time.axhline(1e3 * measured.idle_rtt_s, label="idle RTT", **style.LIMIT_LINE)
    over_time.set(xlabel="time (s)", ylabel="RTT (ms)")
    over_time.set_ylim(bottom=0)
    distribution.set(xlabel="RTT (ms)", ylabel="fraction of samples", ylim=(0, 1.02))
    for panel in (over_time, distribution):
        panel.grid(visible=True, color="0.92")
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure
