"""Table 1: the effect of the fair factor c on the three flows, fairness and background."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.other_values import JITTER, UNSTATED
from tailroom_papers.su_2005.paper_table import (
    BACKGROUND,
    FAIRNESS,
    FIRST,
    SECOND,
    TABLE,
    THIRD,
    Column,
)
from tailroom_papers.su_2005.readings import BASE, READINGS
from tailroom_papers.su_2005.setting import (
    BLOCKS,
    BOUNDS,
    CONTROL,
    RTTS_MS,
    SCENARIO,
    TABLE_C,
    C,
    span,
)
from tailroom_papers.su_2005.table_1_claims import (
    ABOUT_C,
    CLAIMS,
    IN_TABLE,
    OTHER_C,
    STANDARD,
    UNPACED,
    over_c,
    standard,
)

FEW_C = (2, 40)
MANY_C = (2, 3, 4, 6, 7, 8, 12, 14, 16, 25, 30, 40)
"""Other c than those of the table."""
TICKS = (2, 5, 10, 20, 40)
LABELS = ("utilization (%)", BACKGROUND.label, FAIRNESS.label, "loss rate of the background")
"""Of the y axes."""


def effect_of_c(form: Form) -> Study:
    """The study of Table 1's three c."""
    return Study(IN_TABLE, SCENARIO, {C: TABLE_C}, set=span(form), seeds=form.of(3, 6, 50))


def standard_control(form: Form) -> Study:
    """The study of standard TCP in place of FHSTCP."""
    return Study(STANDARD, SCENARIO, {CONTROL: ["reno"]}, set=span(form), seeds=form.of(3, 6, 50))


def studies(form: Form) -> list[Study]:
    """Over c, the same without blocks, and three flows of standard TCP in place of FHSTCP."""
    others = form.of((), FEW_C, MANY_C)
    no_blocks = {**span(form), BLOCKS: False}
    unpaced = form.of((10,), (*TABLE_C, *FEW_C), (*TABLE_C, *MANY_C))
    return [
        effect_of_c(form),
        *(
            Study(OTHER_C, SCENARIO, {C: others}, set=span(form), seeds=form.of(3, 6, 40))
            for _ in others[:1]
        ),
        Study(UNPACED, SCENARIO, {C: sorted(unpaced)}, set=no_blocks, seeds=form.of(2, 4, 20)),
        standard_control(form),
    ]


def variations(form: Form) -> list[Variation]:
    """The readings of the pseudo-code, and other values of what the paper does not state."""
    table = effect_of_c(form)
    readings = [reading for reading in READINGS if reading.name != BASE]
    of_reading = [
        Variation(
            reading.name,
            [table.varied(reading.settings, seeds=form.of(2, 4, 50 if reading.plausible else 20))],
            ABOUT_C if reading.plausible else ABOUT_C[:3],
            reading.plausible,
            reading.reason,
        )
        for reading in form.of(readings[:1], readings, readings)
    ]
    names: Sequence[str] = form.of((), (*tuple(UNSTATED)[:2], JITTER), tuple(UNSTATED))
    seeds = form.of(2, 4, 20)
    of_unstated = [UNSTATED[name].variation(name, table, ABOUT_C, seeds) for name in names]
    return [*of_reading, *of_unstated]


