"""The unstated bottleneck: the rate and delay that reproduce Table 1 best."""

from collections.abc import Sequence
from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING

from tailroom.plots import style
from tailroom.reproduction.claim import Check, Claim, Judgement, between, is_true, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.mean_curves import draw_means
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import Metric, PartResults, PointResults, StoredRun
from tailroom.statistics.intervals import Interval
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.paper_table import TABLE, UTILIZATION_STEP, distance
from tailroom_papers.su_2005.setting import (
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    shorter = {"duration": "90 s", "measure_from": "40 s"}
    studies = []
    for delay in delays_ms(form):
        rows = [Path(rate, delay).settings for rate in rates_mbps(form)]
        studies.append(
            Study(
                f"{delay} ms",
                SCENARIO,
                grid={C: TABLE_C},
                together={key: [row[key] for row in rows] for key in (RATE, LIMIT)},
                set={DELAY: f"{delay} ms", **form.of(span(form), shorter, {})},
                seeds=form.of(3, 3, 5),
            )
        )
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
    """No other path is nearer by more than chance, and the link is as full as the paper's."""
    of_path = distances(results)
    mine = of_path[CHOSEN]
    nearest = min(of_path, key=lambda path: of_path[path].mean)
    nearer = [path for path, interval in of_path.items() if interval.high < mine.low]
    checks: list[Check] = [
        is_true(
            "distance of the chosen path from Table 1",
            "no other nearer by more than both intervals",
            not nearer,
            mine,
        )
    ]
    for c, point in on(results, CHOSEN).items():
        row = TABLE[c]
        total = sum(row.flows) + row.background
        checks.append(
            between(
                f"F1 + F2 + F3 + F4, c = {c}",
                point.interval(_sum_of_all),
                total - UTILIZATION_STEP,
                total + UTILIZATION_STEP,
                f"{100 * total:.1f} % (within 5 points)",
                percent=True,
            )
        )
    farthest = max(of_path, key=lambda path: of_path[path].mean)
    low, high = zip(*(by_square_root(c) for c in TABLE_C), strict=True)
    return Judgement(
        tuple(checks),
        f"The distance (1: all cells off by 5 points, 0.05 of the index or a factor of 2 of loss) "
        f"is {shown(mine)} at {_words(CHOSEN)}; least, {shown(of_path[nearest])}, at "
        f"{_words(nearest)}; greatest, {shown(of_path[farthest])}, at {_words(farthest)}. By "
        f"itself the background's share and loss in the paper, with the square-root law, give "
        f"{min(low):.0f} to {max(high):.0f} Mbit/s.",
    )


def judge_sensitivity(results: PartResults) -> Judgement:
    """Table 1's order of the fairness indices, largest at c = 10, on each path."""
    order = {path: _order_of(on(results, path)) for path in paths(results.form)}
    holding = [path for path, as_stated in order.items() if as_stated]
    checks = tuple(
        is_true(
            f"{_words(path)}: index at c = 10 less the larger one of c = 5 and 20",
            "above 0",
            _above_both(on(results, path)),
            _lead(on(results, path)),
        )
        for path in order
    )
    by_delay = [
        f"{delay} ms {_means([path for path in order if path.delay_ms == delay], results)}"
        for delay in delays_ms(results.form)
    ]
    return Judgement(
        checks,
        f"By the means the index is largest at c = 10 on {len(holding)} of {len(order)} paths"
        f"{': ' + ', '.join(map(_words, holding)) if holding else ''}. Its mean "
        f"over all rates at c = 5, 10 and 20, by delay and so by buffer: {'; '.join(by_delay)}.",
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


def _sum_of_all(run: StoredRun) -> float:
    return measures.total_utilization(run) + measures.background_utilization(run)


def _order_of(points: dict[int, PointResults]) -> bool:
    five, ten, twenty = (points[c].mean(measures.fairness) for c in TABLE_C)
    return ten > max(five, twenty)


def _lead(points: dict[int, PointResults]) -> Interval | None:
    """The index at c = 10 less the larger index of c = 5 and c = 20."""
    rival = max((5, 20), key=lambda c: points[c].mean(measures.fairness))
    return difference(points[10], points[rival], measures.fairness)


def _above_both(points: dict[int, PointResults]) -> bool | None:
    apart = [difference(points[10], points[c], measures.fairness) for c in (5, 20)]
    known = [interval for interval in apart if interval is not None]
    if len(known) == 2 and all(interval.low > 0 for interval in known):
        return True
    return False if any(interval.high < 0 for interval in known) else None


def draw(results: PartResults) -> "Figure":
    """Distance over rate for each delay; Table 1's cells over rate at the chosen delay."""
    figure, panels = drawing.figure_of(
        "Su et al. 2005: which bottleneck comes nearest to Table 1 (buffer = rate x delay)", 2, 3
    )
    _draw_distance(panels[0], results)
    rates = [path for path in paths(results.form) if path.delay_ms == CHOSEN.delay_ms]
    cells: list[tuple[str, Metric, list[float], float]] = [
        *(
            (
                f"F{place + 1} (%)",
                measures.utilization_of(place),
                [row.flows[place] for row in TABLE.values()],
                100.0,
            )
            for place in range(3)
        ),
        (
            "F4, background (%)",
            measures.background_utilization,
            [row.background for row in TABLE.values()],
            100.0,
        ),
        ("fairness index", measures.fairness, [row.fairness for row in TABLE.values()], 1.0),
    ]
    for axes, (label, metric, stated, scale) in zip(panels[1:], cells, strict=True):
        _draw_cell(axes, results, rates, metric, [scale * number for number in stated], scale)
        axes.set_ylabel(label)
    for axes in panels:
        style.scale_over(axes, [path.rate_mbps for path in rates])
        axes.set_xlabel("rate of the bottleneck (Mbit/s)")
    panels[0].legend(fontsize="x-small", frameon=False, title="delay", ncols=2)
    drawing.legend_below(figure, panels[1:2], 6)
    return figure


def _draw_distance(axes: "Axes", results: PartResults) -> None:
    of_path = distances(results)
    delays = sorted({path.delay_ms for path in of_path})
    for delay, look in zip(delays, style.marked_line_styles(), strict=False):
        some = [path for path in of_path if path.delay_ms == delay]
        means = [of_path[path].mean for path in some]
        axes.plot([path.rate_mbps for path in some], means, label=f"{delay} ms", **look)
    axes.plot(
        CHOSEN.rate_mbps,
        of_path[CHOSEN].mean,
        **{**drawing.PAPER, "marker": "o", "markersize": 15, "color": "0.4"},
    )
    chosen = of_path[CHOSEN]
    if chosen.count > 1:
        axes.errorbar(CHOSEN.rate_mbps, chosen.mean, chosen.half_width, color="0.4", capsize=4)
    axes.set_ylim(bottom=0, top=1.3 * max(value.mean for value in of_path.values()))
    axes.set_ylabel("distance from Table 1\n(ring: the one chosen, with 95 % interval)")


def _draw_cell(  # noqa: PLR0913, PLR0917 - each says one thing about a panel
    axes: "Axes",
    results: PartResults,
    rates: Sequence[Path],
    metric: Metric,
    stated: Sequence[float],
    scale: float,
) -> None:
    over = [float(path.rate_mbps) for path in rates]
    looks = list(islice(style.marked_line_styles(), 3))
    for c, value, look in zip(TABLE_C, stated, looks, strict=True):
        points = [on(results, path)[c] for path in rates]
        label = f"tailroom, {CHOSEN.delay_ms} ms, c = {c}"
        draw_means(axes, over, points, metric, look, label=label, scale=scale)
        marker = {**drawing.PAPER, "marker": look["marker"], "color": look["color"]}
        axes.plot(CHOSEN.rate_mbps, value, label=f"Su et al., c = {c}", **marker)
    if scale == 1:
        axes.set_ylim(max(0.3, axes.get_ylim()[0]), 1.02)
    else:
        axes.set_ylim(0, min(85.0, axes.get_ylim()[1]))


PART = Part(
    name="capacity",
    title="The bottleneck that is missing from the text",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "choice",
            "Ours: 300 Mbit/s and 20 ms come nearest to Table 1, and fill the link as it says",
            "Figure 2 (missing), Table 1",
            judge_choice,
        ),
        Claim(
            "largest-at-10",
            "The fairness index is largest at c = 10, whatever the bottleneck",
            "Table 1",
            judge_sensitivity,
        ),
    ),
    note=(
        "The distance is the root mean square over Table 1's 18 cells: a utilization counts in "
        "steps of 5 points, the fairness index in steps of 0.05, a loss rate outside the paper's "
        "range in factors of 2. Its interval is that of the jackknife over seeds. The buffer is "
        "rate times delay of the bottleneck, as in the paper, so the delay determines the "
        "utilization of the link; in the paper F1 to F4 sum up to 87.9, 94.5 and 95.0 %. The "
        "delay can be 40 ms at most, half the shortest round trip time. The ring in the picture "
        "marks the path that the other parts take; the paper's cells are drawn at its rate."
    ),
)
