"""Table 1: the effect of the fair factor c on the three flows, fairness and background."""

from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom.plots import style
from tailroom.reproduction.claim import Check, Claim, Judgement, above, below, between, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.mean_curves import draw_means
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import Metric, PartResults, PointResults
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.paper_table import FAIRNESS_STEP, TABLE, UTILIZATION_STEP, Row
from tailroom_papers.su_2005.setting import BLOCKS, CONTROL, RTTS_MS, SCENARIO, TABLE_C, C, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOW_P = DEFAULTS.low_p
"""Loss rate below which the paper calls FHSTCP friendly: `low_p` of HighSpeed TCP."""
SINGLE = "mean of the runs (index, loss)"
FINE_C = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 25, 30, 40)
QUICK_C = (2, 5, 10, 20, 40)


def studies(form: Form) -> list[Study]:
    """Over c, the same without blocks, and three flows of standard TCP in place of FHSTCP."""
    values = form.of(TABLE_C, QUICK_C, FINE_C)
    seeds = form.of(3, 4, 20)
    return [
        Study("c", SCENARIO, grid={C: values}, set=span(form), seeds=seeds),
        Study(
            "no blocks",
            SCENARIO,
            grid={C: form.of((10,), TABLE_C, FINE_C)},
            set={**span(form), BLOCKS: False},
            seeds=form.of(2, 4, 10),
        ),
        Study("standard", SCENARIO, grid={CONTROL: ["reno"]}, set=span(form), seeds=seeds),
    ]


def at(results: PartResults, c: int) -> PointResults:
    """The runs with this c."""
    return results.study("c").at({C: c})


def standard(results: PartResults) -> PointResults:
    """The runs in which the three flows are standard TCP."""
    return results.study("standard").points[0]


def grows(results: PartResults, what: str, metric: Metric, low: int, high: int) -> Check:
    """Whether a metric is larger at one c than at a smaller one, run by run."""
    change = difference(at(results, high), at(results, low), metric)
    percent = metric is not measures.fairness
    return above(f"{what}: c = {high} less c = {low}", change, 0.0, "larger", percent=percent)


def falls(results: PartResults, what: str, metric: Metric, low: int, high: int) -> Check:
    """Whether a metric is smaller at one c than at a smaller one, run by run."""
    change = difference(at(results, high), at(results, low), metric)
    percent = metric is not measures.fairness
    return below(f"{what}: c = {high} less c = {low}", change, 0.0, "smaller", percent=percent)


def means(results: PartResults, metric: Metric, form: str = ".2f", scale: float = 1.0) -> str:
    """A metric at Table 1's three c, in words."""
    values = [f"{scale * at(results, c).mean(metric):{form}}" for c in TABLE_C]
    return f"{values[0]}, {values[1]} and {values[2]}"


def printed(of: Callable[[Row], float], form: str = ".2f", scale: float = 1.0) -> str:
    """The same of the paper's table."""
    values = [f"{scale * of(row):{form}}" for row in TABLE.values()]
    return f"{values[0]}, {values[1]} and {values[2]}"


def judge_numbers(results: PartResults) -> Judgement:
    """Each cell within 5 points of utilization, or 0.05 of the index, of the paper's."""
    checks = []
    for c, row in TABLE.items():
        stated = (*row.flows, row.background)
        metrics = [*map(measures.utilization_of, range(3)), measures.background_utilization]
        for place, (value, metric) in enumerate(zip(stated, metrics, strict=True), 1):
            low, high = value - UTILIZATION_STEP, value + UTILIZATION_STEP
            what, said = f"c = {c}, F{place}", f"{100 * value:.2f} % (within 5 points)"
            ours = at(results, c).interval(metric)
            checks.append(between(what, ours, low, high, said, percent=True))
        low, high = row.fairness - FAIRNESS_STEP, row.fairness + FAIRNESS_STEP
        said = f"{row.fairness:.2f} (within {FAIRNESS_STEP})"
        index = at(results, c).interval(measures.fairness)
        checks.append(between(f"c = {c}, fairness index", index, low, high, said))
    inside = sum(check.holds is True for check in checks)
    outside = [check.what for check in checks if check.holds is False]
    return Judgement(
        tuple(checks),
        f"{inside} of {len(checks)} cells lie within the bounds by their whole interval, "
        f"{len(outside)} outside{': ' + ', '.join(outside) if outside else ''}. The three flows "
        f"together use {means(results, measures.total_utilization, '.1f', 100)} % of the link (the "
        f"paper: {printed(lambda row: sum(row.flows), '.1f', 100)} %).",
    )


