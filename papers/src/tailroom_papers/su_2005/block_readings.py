"""All readings of block pacing: Table 1 by each of them."""

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.paper_table import FAIRNESS, FIRST, TOTAL
from tailroom_papers.su_2005.readings import EXCLUDED, PLAUSIBLE, READINGS, Reading
from tailroom_papers.su_2005.setting import BOUNDS, SCENARIO, TABLE_C, C, span

OPTIMAL = 10
LEAST = "least utilization of the three flows"


def studies(form: Form) -> list[Study]:
    """Table 1's three c by each reading."""
    grid, seeds = {C: form.of((OPTIMAL,), TABLE_C, TABLE_C)}, form.of(2, 4, 50)
    return [
        Study(reading.name, SCENARIO, grid, set=span(form) | reading.settings, seeds=seeds)
        for reading in READINGS
    ]


def of(results: PartResults, reading: Reading, c: int) -> PointResults:
    """Returns the runs of a reading at a c."""
    return results.study(reading.name).at({C: c})


def judge_possible(results: PartResults) -> Judgement:
    """Judges whether each plausible reading leaves every flow half of the least in Table 1."""
    checks = [
        of(results, reading, OPTIMAL).above(
            f"{reading.name}: {LEAST}", measures.least_utilization, BOUNDS["half-of-the-least"]
        )
        for reading in PLAUSIBLE
    ]
    return Judgement(tuple(checks), lambda: _why_possible(results))


def _why_possible(results: PartResults) -> str:
    return (
        "The claims about Table 1 and Figure 3 are judged again with these readings. Fairness "
        f"index at {_cs(results)}: {'; '.join(_order(results, reading) for reading in PLAUSIBLE)}."
    )


def _cs(results: PartResults) -> str:
    values = [point.settings[C] for point in results.study(READINGS[0].name).points]
    return "c = " + ", ".join(map(str, values))


def _order(results: PartResults, reading: Reading) -> str:
    """The index at each c, and in how many runs it is largest at c = 10."""
    points = results.study(reading.name).points
    index = ", ".join(f"{point.mean(measures.fairness):.3f}" for point in points)
    of_seed = list(zip(*(point.values(measures.fairness) for point in points), strict=True))
    at_10 = [point.settings[C] for point in points].index(OPTIMAL)
    largest = sum(values[at_10] == max(values) for values in of_seed)
    return f"{reading.name} {index} (largest at c = {OPTIMAL} in {largest} of {len(of_seed)} runs)"


def judge_excluded(results: PartResults) -> Judgement:
    """Judges whether each other reading leaves a flow less than half of the least in Table 1."""
    checks = [
        of(results, reading, OPTIMAL).below(
            f"{reading.name}: {LEAST}", measures.least_utilization, BOUNDS["half-of-the-least"]
        )
        for reading in EXCLUDED
    ]
    return Judgement(tuple(checks), lambda: _why_excluded(results))


def _why_excluded(results: PartResults) -> str:
    said = []
    for reading in EXCLUDED:
        point = of(results, reading, OPTIMAL)
        used = [100 * point.mean(measures.utilization_of(place)) for place in range(3)]
        said.append(f"{reading.name}: {used[0]:.1f}, {used[1]:.1f} and {used[2]:.1f} %")
    return (
        f"Utilization of F1, F2 and F3 at c = {OPTIMAL}: {'; '.join(said)}. If only one packet is "
        "held, later packets overtake it; after three of them the sender takes the held packet "
        "for lost and reduces its window, so that a window of more than a few packets per block "
        "cannot be kept. With blocks in slow start, a flow sends two packets per round-trip time "
        "until one of them happens to be lost, which may take longer than the simulation."
    )


def draw(results: PartResults) -> Figure:
    """Draws the fairness index and utilizations by each reading, at each c."""
    figure, panels = figure_of("Table 1 by each reading of block pacing", 1, 3, (13, 5.4))
    cs = [int(point.settings[C]) for point in results.study(READINGS[0].name).points]
    named = {reading.name: {c: of(results, reading, c) for c in cs} for reading in READINGS}
    for axes, column in zip(panels, (FAIRNESS, FIRST, TOTAL), strict=True):
        drawing.rows(axes, named, column)
        axes.axhline(len(PLAUSIBLE) - 0.5, color="0.4", linewidth=0.8)
        axes.set_xlim(*((0.3, 1.02) if column is FAIRNESS else (0, 100)))
    drawing.name_rows(panels, list(named))
    return legend_below(figure, 6)


PART = Part(
    name="block-readings",
    title="The readings of the pseudo-code in Figure 1",
    studies=studies,
    draw=draw,
    conditions=(
        Claim(
            "possible",
            "the readings with which claims are judged again can be those of the paper",
            "Sec. 3, Table 1",
            judge_possible,
        ),
        Claim(
            "excluded",
            "Table 1 excludes the readings that are set aside",
            "Sec. 3, Table 1",
            judge_excluded,
        ),
    ),
    caption=(
        "Table 1 by each reading of block pacing: Jain's fairness index, link utilization of F1, "
        "and link utilization of the three flows together. Marks are means over runs with 95 % "
        "confidence intervals; the dotted lines are the paper's numbers at the same c. The "
        "readings below the grey line cannot be those of the paper."
    ),
    note=(
        "The pseudo-code leaves four things open. (1) The number of blocks: `k=(int)c*RTT+1` is "
        "int(c RTT) + 1 if k is an integer; in C the cast applies to c alone, so that a "
        "floating-point k is c RTT + 1. (2) The length of a block: cwnd / k packets, or floor(cwnd "
        "/ k) + 2, because `number > block` lets one more packet pass and the delayed packet is "
        "not counted. (3) What is held: `output(delay)` can mean that the sender pauses until the "
        "next block begins (in ns-2, its timer `delsnd_timer_` is pending), or that the scheduler "
        "of ns-2 delays this one packet while the sender goes on and sends the following packets "
        "directly, which then overtake it. (4) Slow start: `block` and `k` are set only in "
        "congestion avoidance, so that their initial values, 0 and 1, allow two packets per "
        "round-trip time in the first slow start; or block pacing is switched off in slow "
        "start.\n\n"
        "The other parts use whole numbers of blocks of cwnd / k packets, hold a block as a "
        "whole, and have no blocks in slow start. In all readings a block follows at once if "
        "sending the previous one took longer than RTT / k, where the printed delay is negative. "
        "The claims about c are judged again for each reading; the section on sensitivity has the "
        "verdicts."
    ),
)
