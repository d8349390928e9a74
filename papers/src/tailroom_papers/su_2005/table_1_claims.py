"""The claims about Table 1: its numbers, the effect of c, and TCP friendliness."""

from collections.abc import Callable, Iterator
from itertools import pairwise

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import measures
from tailroom_papers.su_2005.paper_table import TABLE, Row
from tailroom_papers.su_2005.setting import BOUNDS, CONTROL, TABLE_C, C

IN_TABLE, OTHER_C, UNPACED, STANDARD = "c", "other c", "no blocks", "standard"
"""Names of the studies."""


def at(results: PartResults, c: int) -> PointResults:
    """Returns the runs at a c of the table."""
    return results.study(IN_TABLE).at({C: c})


def over_c(results: PartResults) -> dict[int, PointResults]:
    """Returns the runs with blocks at every c, in ascending order."""
    names = [name for name in (IN_TABLE, OTHER_C) if name in results.studies]
    points = [point for name in names for point in results.study(name).points]
    return {_c(point): point for point in sorted(points, key=_c)}


def _c(point: PointResults) -> int:
    return int(point.settings[C])


def standard(results: PartResults) -> PointResults:
    """Returns the runs with three flows of standard TCP in place of FHSTCP."""
    return results.study(STANDARD).at({CONTROL: "reno"})


def grows(results: PartResults, what: str, metric: Metric, low: int, high: int) -> Check:
    """Checks whether a metric is larger at one c than at a smaller one, run by run."""
    what, percent = f"{what}: c = {high} less c = {low}", metric is not measures.fairness
    return more(what, at(results, high), at(results, low), metric, "larger", percent=percent)


def falls(results: PartResults, what: str, metric: Metric, low: int, high: int) -> Check:
    """Checks whether a metric is smaller at one c than at a smaller one, run by run."""
    what, percent = f"{what}: c = {high} less c = {low}", metric is not measures.fairness
    return less(what, at(results, high), at(results, low), metric, "smaller", percent=percent)


def means(results: PartResults, metric: Metric, form: str = ".2f", scale: float = 1.0) -> str:
    """Returns a metric at Table 1's three c in words."""
    values = [f"{scale * at(results, c).mean(metric):{form}}" for c in TABLE_C]
    return f"{values[0]}, {values[1]} and {values[2]}"


def printed(of: Callable[[Row], float], form: str = ".2f", scale: float = 1.0) -> str:
    """Returns a column of the paper's table in words."""
    values = [f"{scale * of(row):{form}}" for row in TABLE.values()]
    return f"{values[0]}, {values[1]} and {values[2]}"


def judge_numbers(results: PartResults) -> Judgement:
    """Judges each cell: within 5 points of utilization, or 0.05 of the index, of the paper's."""
    checks = []
    step, index_step = BOUNDS["utilization-cell"].value, BOUNDS["index-cell"].value
    for c, row in TABLE.items():
        stated = (*row.flows, row.background)
        metrics = [*map(measures.utilization_of, range(3)), measures.background_utilization]
        for place, (value, metric) in enumerate(zip(stated, metrics, strict=True), 1):
            what, said = f"c = {c}, F{place}", f"{100 * value:.2f} % (within 5 points)"
            ours = at(results, c).interval(metric)
            checks.append(between(what, ours, value - step, value + step, said, percent=True))
        low, high = row.fairness - index_step, row.fairness + index_step
        said = f"{row.fairness:.2f} (within {index_step})"
        index = at(results, c).interval(measures.fairness)
        checks.append(between(f"c = {c}, fairness index", index, low, high, said))
    return Judgement(
        tuple(checks),
        lambda: (
            "The three flows together use "
            f"{means(results, measures.total_utilization, '.1f', 100)} % of the link (the paper: "
            f"{printed(lambda row: sum(row.flows), '.1f', 100)} %)."
        ),
    )


def _half(point: PointResults, parity: int) -> PointResults:
    """The runs with odd or even seeds."""
    return PointResults(point.settings, tuple(run for run in point.runs if run.seed % 2 == parity))


def best_c(results: PartResults) -> int:
    """Returns the c with the largest mean fairness index over the runs with even seeds."""
    points = over_c(results)
    return max(points, key=lambda c: _half(points[c], 0).mean(measures.fairness))


def best_of_half(results: PartResults) -> Iterator[Check]:
    """Yields a check of the best c of one half of the seeds on the other half."""
    points, best = over_c(results), best_c(results)
    if best == 10:
        change: object = 0.0
    else:
        change = paired_difference(_half(points[best], 1), _half(points[10], 1), measures.fairness)
    bound = BOUNDS["optimal"]
    what = "fairness index on odd seeds: the best c of even seeds less c = 10"
    words = f"no better by {bound.value} or more"
    yield below(what, change, bound, words)  # type: ignore[arg-type]


def judge_optimum(results: PartResults) -> Judgement:
    """Judges c = 10 by fairness, by use of the link, and by what the background keeps."""
    fairness = measures.fairness
    checks = [
        grows(results, "fairness index", fairness, 5, 10),
        falls(results, "fairness index", fairness, 10, 20),
        grows(results, "utilization of the three flows", measures.total_utilization, 5, 10),
        falls(results, "utilization of the background", measures.background_utilization, 10, 20),
    ]
    if OTHER_C in results.studies:
        checks += best_of_half(results)
    return Judgement(tuple(checks), lambda: _why_optimum(results))


