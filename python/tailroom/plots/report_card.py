"""One page on a control or a discipline: a panel per criterion, compared with the references."""

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.readable_names import readable
from tailroom.simulation.metric_catalogue import Metric, metric_of
from tailroom.simulation.metric_units import INDEX
from tailroom.studies.report_card.verdict import thresholds

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
PASSES: dict[str, Any] = {"color": COLOURS["pass"], "linestyle": "--", "linewidth": 1.3}
FAILS: dict[str, Any] = {"color": COLOURS["fail"], "linestyle": ":", "linewidth": 1.5}
"""Styles of the thresholds, which depend on the references at each point."""


def draw(evaluation: "Evaluation") -> Figure:
    """Draws lines over a numeric key, else bars, with 95 % confidence intervals and the verdict."""
    findings = evaluation.findings
    rows = -(-len(findings) // COLUMNS)
    figure = PlainTextFigure(figsize=(11.5, 2.35 * rows + 0.9), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    figure.suptitle(_heading(evaluation), fontsize="large")
    looks = dict(zip(evaluation.compared, style.marked_line_styles(), strict=False))
    for panel, found in zip(panels, findings, strict=False):
        _draw_finding(panel, found, looks)
    for panel in panels[len(findings) :]:
        panel.remove()
    handles, names = _handles(looks)
    handles.append(Line2D([], [], linestyle="none"))
    names.append(f"95 % confidence, {_runs_words(evaluation)}")
    figure.legend(
        handles,
        names,
        handler_map={tuple: HandlerTuple(ndivide=None)},
        loc="outside lower center",
        ncols=min(len(looks) + 3, COLUMNS + 2),
        handlelength=4,
        frameon=False,
    )
    return figure


def _runs_words(evaluation: "Evaluation") -> str:
    points = [point for found in evaluation.findings for point in found.points]
    return style.runs_words(
        value.count for point in points for value in point.values.values() if value
    )


def _handles(looks: dict[str, dict[str, Any]]) -> tuple[list[Any], list[str]]:
    """The line and the bar of each control, then the thresholds, and their names."""
    controls = [
        (Line2D([], [], **look), Patch(**_bar_look(place, look)))
        for place, look in enumerate(looks.values())
    ]
    limits = [Line2D([], [], **look) for look in (PASSES, FAILS)]
    return [*controls, *limits], [*readable([*looks]), "a pass ends here", "a fail begins here"]


def _heading(evaluation: "Evaluation") -> str:
    counts = ", ".join(
        f"{sum(finding.verdict == verdict for finding in evaluation.findings)} {verdict}"
        for verdict in COLOURS
    )
    card = evaluation.card
    against = " and ".join(card.references)
    quick = "; quick card" if evaluation.quick else ""
    criteria = f"{readable([evaluation.tested])[0]} on the criteria of RFC {card.rfc}"
    return f"{criteria}, against {against}: {counts}{quick}"


def _draw_finding(panel: "Axes", found: "Finding", looks: dict[str, dict[str, Any]]) -> None:
    criterion = found.criterion
    panel.set_title(f"{criterion.title} ({criterion.section})", loc="left", fontsize="small")
    colour = COLOURS[found.verdict]
    panel.set_title(found.verdict, loc="right", fontsize="small", color=colour, weight="bold")
    panel.set_ylabel(f"{criterion.quantity}\n{criterion.better} is better", fontsize="small")
    panel.tick_params(labelsize="small")
    panel.grid(visible=True, axis="y", color="0.92")
    panel.set_axisbelow(True)
    if found.over and len(found.points) >= FEWEST_OF_LINE:
        _draw_lines(panel, found, found.over.numbers or [], looks)
        if found.over.key.endswith(".limit"):
            panel.set_xlabel(f"buffer ({found.over.unit})", fontsize="small")
    else:
        _draw_bars(panel, found, looks)
    _draw_thresholds(panel, found)
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
            **_bar_look(place, look),
            error_kw={"elinewidth": 0.8, "capsize": 2, "ecolor": "0.2"},
        )
    labels = [point.label.replace(", ", "\n") for point in found.points]
    panel.set_xticks(places, labels, fontsize="small")


def _bar_look(place: int, look: dict[str, Any]) -> dict[str, Any]:
    """Dark for the control and hatched white for references, distinct in grey print."""
    return {
        "facecolor": "0.35" if place == 0 else "white",
        "edgecolor": look["color"],
        "hatch": HATCHES[place % len(HATCHES)],
    }


def _draw_thresholds(panel: "Axes", found: "Finding") -> None:
    """Up to where a value passes, and from where it fails, as far as the axis reaches."""
    pairs = [thresholds(found.criterion, point.worst_reference) for point in found.points]
    numbers = np.array([pair or (nan, nan) for pair in pairs]).T
    low, high = panel.get_ylim()
    for values, look in zip(numbers, (PASSES, FAILS), strict=True):
        if found.over and len(found.points) >= FEWEST_OF_LINE:
            panel.plot(found.over.numbers or [], values, **look, zorder=1)
        else:
            places = np.arange(len(values))
            panel.hlines(values, places - 0.46, places + 0.46, **look)
    wanted = numbers[0][np.isfinite(numbers[0])].tolist()
    margin = 1.03 if panel.get_yscale() == "linear" else 1.3
    panel.set_ylim(
        min([low, *(value / margin for value in wanted)]),
        max([high, *(value * margin for value in wanted)]),
    )


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
