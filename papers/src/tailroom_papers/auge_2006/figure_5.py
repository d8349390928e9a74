"""Figure 5: one, two and four NewReno flows behind a buffer of 20 packets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tailroom.reproduction.claim import Claim, Judgement, above, below
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom_papers.auge_2006 import columns, setup
from tailroom_papers.auge_2006.comparison import more, percent, sentence
from tailroom_papers.auge_2006.reductions import by_chance, excess, shared
from tailroom_papers.auge_2006.residual import residual_share
from tailroom_papers.auge_2006.setup import fifo, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.reproduction.part_results import PartResults, PointResults

NUMBERS = (1, 2, 4)
BUFFER = 20
EXCESS = 1 / 3
"""Largest synchronization, beyond chance, that counts as little."""


def studies(form: Form) -> Sequence[Study]:
    """A study for each number of flows."""
    return [setup.study(_name(n), {"reno": n}, [fifo(BUFFER)], form) for n in NUMBERS]


def draw(results: "PartResults") -> "Figure":
    """As the paper has it."""
    return columns.draw(
        "Figure 5: NewReno flows beside a background of 25 of 50 Mbit/s, 20 packets, FIFO",
        [
            columns.Column(_name(n), _at(results, n), "S6 20 newreno" if n == 1 else "")
            for n in NUMBERS
        ],
    )


def _name(flows: int) -> str:
    return f"{flows} flow{'s' if flows > 1 else ''}"


def _at(results: "PartResults", flows: int) -> "PointResults":
    return results.study(_name(flows)).at(settings(fifo(BUFFER)))


def _improves(results: "PartResults") -> Judgement:
    one, two, four = (_at(results, n) for n in NUMBERS)
    checks = [
        more(
            f"utilization with {number} flows",
            point.interval("utilization"),
            before.interval("utilization"),
            f"above that with {fewer}",
            percent=True,
        )
        for number, fewer, point, before in ((2, 1, two, one), (4, 2, four, two))
    ]
    shares = ", ".join(f"{percent(point.mean(residual_share))}" for point in (one, two, four))
    why = (
        f"1, 2 and 4 flows take {shares} of the residual: each flow needs less of it and may stay "
        "at windows that lose less often, and the other flows continue to send while one "
        "recovers."
    )
    return Judgement(tuple(checks), why)


def _little_synchronized(results: "PartResults") -> Judgement:
    checks = [
        below(
            f"synchronization of {n} flows, 0 if by chance only, 1 if all losses are shared",
            _at(results, n).interval(excess),
            EXCESS,
            "little (taken as less than a third)",
        )
        for n in NUMBERS[1:]
    ]
    parts = [
        f"of {n} flows' reductions {percent(_at(results, n).mean(shared))} come within a round "
        f"trip of another's, where chance alone gives {percent(_at(results, n).mean(by_chance))}"
        for n in NUMBERS[1:]
    ]
    return Judgement(tuple(checks), sentence(parts))


def _is_fair(results: "PartResults") -> Judgement:
    checks = [
        above(
            f"Jain's index of {n} flows",
            _at(results, n).interval("flows.jain_index"),
            0.95,
            "approximately fair (taken as above 0.95)",
        )
        for n in NUMBERS[1:]
    ]
    why = (
        "The flows have equal round trips and one control, and any flow whose packet arrives at "
        "a full buffer loses it."
    )
    return Judgement(tuple(checks), why)


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
    note=(
        "A reduction is synchronized if another flow reduces its window within a round trip (one "
        "interval of 100 ms before or after). Chance is the fraction of the time that is equally "
        "close to a reduction of another flow; synchronization is (shared - chance) / (1 - "
        "chance)."
    ),
)
