"""One page on a congestion control: a panel per criterion, the control beside the references."""

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.simulation.metric_catalogue import Metric, metric_of
from tailroom.simulation.metric_units import INDEX

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.statistics.intervals import Interval
    from tailroom.studies.report_card.evaluation import Evaluation, Finding

COLUMNS = 3
FEWEST_OF_LINE = 3
"""Fewest points of a line; fewer points are drawn as bars."""
COLOURS = {"pass": "#006D4E", "caution": "#A35F00", "undecided": "#3F5E96", "fail": "#B00020"}
"""Colours of the verdicts, whose words are drawn too."""
HATCHES = ("", "///", "...")


def draw(evaluation: "Evaluation") -> Figure:
    """Draws lines over a numeric key, else bars, with 95 % confidence intervals and the verdict."""
    findings = evaluation.findings
    rows = -(-len(findings) // COLUMNS)
    figure = PlainTextFigure(figsize=(11.5, 2.35 * rows + 0.9), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    figure.suptitle(_heading(evaluation), fontsize="large")
    looks = dict(zip(evaluation.controls, style.marked_line_styles(), strict=False))
    for panel, found in zip(panels, findings, strict=False):
        _draw_finding(panel, found, looks)
    for panel in panels[len(findings) :]:
        panel.remove()
    figure.legend(
        handles=[Line2D([], [], label=name, **look) for name, look in looks.items()],
        loc="outside lower center",
        ncols=len(looks),
        frameon=False,
    )
    return figure


def _heading(evaluation: "Evaluation") -> str:
    counts = ", ".join(
        f"{sum(finding.verdict == verdict for finding in evaluation.findings)} {verdict}"
        for verdict in COLOURS
    )
    against = " and ".join(evaluation.references)
    quick = "; quick card" if evaluation.quick else ""
    return f"{evaluation.control} on the criteria of RFC 9743, against {against}: {counts}{quick}"


def _draw_finding(panel: "Axes", found: "Finding", looks: dict[str, dict[str, Any]]) -> None:
    criterion = found.criterion
    panel.set_title(f"{criterion.title} ({criterion.section})", loc="left", fontsize="small")
    colour = COLOURS[found.verdict]
    panel.set_title(found.verdict, loc="right", fontsize="small", color=colour, weight="bold")
    panel.set_ylabel(criterion.quantity, fontsize="small")
    panel.tick_params(labelsize="small")
    panel.grid(visible=True, axis="y", color="0.92")
    panel.set_axisbelow(True)
    if found.over and len(found.points) >= FEWEST_OF_LINE:
        _draw_lines(panel, found, found.over.numbers or [], looks)
        if found.over.key.endswith(".limit"):
            panel.set_xlabel(f"buffer ({found.over.unit})", fontsize="small")
    else:
        _draw_bars(panel, found, looks)
    _bound(panel, metric_of(criterion.metric) if criterion.metric else None)


def _draw_lines(
    panel: "Axes", found: "Finding", over: list[float], looks: dict[str, dict[str, Any]]
) -> None:
    drawn: list[float] = []
    for name, look in looks.items():
        mean, bars = _numbers([point.values[name] for point in found.points])
        panel.errorbar(over, mean, yerr=bars, capsize=2, elinewidth=0.8, **look)
        drawn += mean
    style.scale_over(panel, over)
    metric = found.criterion.metric
    if not metric or metric_of(metric).is_logarithmic:
        style.scale_up(panel, drawn)


def _draw_bars(panel: "Axes", found: "Finding", looks: dict[str, dict[str, Any]]) -> None:
    width = 0.8 / len(looks)
    places = np.arange(len(found.points))
    for place, (name, look) in enumerate(looks.items()):
        mean, bars = _numbers([point.values[name] for point in found.points])
        panel.bar(
            places + (place - (len(looks) - 1) / 2) * width,
            mean,
            0.9 * width,
            yerr=bars,
            color=_paler(place),
            edgecolor=look["color"],
            hatch=HATCHES[place % len(HATCHES)],
            error_kw={"elinewidth": 0.8, "capsize": 2, "ecolor": "0.2"},
        )
    labels = [point.label.replace(", ", "\n") for point in found.points]
    panel.set_xticks(places, labels, fontsize="small")


def _paler(place: int) -> str:
    """Returns a dark colour for the control and white for references, distinct in grey print."""
    return "0.35" if place == 0 else "white"


def _numbers(values: "list[Interval | None]") -> tuple[list[float], list[list[float]]]:
    means = [value.mean if value else nan for value in values]
    arms = [value.bar if value else (0.0, 0.0) for value in values]
    return means, [list(lengths) for lengths in zip(*arms, strict=True)]


def _bound(panel: "Axes", metric: Metric | None) -> None:
    """Leaves out what no mean can reach; an index is drawn over its whole range."""
    low, high = panel.get_ylim()
    most = metric.highest * metric.unit.scale if metric and metric.highest else None
    if most is not None and high > most:
        panel.set_ylim(top=1.02 * most)
    if most is not None and metric and metric.unit is INDEX:
        panel.set_ylim(0, 1.02 * most)
    elif low < 0:
        panel.set_ylim(bottom=0)