def judge_optimum(results: PartResults) -> Judgement:
    """By fairness, at the table's c and at all others; by use; by what the background keeps."""
    fairness = measures.fairness
    best = max(results.study("c").points, key=lambda point: point.mean(fairness))
    of_seed = list(zip(*(at(results, c).values(fairness) for c in TABLE_C), strict=True))
    as_printed = sum(ten > max(five, twenty) for five, ten, twenty in of_seed)
    change = difference(best, at(results, 10), fairness)
    checks = (
        grows(results, "fairness index", fairness, 5, 10),
        falls(results, "fairness index", fairness, 10, 20),
        below(
            f"fairness index: best c ({best.settings[C]}) less c = 10",
            change,
            FAIRNESS_STEP / 2,
            f"no better by {FAIRNESS_STEP / 2} or more",
        ),
        grows(results, "use of the three flows", measures.total_utilization, 5, 10),
        falls(results, "use of the background", measures.background_utilization, 10, 20),
    )
    return Judgement(
        checks,
        f"The fairness index is {means(results, fairness)} at c = 5, 10 and 20 (the paper: "
        f"{printed(lambda row: row.fairness)}) and largest, {shown(best.interval(fairness))}, at "
        f"c = {best.settings[C]}. In {as_printed} of {len(of_seed)} seeds it is largest at 10, as "
        "in the paper's table. Larger c displace the background, which keeps "
        f"{means(results, measures.background_utilization, '.1f', 100)} %. From one c to the next "
        f"the index changes by up to {_largest_step(results, 'c'):.2f} with blocks and by up to "
        f"{_largest_step(results, 'no blocks'):.2f} without: the number of blocks, int(c RTT) + 1, "
        "jumps for one flow and then for another.",
    )


def _largest_step(results: PartResults, study: str) -> float:
    """The largest change of the index between neighbours of the c that were run without blocks."""
    over = [point.settings[C] for point in results.study("no blocks").points]
    index = [results.study(study).at({C: c}).mean(measures.fairness) for c in over]
    return max((abs(b - a) for a, b in pairwise(index)), default=0.0)


def judge_small(results: PartResults) -> Judgement:
    """Each flow, and all three, use less at c = 5 than at c = 10."""
    flows = [
        grows(results, f"use of F{place + 1}", measures.utilization_of(place), 5, 10)
        for place in range(3)
    ]
    total = grows(results, "use of the three flows", measures.total_utilization, 5, 10)
    freed = difference(at(results, 5), at(results, 10), measures.background_utilization)
    return Judgement(
        (*flows, total),
        f"Together they use {100 * at(results, 5).mean(measures.total_utilization):.1f} % at c = 5 "
        f"and {100 * at(results, 10).mean(measures.total_utilization):.1f} % at c = 10; the "
        f"background has {shown(freed, percent=True)} more at c = 5.",
    )


def judge_large(results: PartResults) -> Judgement:
    """At c = 20 the flow with the short RTT takes more, and fairness is less, than at c = 10."""
    first = measures.utilization_of(0)
    return Judgement(
        (
            grows(results, "use of F1 (80 ms)", first, 10, 20),
            falls(results, "fairness index", measures.fairness, 10, 20),
        ),
        f"F1 uses {means(results, first, '.1f', 100)} % at c = 5, 10 and 20 (the paper: "
        f"{printed(lambda row: row.flows[0], '.1f', 100)}), "
        f"F3 {means(results, measures.utilization_of(2), '.1f', 100)} % "
        f"({printed(lambda row: row.flows[2], '.1f', 100)}). "
        f"The index is {means(results, measures.fairness)}.",
    )


