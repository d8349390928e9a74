"""Utilization against queueing delay for several choices.

If the queueing delay of groups of flows is known, a last panel shows its p99 per group.
"""

import textwrap
from math import isfinite, nan
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.readable_names import readable
from tailroom.simulation.metric_catalogue import axis_label, axis_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.studies.choice_study.answer import Choice, Choices

GOT, PAID, PAID_AT_MOST = "utilization", "queue_delay_s_mean", "queue_delay_s_p99"
LEAST_SPAN = 2.0
"""Least span of the utilization axis, in percentage points."""
MOST_PANELS = 6
"""Largest number of drawn links; the table has all links."""


def draw(choices: "Choices") -> Figure:
    """One panel per link: a marker per choice at its mean delay, a line from there to the p99.

    Intervals are drawn where there are several seeds.
    """
    links = style.evenly_spread(list(choices.links), MOST_PANELS)
    groups = _waiting_groups(choices)
    count = len(links) + bool(groups)
    columns = min(2, count)
    rows = -(-count // columns)
    size = (4.6 * columns + 2.6, 3.4 * rows + 0.9)
    figure = PlainTextFigure(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    titles = dict.fromkeys(choice.title for choice in choices.choices if choice.title)
    title = next(iter(titles), "") if len(titles) == 1 else "Scenarios side by side"
    # The title is above the panels, because the legend is right of them.
    figure.suptitle(textwrap.fill(title, 36 * columns), fontsize="medium")
    points = [_draw_link(panel, choices, link) for panel, link in zip(panels, links, strict=False)]
    if groups:
        _draw_groups(panels[len(links)], choices, groups)
    for panel in panels[count:]:
        panel.remove()
    looks = style.marked_line_styles()
    names = readable([choice.name for choice in choices.choices])
    handles = [
        Line2D([], [], label=name, **{**look, "linestyle": "none"})
        for name, look in zip(names, looks, strict=False)
    ]
    runs = style.runs_words([len(choices.seeds)])
    handles.append(Line2D([], [], color="0.3", linewidth=0.8, label="from mean to p99 delay"))
    words = f"95 % confidence of means,\n{runs}" if len(choices.seeds) > 1 else runs
    marker = "+" if len(choices.seeds) > 1 else ""
    handles.append(Line2D([], [], color="0.3", linewidth=0, marker=marker, label=words))
    style.figure_legend(figure, handles, style.LEGEND_ROOM)
    figure.draw_without_rendering()
    for panel, named in zip(panels, points, strict=False):
        style.label_points(panel, list(named.values()), list(named))
    return figure


def _draw_link(panel: "Axes", choices: "Choices", link: str) -> dict[str, tuple[float, float]]:
    """Draws the choices at a link, and returns where each is."""
    points: dict[str, tuple[float, float]] = {}
    delays: list[float] = []
    names = readable([choice.name for choice in choices.choices])
    for name, choice, look in zip(names, choices.choices, style.marked_line_styles(), strict=False):
        share, share_bar = _number(choice, f"links.{link}.{GOT}")
        delay, delay_bar = _number(choice, f"links.{link}.{PAID}")
        largest, _ = _number(choice, f"links.{link}.{PAID_AT_MOST}")
        if not (isfinite(share) and isfinite(delay)):
            continue
        if isfinite(largest):
            panel.plot([delay, largest], [share, share], color=look["color"], linewidth=0.8)
            panel.plot([largest], [share], color=look["color"], marker="|", markersize=7)
        panel.errorbar(
            [delay],
            [share],
            xerr=delay_bar,
            yerr=share_bar,
            fmt="none",
            ecolor=look["color"],
            elinewidth=0.8,
            capsize=2,
        )
        panel.plot([delay], [share], **{**look, "markersize": 7})
        points[name] = (delay, share)
        delays += [number for number in (delay, largest) if isfinite(number)]
    _delay_axis(panel, delays)
    panel.margins(y=0.12)
    low, high = panel.get_ylim()
    # A difference of a few hundredths of a percent must not fill the panel.
    wider = max(0.0, LEAST_SPAN - (high - low)) / 2
    panel.set_ylim(min(low - wider, 100 - LEAST_SPAN), high + wider)
    style.cap_at_highest(panel, GOT)
    if len(choices.links) > 1 or _waiting_groups(choices):
        panel.set_title(f"link {link}", fontsize="medium")
    panel.set_xlabel("queueing delay (ms)")
    panel.set_ylabel(axis_label(GOT))
    return points


def _waiting_groups(choices: "Choices") -> list[str]:
    """The groups of flows whose queueing delay is known."""
    names = [name for choice in choices.choices for name in choice.metrics]
    groups = [
        name.split(".")[1]
        for name in names
        if name.startswith("groups.") and name.count(".") == 2 and name.endswith(PAID_AT_MOST)
    ]
    return style.evenly_spread(list(dict.fromkeys(groups)))


def _draw_groups(panel: "Axes", choices: "Choices", groups: list[str]) -> None:
    """The p99 of the queueing delay of each group, a marker per choice."""
    delays: list[float] = []
    step = 0.6 / max(1, len(choices.choices) - 1)
    for number, (choice, look) in enumerate(
        zip(choices.choices, style.marked_line_styles(), strict=False)
    ):
        for place, group in enumerate(groups):
            delay, bar = _number(choice, f"groups.{group}.{PAID_AT_MOST}")
            if isfinite(delay):
                at = place + number * step - 0.3
                panel.errorbar([delay], [at], xerr=bar, fmt="none", ecolor=look["color"], capsize=2)
                panel.plot([delay], [at], **{**look, "markersize": 6})
                delays.append(delay)
    _delay_axis(panel, delays)
    panel.set_yticks(range(len(groups)), groups)
    panel.set_ylim(len(groups) - 0.5, -0.5)
    panel.set_title("whose packets wait", fontsize="medium")
    panel.set_xlabel(axis_label(PAID_AT_MOST))


def _delay_axis(panel: "Axes", delays: list[float]) -> None:
    """Delays from 0, or on a logarithmic scale where they span decades."""
    if style.spans_decades(delays):
        panel.set_xscale("log")
        label_logarithmic(panel.xaxis)
    else:
        panel.set_xlim(left=0)
    panel.grid(visible=True, color="0.92")


def _number(choice: "Choice", metric: str) -> tuple[float, list[list[float]]]:
    """Mean and error bar of a metric in the unit of the picture; NaN where it is not defined."""
    interval = choice.metrics.get(metric)
    if interval is None:
        return nan, [[0.0], [0.0]]
    scale = axis_scale(metric)
    return scale * interval.mean, [[scale * arm] for arm in interval.bar]
