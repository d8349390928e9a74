"""Which slip in the evaluation of Eq. 5 gives the curve that the paper describes."""

from collections.abc import Sequence
from functools import cache, partial
from math import exp, log

from tailroom.models.numerics.root import root_between
from tailroom_papers.barman_2004 import curves, figure_3
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.drop_tail import STATED
from tailroom_papers.barman_2004.equation_5_slips import (
    SLIPS,
    Evaluation,
    Slip,
    buffer_divisor,
    distance,
    ranked,
    utilization,
)
from tailroom_papers.barman_2004.figure_3_model import MODELLED_FROM
from tailroom_papers.barman_2004.settings import FIGURE_3
from tailroom_papers.framework import *

EIGHTH, PER_FLOW = SLIPS[:2]
(TENTH, _), (FIFTH, ALMOST) = STATED


def studies(form: Form) -> Sequence[Study]:
    """Figure 3's own runs, which are done once."""
    return [FIGURE_3.study("highspeed", figure_3.fractions(form), form)]


@cache
def _single() -> list[tuple[float, tuple[Slip, ...]]]:
    return ranked(STATED)


@cache
def _pairs() -> list[tuple[float, tuple[Slip, ...]]]:
    return ranked(STATED, together=2)


def _sides(given: Evaluation) -> tuple[Check, ...]:
    """The two points of the abstract: more than 90 % at 10 %, almost 98 % only at 20 %."""
    almost = BOUNDS["almost-98"]
    tenth, fifth = (utilization(given, fraction) for fraction in (TENTH, FIFTH))
    low, high, words = almost.value, ALMOST / 100, "almost 98 %"
    return (
        above("utilization at 10 %", tenth, BOUNDS["ninety"]),
        between("utilization at 20 %", fifth, low, high, words, percent=True),
    )


def as_printed(_: PartResults) -> Judgement:
    """Eq. 5 without a slip."""
    given = Evaluation()
    return Judgement(
        _sides(given),
        f"Solved exactly, Eq. 5 gives {_percents(given)} with 10 and 20 % of the buffer, and 98 % "
        f"with {100 * _reaching(ALMOST / 100):.1f} % of it.",
    )


def _reaching(wanted: float) -> float:
    """Fraction of the buffer with which Eq. 5 reaches a utilization."""
    found = root_between(lambda x: utilization(Evaluation(), exp(x)) - wanted, log(1e-3), 0.0)
    return exp(found)


def with_a_slip(results: PartResults) -> Judgement:
    """Eq. 5 with K in the wrong unit."""
    return Judgement(_sides(EIGHTH.of(Evaluation())), partial(_which, results))


def _from_simulation(results: PartResults, given: Evaluation) -> float:
    """Largest distance in points from the simulated means, from a buffer of 5 % on."""
    return max(
        100 * abs(utilization(given, FIGURE_3.fraction(point)) - point.mean("utilization"))
        for point in results.study("highspeed").points
        if FIGURE_3.fraction(point) >= MODELLED_FROM - 1e-9
    )


def _which(results: PartResults) -> str:
    singles = _single()
    others = [one for one in singles if one[1][0].field != "buffer"]
    pairs = _pairs()
    with_buffer = sum(any(slip.field == "buffer" for slip in one[1]) for one in pairs[:10])
    divisors = sorted(buffer_divisor(at, percent / 100) for at, percent in STATED)
    return (
        f"Eq. 5 itself is {100 * distance(Evaluation(), STATED):.1f} points away from 90 % and "
        f"98 %. Of {len(SLIPS)} single slips the nearest are {_named(singles[0])} and "
        f"{_named(singles[1])}; the nearest that leaves K as it is, is {_named(others[0])}. K / 8, "
        f"a buffer in bytes taken for bits, gives {_percents(EIGHTH.of(Evaluation()))}; K / 10, "
        f"the buffer of one flow, {_percents(PER_FLOW.of(Evaluation()))}. The two stated points "
        f"themselves need a K that is {divisors[0]:.1f} and {divisors[1]:.1f} times smaller. Of "
        f"the ten nearest of {len(pairs)} pairs {with_buffer} have a smaller K. From a buffer of "
        f"5 % on, K / 8 is at most {_from_simulation(results, EIGHTH.of(Evaluation())):.1f} points "
        f"away from the simulation and Eq. 5 itself {_from_simulation(results, Evaluation()):.1f}, "
        "so that the slip would also explain that the paper calls its two curves quite close. The "
        "paper's curve is not in its text, so that this is a conjecture."
    )