def judge_background(results: PartResults) -> Judgement:
    """F4 falls from c to c."""
    use = measures.background_utilization
    ends = results.study("c").points
    change = difference(ends[-1], ends[0], use)
    span_of_c = f"c = {ends[-1].settings[C]} less c = {ends[0].settings[C]}"
    return Judgement(
        (
            falls(results, "use of the background", use, 5, 10),
            falls(results, "use of the background", use, 10, 20),
            below(f"use of the background: {span_of_c}", change, 0.0, "smaller", percent=True),
        ),
        f"The background uses {means(results, use, '.1f', 100)} % (the paper: "
        f"{printed(lambda row: row.background, '.1f', 100)} %), "
        f"of which the short flows and web sessions offer 2 % whatever c is.",
    )


def judge_loss(results: PartResults) -> Judgement:
    """The background's loss rate below 1e-3 at each c."""
    checks = tuple(
        below(
            f"loss rate of the background, c = {c}",
            at(results, c).interval(measures.background_loss),
            LOW_P,
            f"{TABLE[c].loss[0]:.0e} to {TABLE[c].loss[1]:.0e}, below 1e-3",
        )
        for c in TABLE_C
    )
    ranges = ["{:.1e} to {:.1e}".format(*measures.loss_range(at(results, c))) for c in TABLE_C]
    return Judgement(
        checks,
        f"The means of the long-lived background flows span {ranges[0]} at c = 5, {ranges[1]} at "
        f"c = 10 and {ranges[2]} at c = 20.",
    )


def judge_friendly(results: PartResults) -> Judgement:
    """Judges whether the background gets as much beside FHSTCP as beside standard TCP."""
    use = measures.background_utilization
    checks = []
    for c in TABLE_C:
        change = difference(at(results, c), standard(results), use)
        what = f"use of the background beside FHSTCP, c = {c}, less that beside standard TCP"
        checks.append(above(what, change, 0.0, "not less", percent=True))
    part = at(results, 10).mean(use) / standard(results).mean(use)
    loss = standard(results).interval(measures.background_loss)
    return Judgement(
        tuple(checks),
        "Beside three flows of standard TCP the background uses "
        f"{shown(standard(results).interval(use), percent=True)} and loses {shown(loss)}; beside "
        f"FHSTCP with c = 10 it keeps {100 * part:.0f} % of that. A loss rate below 1e-3 limits "
        "the harm but does not exclude it: the rate of a standard flow is inversely proportional "
        "to its square root.",
    )


def draw(results: PartResults) -> "Figure":
    """Utilizations, fairness index, background's use and loss over c, and Table 1's cells."""
    figure, panels = drawing.figure_of(
        "Su et al. 2005, Table 1: effect of the fair factor c. "
        "Lines with 95 % bands: tailroom; large hollow markers: the paper",
        2,
        2,
    )
    points = results.study("c").points
    over = [float(point.settings[C]) for point in points]
    looks = list(islice(style.marked_line_styles(), 4))
    for place, look in enumerate(looks[:3]):
        label, metric = f"F{place + 1}, {RTTS_MS[place]} ms", measures.utilization_of(place)
        draw_means(panels[0], over, points, metric, look, label=label, scale=100)
        _paper(panels[0], [row.flows[place] for row in TABLE.values()], look, 100)
    panels[0].set_ylabel("utilization (%)")
    use = measures.background_utilization
    draw_means(panels[1], over, points, use, looks[3], label="F4, background", scale=100)
    _paper(panels[1], [row.background for row in TABLE.values()], looks[3], 100)
    _beside_standard(panels[1], standard(results), use, 100)
    panels[1].set_ylabel("utilization of the background (%)")
    single = {**looks[0], "marker": "v"}
    draw_means(panels[2], over, points, measures.fairness, single, label=SINGLE)
    unpaced = results.study("no blocks").points
    draw_means(
        panels[2],
        [float(point.settings[C]) for point in unpaced],
        unpaced,
        measures.fairness,
        {**looks[1], "marker": "x"},
        label="without blocks (index)",
    )
    _paper(panels[2], [row.fairness for row in TABLE.values()], single)
    _beside_standard(panels[2], standard(results), measures.fairness)
    panels[2].set_ylabel("fairness index of F1 to F3")
    panels[2].set_ylim(top=1.02)
    _draw_loss(panels[3], over, points, single)
    for axes in panels:
        axes.set_xscale("log")
        ticks = (2, 5, 10, 20, 40)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("c (1/s)")
    for axes in panels[:2]:
        axes.set_ylim(bottom=0)
    drawing.legend_below(figure, panels, 3)
    return figure


