"""The papers' picture of runs side by side: utilization above, the flows' windows below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tailroom_papers.auge_2006 import picture
from tailroom_papers.auge_2006.residual import flow_names
from tailroom_papers.auge_2006.setup import WORDS
from tailroom_papers.framework import *
from tailroom_papers.reference import ns2_row

SHOWN_S = 150.0
"""Duration drawn; in longer spans the teeth of the windows are indistinguishable."""
MEAN_COLOUR = "#7A3E9D"
"""Colour of means over runs, which no flow has."""
STATED: dict[str, Any] = {"color": "#D55E00", "linestyle": "--", "linewidth": 1.3}
"""Style of numbers that the paper states."""
CAPTION = (
    "Above: utilization of the link averaged over 100 ms (grey) in the first run, its mean over "
    "all runs (violet), the mean in ns-2 where that was run (blue, dotted), and the number that "
    "the paper states, if any (orange, dashed). Below: the congestion window of each flow in the "
    "same run. {what}"
)
"""Caption of every picture of this kind, with a sentence on its columns."""


@dataclass(frozen=True)
class Column:
    """One set-up, of which the first run is drawn."""

    title: str
    point: PointResults
    ns2_case: str = ""
    """The row of ns-2 with the same set-up, if there is one."""
    stated: float | None = None
    """Utilization that the paper states, as a fraction, if it states one."""
    arrivals_s: Sequence[float] = ()
    """When other flows arrive."""
    shown_s: float = SHOWN_S


def draw(title: str, columns: Sequence[Column]) -> Figure:
    """A column for each set-up; utilization is averaged over 100 ms, the RTT without queueing."""
    figure, panels = picture.page(title, 4.7, 2, len(columns), sharex=True, sharey="row")
    names = dict.fromkeys(
        flow_words(name) for column in columns for name in flow_names(column.point.runs[0])
    )
    looks = dict(zip(names, style.line_styles(), strict=False))
    above, below = panels[: len(columns)], panels[len(columns) :]
    for column, upper, lower in zip(columns, above, below, strict=True):
        run = column.point.runs[0]
        _draw_utilization(upper, column)
        _draw_windows(lower, column, looks)
        for time_s in column.arrivals_s:
            lower.axvline(time_s, color="0.75", linewidth=0.8, zorder=0, label="a flow arrives")
        start_s = run.summary["measured_from_s"]
        end_s = min(start_s + column.shown_s, run.summary["measured_to_s"])
        frame(upper, title=column.title, grid="")
        frame(lower, x="time (s)", xlim=(start_s, end_s), grid="")
    above[0].set(ylim=(0, 105), ylabel="utilization (%)")
    below[0].set(ylim=(0, None), ylabel="congestion window (packets)")
    return picture.finished(figure, 4)


def _draw_utilization(panel: Axes, column: Column) -> None:
    run = column.point.runs[0]
    series = _shown(run, run.table("link_series"), column.shown_s)
    percent = np.multiply(series["utilization"], 100)
    panel.plot(
        series["time_s"], percent, color="0.6", linewidth=0.5, label="utilization over 100 ms"
    )
    mean = 100 * column.point.mean("utilization")
    panel.axhline(mean, color=MEAN_COLOUR, linewidth=1.4, label="mean of all runs")
    words = [f"mean {mean:.1f} %"]
    if column.ns2_case:
        theirs = 100 * ns2_utilization(column.ns2_case)
        panel.axhline(theirs, color="#0072B2", linestyle=":", linewidth=2.0, label="mean in ns-2")
        words.append(f"ns-2 {theirs:.1f} %")
    if column.stated is not None:
        stated = 100 * column.stated
        panel.axhline(stated, label="stated by the paper", **STATED)
        words.append(f"paper {stated:.0f} %")
    panel.text(0.5, 0.05, "\n".join(words), transform=panel.transAxes, ha="center")


def _draw_windows(panel: Axes, column: Column, looks: "Mapping[str, Mapping[str, Any]]") -> None:
    run = column.point.runs[0]
    measured = _shown(run, run.table("flow_series"), column.shown_s)
    for name in flow_names(run):
        windows = measured.filter(pc.field("flow") == name)
        label = flow_words(name)
        panel.plot(windows["time_s"], windows["cwnd_packets"], label=label, **looks[label])


def _shown(run: StoredRun, series: pa.Table, shown_s: float) -> pa.Table:
    """The rows of a series in the time that is drawn."""
    start_s = run.summary["measured_from_s"]
    time_s = pc.field("time_s")
    return series.filter((time_s >= start_s) & (time_s <= start_s + shown_s))


def flow_words(name: str) -> str:
    """Returns a readable name: highspeed.0 is HighSpeed 1."""
    group, _, number = name.partition(".")
    return WORDS.get(group, group) + (f" {int(number) + 1}" if number else "")


def ns2_utilization(case: str) -> float:
    """Of the link, in a row of ns-2."""
    row = ns2_row(case)
    assert row is not None, case
    return float(row["util"])
