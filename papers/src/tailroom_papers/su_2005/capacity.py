"""The unstated bottleneck: the rate and delay that reproduce Table 1 best."""

from collections.abc import Mapping, Sequence
from itertools import islice
from math import sqrt

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.paper_table import (
    BACKGROUND,
    FAIRNESS,
    FIRST,
    SECOND,
    TABLE,
    THIRD,
    Column,
    distance,
)
from tailroom_papers.su_2005.setting import (
    BOUNDS,
    CHOSEN,
    DELAY,
    LIMIT,
    RATE,
    SCENARIO,
    TABLE_C,
    C,
    Path,
    span,
)

BACKGROUND_FLOWS = 4
BACKGROUND_RTT_S = 0.12
"""Mean of the scenario's, to which the square-root law adds no queueing."""


def rates_mbps(form: Form) -> tuple[int, ...]:
    """From 100 Mbit/s to 1 Gbit/s."""
    return form.of((100, 300), (100, 300, 1000), (100, 155, 200, 300, 400, 622, 1000))


def delays_ms(form: Form) -> tuple[int, ...]:
    """Up to half the shortest round trip time."""
    return form.of((20,), (10, 20, 40), (10, 15, 20, 30, 40))


def paths(form: Form) -> list[Path]:
    """Every rate with every delay."""
    return [Path(rate, delay) for delay in delays_ms(form) for rate in rates_mbps(form)]


def studies(form: Form) -> list[Study]:
    """Table 1 on every path, with a buffer of rate times delay; a study per delay."""
    shorter: dict[str, object] = {"duration": "90 s", "measure_from": "40 s"}
    studies = []
    for delay in delays_ms(form):
        rows = [Path(rate, delay).settings for rate in rates_mbps(form)]
        together = {key: [row[key] for row in rows] for key in (RATE, LIMIT)}
        changes = {DELAY: f"{delay} ms", **form.of(span(form), shorter, {})}
        seeds = form.of(2, 3, 5)
        studies.append(Study(f"{delay} ms", SCENARIO, {C: TABLE_C}, together, changes, seeds))
    return studies


def on(results: PartResults, path: Path) -> dict[int, PointResults]:
    """The runs on a path, by c."""
    study = results.study(f"{path.delay_ms} ms")
    return {c: study.at({C: c, RATE: path.settings[RATE]}) for c in TABLE_C}


def distances(results: PartResults) -> dict[Path, Interval]:
    """Distance of the table of each path from the paper's table."""
    return {path: distance(on(results, path)) for path in paths(results.form)}


def by_square_root(c: int) -> tuple[float, float]:
    """Rate in Mbit/s by the background's share and loss alone, at either end of its range of loss.

    Four flows of standard TCP carry sqrt(1.5 / p) / RTT packets/s each (Mathis et al. 1997).
    """
    row = TABLE[c]
    carried_mbps = [BACKGROUND_FLOWS * sqrt(1.5 / p) / BACKGROUND_RTT_S * 8e-3 for p in row.loss]
    return carried_mbps[1] / row.background, carried_mbps[0] / row.background


def judge_choice(results: PartResults) -> Judgement:
    """Judges whether the link is as full as the paper's on the chosen path."""
    checks = []
    step = BOUNDS["utilization-cell"].value
    for c, point in on(results, CHOSEN).items():
        row = TABLE[c]
        total = sum(row.flows) + row.background
        measured = point.interval(measures.total_with_background)
        words = f"{100 * total:.1f} % (within 5 points)"
        what = f"F1 + F2 + F3 + F4, c = {c}"
        checks.append(between(what, measured, total - step, total + step, words, percent=True))
    return Judgement(tuple(checks), lambda: _why_choice(results))


def _why_choice(results: PartResults) -> str:
    of_path = distances(results)
    nearest = min(of_path, key=lambda path: of_path[path].mean)
    farthest = max(of_path, key=lambda path: of_path[path].mean)
    low, high = zip(*(by_square_root(c) for c in TABLE_C), strict=True)
    largest = [path for path in of_path if _is_largest_at_10(on(results, path))]
    by_delay = [
        f"{delay} ms {_means([path for path in of_path if path.delay_ms == delay], results)}"
        for delay in delays_ms(results.form)
    ]
    return (
        "The distance is 1 if all cells are off by 5 points, 0.05 of the index or a factor of 2 of "
        f"loss. It is {shown(of_path[CHOSEN])} at {_words(CHOSEN)}, the path of the other parts, "
        f"smallest, {shown(of_path[nearest])}, at {_words(nearest)}, and largest, "
        f"{shown(of_path[farthest])}, at {_words(farthest)}. By themselves the share and loss of "
        f"the background in the paper, with the square-root law, give {min(low):.0f} to "
        f"{max(high):.0f} Mbit/s. The mean fairness index is largest at c = 10 on {len(largest)} "
        f"of {len(of_path)} paths. Its mean over all rates at c = 5, 10 and 20, by delay and "
        f"therefore by buffer: {'; '.join(by_delay)}."
    )