def _paper(axes: "Axes", values: Sequence[float], look: dict[str, Any], scale: float = 1) -> None:
    marker = {"marker": look["marker"], "color": look["color"], **drawing.PAPER}
    label = "Su et al., Table 1 (hollow, same shape)"
    axes.plot(list(TABLE), [scale * value for value in values], label=label, **marker)


def _beside_standard(axes: "Axes", point: PointResults, metric: Metric, scale: float = 1.0) -> None:
    axes.axhline(
        scale * point.mean(metric), label="standard TCP in place of FHSTCP", **style.LIMIT_LINE
    )


def _draw_loss(
    axes: "Axes", over: Sequence[float], points: Sequence[PointResults], look: dict[str, Any]
) -> None:
    draw_means(axes, over, points, measures.background_loss, look, label=SINGLE)
    for c, row in TABLE.items():
        axes.vlines(c, *row.loss, color="0.6", linewidth=7, alpha=0.7, label="Su et al., range")
    axes.axhline(LOW_P, color="black", linestyle=":", linewidth=1.2, label="bound 1e-3")
    axes.set_yscale("log")
    axes.set_ylabel("loss rate of the background")


_PLACE = "Sec. 3, Table 1"

PART = Part(
    name="table-1",
    title="The effect of c and TCP friendliness",
    studies=studies,
    draw=draw,
    claims=(
        Claim("numbers", "Table 1's utilizations and fairness indices", _PLACE, judge_numbers),
        Claim("c-10-optimal", "c = 10 is optimal", _PLACE, judge_optimum),
        Claim(
            "c-5",
            "With c = 5 the per-flow and the total utilization of FHSTCP decrease together",
            _PLACE,
            judge_small,
        ),
        Claim(
            "c-20",
            "With c = 20 the flow with the short RTT grasps more, and fairness is decreased",
            _PLACE,
            judge_large,
        ),
        Claim("background", "Background flows get less with larger c", _PLACE, judge_background),
        Claim(
            "loss",
            "The loss rate of background flows is below 1e-3 in three cases, so FHSTCP is friendly",
            _PLACE,
            judge_loss,
        ),
        Claim(
            "friendly",
            "The bandwidth requirement of standard TCP is met",
            "Sec. 3, condition (1)",
            judge_friendly,
        ),
    ),
    note=(
        "The text that we have gives neither rate nor delay of the bottleneck, nor the amount of "
        "short and web traffic; the part `capacity` describes how 300 Mbit/s and 20 ms were "
        "determined. F4 is all background traffic: four long-lived flows with round trip times "
        "from 90 to 150 ms, and one per cent of the link each for short-lived flows and web "
        "sessions. Differences between two values of c are taken run by run, since a seed gives "
        "both the same starts. Averages are over 50 to 200 s. The bounds of agreement (5 points "
        "of utilization, 0.05 of the index) are ours. The paper calls FHSTCP friendly for a loss "
        "rate below 1e-3; its condition (1), that standard TCP gets what it requires, is also "
        "tested literally: the background beside FHSTCP compared with the background beside "
        "standard TCP."
    ),
)
