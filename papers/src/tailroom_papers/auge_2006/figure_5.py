"""Figure 5: one, two and four NewReno flows behind a buffer of 20 packets."""

from collections.abc import Sequence
from itertools import pairwise

from tailroom_papers.auge_2006 import columns, other_values, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.comparison import percent, sentence
from tailroom_papers.auge_2006.reductions import by_chance, excess, shared
from tailroom_papers.auge_2006.residual import residual_share
from tailroom_papers.auge_2006.setup import fifo, settings
from tailroom_papers.framework import *

NUMBERS = (1, 2, 4)
BUFFER = 20
STATED = {1: ("S6 20 newreno", 0.7)}
"""The row of ns-2, and the utilization that the paper states, by number of flows."""


def studies(form: Form) -> Sequence[Study]:
    """A study for each number of flows."""
    return [setup.study(_name(n), {"reno": n}, [fifo(BUFFER)], form) for n in NUMBERS]


def draw(results: PartResults) -> Figure:
    """As the paper has it."""
    return columns.draw(
        "Figure 5: NewReno flows next to a background of 25 of 50 Mbit/s, 20 packets, FIFO",
        [columns.Column(_name(n), _at(results, n), *STATED.get(n, ())) for n in NUMBERS],
    )


def _name(flows: int) -> str:
    return f"{flows} flow{'s' if flows > 1 else ''}"


def _at(results: PartResults, flows: int) -> PointResults:
    return results.study(_name(flows)).at(settings(fifo(BUFFER)))


def _improves(results: PartResults) -> Judgement:
    checks = []
    for fewer, n in pairwise(NUMBERS):
        what = f"utilization with {n} flows less that with {fewer}"
        point, other = _at(results, n), _at(results, fewer)
        checks.append(more(what, point, other, "utilization", "improves", percent=True))

    def why() -> str:
        shares = ", ".join(percent(_at(results, n).mean(residual_share)) for n in NUMBERS)
        return (
            f"1, 2 and 4 flows take {shares} of the residual. Each flow needs less of it and may "
            "stay at windows that lose less often, and the other flows continue to send while one "
            "recovers."
        )

    return Judgement(tuple(checks), why)


def _little_synchronized(results: PartResults) -> Judgement:
    words = "0 if by chance only, 1 if all losses are shared"
    checks = tuple(
        _at(results, n).below(
            f"synchronization of {n} flows, {words}", excess, BOUNDS["little-synchronized"]
        )
        for n in NUMBERS[1:]
    )

    def why() -> str:
        return sentence(
            [
                f"of the reductions of {n} flows {percent(_at(results, n).mean(shared))} come "
                "within a round trip of a reduction of another flow, where chance alone gives "
                f"{percent(_at(results, n).mean(by_chance))}"
                for n in NUMBERS[1:]
            ]
        )

    return Judgement(checks, why)


def _is_fair(results: PartResults) -> Judgement:
    checks = tuple(
        _at(results, n).above(f"Jain's index of {n} flows", "flows.jain_index", BOUNDS["fair"])
        for n in NUMBERS[1:]
    )
    why = (
        "The flows have equal round trips and one control, and any flow whose packet arrives at "
        "a full buffer loses it."
    )
    return Judgement(checks, why)


def variations(form: Form) -> Sequence[Variation]:
    """The same flows with other values of what the paper leaves open."""
    return other_values.variations(studies(form), ("more-flows", "fair-sharing"), form)


PART = Part(
    name="5",
    title="Utilization and windows of 1, 2 and 4 NewReno flows with 20 packets, FIFO",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "more-flows",
            "Utilization improves as the number of flows increases.",
            "Sec. IV-B, Figure 5",
            _improves,
        ),
        Claim(
            "little-synchronization",
            "Even with only two flows, there is little synchronized loss.",
            "Sec. IV-B, Figure 5",
            _little_synchronized,
        ),
        Claim(
            "fair-sharing",
            "The evolution of cwnd for each flow shows that bandwidth sharing is approximately "
            "fair.",
            "Sec. IV-B, Figure 5",
            _is_fair,
        ),
    ),
    variations=variations,
    caption=columns.CAPTION.format(
        what="Columns: 1, 2 and 4 flows; the paper states the 40 % of the residual for one flow."
    ),
    note=(
        "A reduction is synchronized if another flow reduces its window within a round trip (one "
        "interval of 100 ms before or after). Chance is the fraction of the time that is equally "
        "close to a reduction of another flow; synchronization is (shared - chance) / (1 - "
        "chance)."
    ),
)