def draw(results: PartResults) -> Figure:
    """Draws utilizations, fairness index, background's utilization and loss over c."""
    figure, panels = figure_of("Table 1: effect of the fair factor c", 2, 2)
    points = over_c(results)
    *looks, last, violet = islice(drawing.marks(), 5)
    for place, (column, look) in enumerate(zip((FIRST, SECOND, THIRD), looks, strict=True)):
        label, aside = f"F{place + 1}, {RTTS_MS[place]} ms", 0.02 * (place - 1)
        _draw_column(panels[0], points, column, look, label, aside)
    _draw_column(panels[1], points, BACKGROUND, last, "F4, background")
    _draw_standard(panels[1], standard(results), BACKGROUND)
    _draw_column(panels[2], points, FAIRNESS, violet | {"marker": "v"}, "fairness index", -0.01)
    cross = {"marker": "x", "color": style.COLOURS[5], "linestyle": "none"}
    unpaced = {int(point.settings[C]): point for point in results.study(UNPACED).points}
    drawing.dots(panels[2], unpaced, FAIRNESS, cross, "without blocks", aside=0.01)
    _draw_standard(panels[2], standard(results), FAIRNESS)
    _draw_loss(panels[3], points, last)
    for axes, label in zip(panels, LABELS, strict=True):
        frame(axes, x="c (1/s)", y=label, xscale="log", ticks=TICKS, grid="")
    for axes in panels[:2]:
        axes.set_ylim(bottom=0)
    panels[2].set_ylim(0.4, 1.02)
    return legend_below(figure, 3)


def _draw_column(  # noqa: PLR0913, PLR0917 - each says one thing about a series
    axes: Axes,
    points: dict[int, PointResults],
    column: Column,
    look: dict[str, Any],
    label: str,
    aside: float = 0.0,
) -> None:
    drawing.dots(axes, points, column, look, label, aside=aside)
    stated = [column.scale * column.stated(row) for row in TABLE.values()]
    hollow = {"label": "Su et al., Table 1 (hollow, same shape)", **look, **drawing.PAPER}
    axes.plot(list(TABLE), stated, **hollow)


def _draw_standard(axes: Axes, point: PointResults, column: Column) -> None:
    interval, scale = point.interval(column.metric), column.scale
    if interval is None:
        return
    if interval.count > 1:
        axes.axhspan(scale * interval.low, scale * interval.high, color="0.85", zorder=0)
    label = "standard TCP in place of FHSTCP"
    axes.axhline(scale * interval.mean, label=label, **style.LIMIT_LINE)


def _draw_loss(axes: Axes, points: dict[int, PointResults], look: dict[str, Any]) -> None:
    for c, row in TABLE.items():
        axes.vlines(c, *row.loss, color="0.7", linewidth=8, label="Su et al., range of losses")
    draw_marks(axes, points, points.values(), measures.background_loss, look)
    bound = BOUNDS["friendly-loss"].value
    axes.axhline(bound, color="black", linestyle=":", linewidth=1.2, label="bound 1e-3")
    axes.set_yscale("log")


PART = Part(
    name="table-1",
    title="The effect of c and TCP friendliness",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    variations=variations,
    caption=(
        "Effect of the fair factor c. Top left: link utilization of the three FHSTCP flows. Top "
        "right: link utilization of all background traffic. Bottom left: Jain's fairness index of "
        "the three flows, with blocks (filled) and without (crosses). Bottom right: loss rate of "
        "the long-lived background flows. Filled marks and crosses are means over runs with 95 % "
        "confidence intervals; hollow marks and grey bars are the numbers of the paper's Table 1. "
        "The dashed line with its grey band is the mean next to three flows of standard TCP. The "
        "marks are not joined, because the number of blocks jumps from c to c."
    ),
    note=(
        "The available text of the paper gives neither the rate nor the delay of the bottleneck, "
        "nor the amount of short and web traffic; the part `capacity` describes how 300 Mbit/s "
        "and 20 ms were determined. F4 is all background traffic: four long-lived flows with "
        "round-trip times from 90 to 150 ms, and short-lived flows and web sessions that offer "
        "one per cent of the link each. Averages are over 50 to 200 s. Differences between two "
        "values of c are paired by seed, because a seed gives both the same start times. The "
        "best c is determined on the runs with even seeds and judged on those with odd seeds.\n\n"
        "The paper calls FHSTCP friendly because the loss rate of the background is below 1e-3. "
        "We also test its condition (1) literally, that the bandwidth requirement of standard TCP "
        "is met, by comparing the background next to FHSTCP with the background next to standard "
        "TCP."
    ),
)
