"""The papers' picture of runs side by side: utilization above, the flows' windows below."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom_papers.auge_2006.residual import flow_names
from tailroom_papers.auge_2006.setup import WORDS
from tailroom_papers.reference import ns2

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.reproduction.part_results import PointResults, StoredRun

SHOWN_S = 150.0
"""Duration drawn; in longer spans the teeth of the windows are indistinguishable."""


@dataclass(frozen=True)
class Column:
    """One set-up, of which the first run is drawn."""

    title: str
    point: "PointResults"
    ns2_case: str = ""
    """The row of ns-2 with the same set-up, if there is one."""
    arrivals_s: Sequence[float] = ()
    """When other flows arrive."""
    shown_s: float = SHOWN_S


def draw(title: str, columns: Sequence[Column]) -> Figure:
    """A column for each set-up; utilization is averaged over 100 ms, the RTT without queueing."""
    figure = Figure(figsize=(3.4 * len(columns), 5.4), layout="constrained")
    panels = figure.subplots(2, len(columns), sharex=True, squeeze=False)
    style.title(figure, title)
    for column, upper, lower in zip(columns, panels[0], panels[1], strict=True):
        run = column.point.runs[0]
        upper.set_title(column.title, fontsize="small")
        _draw_utilization(upper, column)
        _draw_windows(lower, run)
        for place, time_s in enumerate(column.arrivals_s):
            label = None if place else "a flow arrives"
            lower.axvline(time_s, color="0.75", linewidth=0.8, zorder=0, label=label)
        lower.legend(loc="upper right", ncols=2, fontsize="x-small")
        start_s = run.summary["measured_from_s"]
        lower.set_xlim(start_s, min(start_s + column.shown_s, run.summary["measured_to_s"]))
        lower.set_xlabel("time (s)")
    panels[0, 0].set_ylabel("utilization (%)")
    panels[1, 0].set_ylabel("congestion window (packets)")
    return figure


def _draw_utilization(panel: "Axes", column: Column) -> None:
    series = column.point.runs[0].table("link_series")
    percent = np.multiply(series["utilization"], 100)
    panel.plot(series["time_s"], percent, color="0.35", linewidth=0.5, label="over 100 ms")
    mean = 100 * column.point.mean("utilization")
    panel.axhline(mean, color="black", linewidth=1.4, label=f"mean, all runs: {mean:.1f} %")
    if column.ns2_case:
        theirs = 100 * ns2_utilization(column.ns2_case)
        panel.axhline(
            theirs,
            color="black",
            linestyle=(0, (1, 1.5)),
            linewidth=2.0,
            label=f"mean, ns-2: {theirs:.1f} %",
        )
    panel.set_ylim(0, 105)
    panel.legend(loc="lower right", fontsize="x-small")


def _draw_windows(panel: "Axes", run: "StoredRun") -> None:
    series = run.table("flow_series")
    measured = series.filter(pc.field("time_s") >= run.summary["measured_from_s"])
    names = flow_names(run)
    for name, line in zip(names, style.line_styles(), strict=False):
        windows = measured.filter(pc.field("flow") == name)
        label = flow_words(name)
        panel.plot(windows["time_s"], windows["cwnd_packets"], label=label, **line)
    # Room for the legend above the windows.
    highest = pc.max(measured["cwnd_packets"]).as_py()
    panel.set_ylim(0, (1.2 if len(names) < 3 else 1.35) * highest)


def flow_words(name: str) -> str:
    """Returns a readable name: highspeed.0 is HighSpeed 1."""
    group, _, number = name.partition(".")
    return WORDS.get(group, group) + (f" {int(number) + 1}" if number else "")


def ns2_utilization(case: str) -> float:
    """Of the link, in a row of ns-2."""
    rows = ns2(case)
    row = rows["case"].to_pylist().index(case)
    return float(rows["util"][row].as_py())