def _means(some: Sequence[Path], results: PartResults) -> str:
    """The index at each c, over several paths."""
    points = [on(results, path) for path in some]
    means = [
        sum(point[c].mean(measures.fairness) for point in points) / len(points) for c in TABLE_C
    ]
    return ", ".join(f"{mean:.2f}" for mean in means)


def _words(path: Path) -> str:
    return f"{path.rate_mbps} Mbit/s and {path.delay_ms} ms"


def _is_largest_at_10(points: dict[int, PointResults]) -> bool:
    five, ten, twenty = (points[c].mean(measures.fairness) for c in TABLE_C)
    return ten > max(five, twenty)


def draw(results: PartResults) -> Figure:
    """Draws the distance over rate for each delay, and Table 1's cells at the chosen delay."""
    figure, panels = figure_of(
        "The bottleneck: distance from Table 1, and its cells at a delay of "
        f"{CHOSEN.delay_ms} ms (buffer = rate x delay)",
        2,
        3,
    )
    _draw_distance(panels[0], results)
    rates = [path for path in paths(results.form) if path.delay_ms == CHOSEN.delay_ms]
    for axes, column in zip(panels[1:], (FIRST, SECOND, THIRD, BACKGROUND, FAIRNESS), strict=True):
        _draw_cell(axes, {path.rate_mbps: on(results, path) for path in rates}, column)
    for axes in panels:
        style.scale_over(axes, [path.rate_mbps for path in rates])
        axes.set_xlabel("rate of the bottleneck (Mbit/s)")
    return legend_below(figure, 4, panels[:2])


def _draw_distance(axes: Axes, results: PartResults) -> None:
    of_path = distances(results)
    delays = {
        f"distance, {path.delay_ms} ms": path.delay_ms for path in sorted(of_path, key=_delay)
    }
    for label, delay, look in styled(delays, islice(style.marked_line_styles(), 3, None)):
        some = [path for path in of_path if path.delay_ms == delay]
        means = [of_path[path].mean for path in some]
        axes.plot([path.rate_mbps for path in some], means, label=label, **look)
    ring = {"marker": "o", "markersize": 15, "markerfacecolor": "none", "color": "0.4"}
    look = {**ring, "linestyle": "none", "label": "chosen path"}
    draw_intervals(axes, [CHOSEN.rate_mbps], [of_path[CHOSEN]], look)
    axes.set(ylim=(0, None), ylabel="distance from Table 1")


def _delay(path: Path) -> int:
    return path.delay_ms


def _draw_cell(
    axes: Axes, points: Mapping[int, Mapping[int, PointResults]], column: Column
) -> None:
    """A column of Table 1 over the rate, by rate and c."""
    for c, look, aside in zip(TABLE_C, drawing.marks(), (-0.03, 0.0, 0.03), strict=False):
        of_c = {rate: by_c[c] for rate, by_c in points.items()}
        drawing.dots(axes, of_c, column, look, f"tailroom, c = {c}", aside=aside)
        number = column.scale * column.stated(TABLE[c])
        axes.plot(CHOSEN.rate_mbps, number, label=f"Su et al., c = {c}", **look | drawing.PAPER)
    low, high = axes.get_ylim()
    limits = (max(0.3, low), 1.02) if column is FAIRNESS else (0, min(85.0, high))
    axes.set(ylabel=column.label, ylim=limits)


PART = Part(
    name="capacity",
    title="The bottleneck that is missing from the text",
    studies=studies,
    draw=draw,
    conditions=(
        Claim(
            "choice",
            "on the chosen path the link is as full as in Table 1",
            "Figure 2 (missing), Table 1",
            judge_choice,
        ),
    ),
    caption=(
        "Top left: distance of the simulated Table 1 from the paper's over the rate of the "
        "bottleneck, for several delays; the circle marks the path of the other parts, with its 95 "
        "% confidence interval. Other panels: cells of the table over the rate; filled marks are "
        "means over runs with 95 % confidence intervals, hollow marks the paper's numbers, drawn "
        "at the chosen rate."
    ),
    note=(
        "The distance is the root mean square over Table 1's 18 cells: a utilization counts in "
        "steps of 5 points, the fairness index in steps of 0.05, a loss rate outside the paper's "
        "range in factors of 2. Its interval is that of the jackknife over seeds. The buffer is "
        "rate times delay of the bottleneck, as in the paper, so that the delay determines the "
        "utilization of the link; in the paper F1 to F4 add up to 87.9, 94.5 and 95.0 %. The "
        "delay can be 40 ms at most, half the shortest round-trip time. The path was chosen in "
        "the first edition, on other seeds."
    ),
)