def _named(one: tuple[float, tuple[Slip, ...]]) -> str:
    return f"“{one[1][0].words}” ({100 * one[0]:.1f} points away)"


def _percents(given: Evaluation) -> str:
    return " and ".join(f"{100 * utilization(given, at):.1f} %" for at in (TENTH, FIFTH))


def draw(results: PartResults) -> Figure:
    """Curves of the nearest slips, and the distances of all."""
    title = "Eq. 5 as printed and with slips in its evaluation"
    figure, (left, right) = figure_of(title, 1, 2, (10.4, 6.2), width_ratios=(1.15, 1))
    _draw_curves(left, results)
    _draw_distances(right)
    return legend_below(figure, 4, [left])


def _draw_curves(panel: Axes, results: PartResults) -> None:
    study = results.study("highspeed")
    over = curves.spread(min(FIGURE_3.fraction(point) for point in study.points), 1.0, 30)
    drawn = {
        "Eq. 5 as printed": Evaluation(),
        EIGHTH.words: EIGHTH.of(Evaluation()),
        PER_FLOW.words: PER_FLOW.of(Evaluation()),
    }
    for label, given, look in styled(drawn, curves.model_looks()):
        panel.plot(over, [100 * utilization(given, one) for one in over], label=label, **look)
    curves.simulated(panel, results, {"highspeed": "simulated"}, FIGURE_3, "utilization", 100)
    curves.paper_points(panel, STATED)
    label = "(a)  fraction of 12,500 packets"
    frame(panel, x=label, y="utilization (%)", xscale="log", ylim=(0, 103))
    curves.cut_bands(panel)


def _draw_distances(panel: Axes) -> None:
    ordered = _single()[::-1]
    rows = range(len(ordered))
    panel.plot([100 * far for far, _ in ordered], rows, linestyle="none", marker="o", color="black")
    own = 100 * distance(Evaluation(), STATED)
    panel.axvline(own, **style.LIMIT_LINE)
    panel.text(own - 0.15, len(ordered) - 1.2, "Eq. 5 as printed", ha="right", fontsize="small")
    panel.set_yticks(rows, [slips[0].words for _, slips in ordered], fontsize="small")
    frame(panel, x="(b)  largest distance from the stated points (points)", xlim=(0, 12))


OURS = "our question on Eq. 5 and the abstract"
PART = Part(
    "equation-5",
    "Which slip in Eq. 5 gives the paper's numbers",
    studies,
    draw,
    (
        Claim(
            "equation-5",
            "Analytically, a buffer of 10 % achieves more than 90 % of the capacity, and one of "
            "20 % up to 98 %.",
            "abstract, Eq. 5",
            as_printed,
        ),
        Claim(
            "equation-5-slip",
            "Eq. 5 gives these numbers if its buffer is counted in the wrong unit.",
            OURS,
            with_a_slip,
        ),
    ),
    "The paper's curve is not in its text. The search takes the two points that the abstract and "
    "Sec. V state, and changes one quantity of the evaluation at a time: units, logarithms, round "
    "trips, the forms of Eq. 3. RTTs are equal to their mean.",
    caption="(a) Utilization by Eq. 5 on Figure 3's link, as printed and with the two nearest "
    "slips, compared with the simulation (means with 95 % confidence bands) and the points that "
    "the paper states. (b) Largest distance of each single slip from the two stated points.",
)