def _why_optimum(results: PartResults) -> str:
    fairness = measures.fairness
    of_seed = list(zip(*(at(results, c).values(fairness) for c in TABLE_C), strict=True))
    as_printed = sum(ten > max(five, twenty) for five, ten, twenty in of_seed)
    best = best_c(results)
    return (
        f"The fairness index is {means(results, fairness)} at c = 5, 10 and 20 (the paper: "
        f"{printed(lambda row: row.fairness)}). It is largest at c = 10, as in the paper's table, "
        f"in {as_printed} of {len(of_seed)} runs. Of all c, c = {best} has the largest index over "
        f"the runs with even seeds; over the runs with odd seeds the index at c = {best} is "
        f"{shown(_half(over_c(results)[best], 1).interval(fairness))}. From one c to the next the "
        f"index changes by up to {_largest_step(results, over_c(results)):.2f} with blocks and by "
        f"up to {_largest_step(results, _without_blocks(results)):.2f} without blocks: the number "
        "of blocks, int(c RTT) + 1, jumps first for one flow and then for another."
    )


def _without_blocks(results: PartResults) -> dict[int, PointResults]:
    return {int(point.settings[C]): point for point in results.study(UNPACED).points}


def _largest_step(results: PartResults, points: dict[int, PointResults]) -> float:
    """The largest change of the index between neighbours of the c that were run without blocks."""
    index = [points[c].mean(measures.fairness) for c in _without_blocks(results)]
    return max((abs(b - a) for a, b in pairwise(index)), default=0.0)


def judge_small(results: PartResults) -> Judgement:
    """Judges whether each flow, and all three together, use less at c = 5 than at c = 10."""
    flows = [
        grows(results, f"utilization of F{place + 1}", measures.utilization_of(place), 5, 10)
        for place in range(3)
    ]
    total = grows(results, "utilization of the three flows", measures.total_utilization, 5, 10)
    freed = paired_difference(at(results, 5), at(results, 10), measures.background_utilization)
    return Judgement(
        (*flows, total),
        lambda: (
            f"The three flows use {means(results, measures.total_utilization, '.1f', 100)} % of "
            "the link at c = 5, 10 and 20. The utilization of the background at c = 5 exceeds "
            f"that at c = 10 by {shown(freed, percent=True)}."
        ),
    )


def judge_large(results: PartResults) -> Judgement:
    """Judges whether at c = 20 the flow with the short RTT takes more, and fairness is less."""
    first = measures.utilization_of(0)
    return Judgement(
        (
            grows(results, "utilization of F1 (80 ms)", first, 10, 20),
            falls(results, "fairness index", measures.fairness, 10, 20),
        ),
        lambda: (
            f"F1 uses {means(results, first, '.1f', 100)} % at c = 5, 10 and 20 (the paper: "
            f"{printed(lambda row: row.flows[0], '.1f', 100)} %), "
            f"F3 {means(results, measures.utilization_of(2), '.1f', 100)} % "
            f"({printed(lambda row: row.flows[2], '.1f', 100)} %). "
            f"The fairness index is {means(results, measures.fairness)}."
        ),
    )


def judge_background(results: PartResults) -> Judgement:
    """Judges whether the utilization of the background falls from c to c."""
    use = measures.background_utilization
    what = "utilization of the background"
    return Judgement(
        (falls(results, what, use, 5, 10), falls(results, what, use, 10, 20)),
        lambda: (
            f"The background uses {means(results, use, '.1f', 100)} % (the paper: "
            f"{printed(lambda row: row.background, '.1f', 100)} %)."
        ),
    )


def judge_loss(results: PartResults) -> Judgement:
    """Judges the loss rate of the background at each c."""
    checks = []
    for c, row in TABLE.items():
        words = "{:.0e} to {:.0e}, below 1e-3".format(*row.loss)
        what, loss = f"loss rate of the background, c = {c}", measures.background_loss
        checks.append(at(results, c).below(what, loss, BOUNDS["friendly-loss"], words))
    return Judgement(tuple(checks), lambda: _why_loss(results))


def _why_loss(results: PartResults) -> str:
    ranges = ["{:.1e} to {:.1e}".format(*measures.loss_range(at(results, c))) for c in TABLE_C]
    return (
        f"The mean loss rates of the long-lived background flows are {ranges[0]} at c = 5, "
        f"{ranges[1]} at c = 10 and {ranges[2]} at c = 20."
    )


def judge_friendly(results: PartResults) -> Judgement:
    """Judges whether the background gets as much alongside FHSTCP as alongside standard TCP."""
    use = measures.background_utilization
    checks = []
    for c in TABLE_C:
        what = f"utilization of the background next to FHSTCP, c = {c}, less next to standard TCP"
        checks.append(more(what, at(results, c), standard(results), use, "not less", percent=True))
    return Judgement(tuple(checks), lambda: _why_friendly(results))


def _why_friendly(results: PartResults) -> str:
    use = measures.background_utilization
    part = at(results, 10).mean(use) / standard(results).mean(use)
    loss = standard(results).interval(measures.background_loss)
    return (
        "Next to three flows of standard TCP the background uses "
        f"{shown(standard(results).interval(use), percent=True)} of the link and loses "
        f"{shown(loss)} of its packets; next to FHSTCP with c = 10 it uses {100 * part:.0f} % of "
        "that. A loss rate below 1e-3 limits the harm to standard TCP but does not exclude it, "
        "because the rate of a standard TCP flow is inversely proportional to the square root of "
        "its loss rate."
    )


_PLACE = "Sec. 3, Table 1"

CLAIMS = (
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
)
ABOUT_C = ("c-10-optimal", "c-5", "c-20", "background", "loss")
"""The claims that need no flows of standard TCP in place of FHSTCP."""
