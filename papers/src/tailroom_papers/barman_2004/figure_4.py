"""Figure 4: utilization over the buffer, 2.5 Gbit/s, RTTs from 38 to 142 ms."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from tailroom.reproduction import claim
from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part
from tailroom.reproduction.part_results import PartResults, StudyResults
from tailroom_papers.barman_2004 import curves, drop_tail
from tailroom_papers.barman_2004.settings import FIGURE_4

TENTH = 0.1
MEAN_RTT_BDP = 2.5e9 * 0.090 / 8000
"""The bandwidth-delay product of the mean RTT, in packets."""


def fractions(form: Form) -> Sequence[float]:
    """Of the buffer."""
    return form.of(
        (0.01, TENTH, 1.0),
        (0.01, TENTH, 0.2, 0.5, 1.0),
        (0.01, 0.02, 0.05, TENTH, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1.0),
    )


def paced_fractions(form: Form) -> Sequence[float]:
    """Of the buffer, where senders are also paced."""
    return form.of((0.01,), (0.01,), (0.01, 0.02, 0.05, TENTH, 0.2))


def similar_trends(results: PartResults) -> Judgement:
    """Similar trends as in Figure 3."""
    study = results.study("highspeed")
    tiny, tenth, full = (FIGURE_4.at(study, fraction) for fraction in (0.01, TENTH, 1.0))
    half, most = (curves.reaches(study, FIGURE_4, level) for level in (0.5, 0.9))
    return Judgement(
        (
            claim.is_true("utilization grows with the buffer", "as in Figure 3", _grows(study)),
            claim.below(
                "utilization at 1 %",
                tiny.interval("utilization"),
                0.5,
                "drastic drop (here: below 50 %)",
                percent=True,
            ),
            claim.above("utilization at 10 %", tenth.interval("utilization"), 0.9, percent=True),
            claim.above("utilization at 100 %", full.interval("utilization"), 0.98, percent=True),
        ),
        f"The curve passes 50 % at {curves.buffer(FIGURE_4, half)} and 90 % at "
        f"{curves.buffer(FIGURE_4, most)}. Those 6,250 packets are "
        f"{100 * FIGURE_4.full_packets / MEAN_RTT_BDP:.0f} % of the bandwidth-delay product of the "
        "mean RTT, the 12,500 of Figure 3 are 83 %: the same fraction is a smaller buffer here.",
    )


def _grows(study: StudyResults) -> bool | None:
    """Whether no step to a larger buffer loses half a point; `None` if intervals do not tell."""
    intervals = [point.interval("utilization") for point in study.points]
    steps = [(interval, other) for interval, other in pairwise(intervals) if interval and other]
    if any(other.high < interval.low - 0.005 for interval, other in steps):
        return False
    return True if all(other.mean >= interval.mean - 0.005 for interval, other in steps) else None


CLAIMS = (
    Claim(
        "similar-trends",
        "We observe similar trends in the performance as in Figure 3.",
        "Sec. III-A, Figure 4",
        similar_trends,
    ),
)

PART = Part(
    "4",
    f"Utilization over the buffer, DropTail, {FIGURE_4.link}",
    drop_tail.studies(FIGURE_4, fractions, paced_fractions),
    partial(drop_tail.draw, FIGURE_4),
    CLAIMS,
    "Fractions are of the paper's 6,250 packets. It calls them 35 % of the bandwidth-delay product "
    "of the largest RTT; they are 14.1 % of it.",
)
