"""Figure 4: utilization over the buffer, 2.5 Gbit/s, RTTs from 38 to 142 ms."""

from collections.abc import Sequence
from functools import partial
from math import sqrt

from tailroom_papers.barman_2004 import curves, drop_tail
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.settings import FIGURE_3, FIGURE_4, Setting
from tailroom_papers.framework import *

TENTH, FIFTH = 0.1, 0.2
TENTH_OF_BDP, FIFTH_OF_BDP = (FIGURE_4.of_bdp(share) for share in (TENTH, FIFTH))
FLOWS = 10
SQUARE_ROOT = 1 / sqrt(FLOWS)
"""Appenzeller, Keslassy and McKeown 2004: BDP / sqrt(N) in place of the BDP."""
RULES = {"rule-3": FIGURE_3, "rule-4": FIGURE_4}
"""Studies with buffers of BDP / sqrt(N) and of the BDP."""


def fractions(form: Form) -> Sequence[float]:
    """Of the buffer."""
    judged = (TENTH, FIFTH, TENTH_OF_BDP, FIFTH_OF_BDP)
    return form.of(
        (0.01, *judged, 1.0),
        (0.01, *judged, 1.0),
        (
            *(0.01, 0.02, 0.05, TENTH, 0.15, FIFTH, 0.25, 0.3, 0.35, TENTH_OF_BDP, 0.6, 0.75),
            *(FIFTH_OF_BDP, 1.0),
        ),
    )


def paced_fractions(form: Form) -> Sequence[float]:
    """Of the buffer, where senders are also paced."""
    return form.of((0.01,), (0.01,), (0.01, 0.02, 0.05, TENTH, FIFTH))


def studies(form: Form) -> Sequence[Study]:
    """Those of the figure, and those of the rule of thumb in both settings."""
    return [
        *drop_tail.studies(FIGURE_4, fractions, paced_fractions)(form),
        *(
            setting.study(name, [setting.of_bdp(share) for share in (SQUARE_ROOT, 1.0)], form)
            for name, setting in RULES.items()
        ),
    ]


def similar_trends(results: PartResults) -> Judgement:
    """Similar trends as in Figure 3, in both readings of the buffer."""
    study = results.study("highspeed")

    ninety, almost = BOUNDS["ninety"], BOUNDS["almost-98"]
    sides = {
        "10 % of 6,250 packets": (TENTH, ninety),
        "20 % of 6,250 packets": (FIFTH, almost),
        "10 % of the BDP of the mean RTT": (TENTH_OF_BDP, ninety),
        "20 % of the BDP of the mean RTT": (FIFTH_OF_BDP, almost),
    }
    what = "utilization at 1 % of 6,250 packets"
    checks = [FIGURE_4.at(study, 0.01).below(what, "utilization", BOUNDS["drastic"])]
    for buffer, (fraction, bound) in sides.items():
        point = FIGURE_4.at(study, fraction)
        checks.append(point.above(f"utilization at {buffer}", "utilization", bound))
    return Judgement(
        tuple(checks),
        f"The simulated curve passes 50 % at {curves.reached(study, FIGURE_4, 0.5)} and 90 % at "
        f"{curves.reached(study, FIGURE_4, 0.9)}. The paper's 6,250 packets are "
        f"{100 * FIGURE_4.in_bdp(1):.0f} % of the bandwidth-delay product of the mean RTT, its "
        f"12,500 packets in Figure 3 are {100 * FIGURE_3.in_bdp(1):.0f} %: the same fraction is a "
        "smaller buffer here. In shares of the bandwidth-delay product the two figures compare.",
    )


def rule_of_thumb(results: PartResults) -> Judgement:
    """A buffer of the BDP is not necessary; BDP / sqrt(N) suffices."""
    checks, texts = [], []
    for name, setting in RULES.items():
        study = results.study(name)
        small, full = study.points
        where = f"Figure {setting.figure}'s network"
        apart = paired_difference(small, full, "utilization")
        what = f"buffer of BDP / sqrt(10) minus one of the BDP, {where}"
        checks.append(between(what, apart, BOUNDS["rule-of-thumb"]))
        texts.append(_texts(where, setting, small, full))
    return Judgement(
        tuple(checks),
        "The study is that of Appenzeller, Keslassy and McKeown (2004), whose rule replaces the "
        "bandwidth-delay product (BDP) by the BDP over the square root of the number of flows. "
        + " ".join(texts)
        + " Their argument, however, takes many flows for desynchronised, and here there are ten "
        "that often lose together.",
    )


def _texts(where: str, setting: Setting, small: PointResults, full: PointResults) -> str:
    utilizations = [shown(point.interval("utilization"), percent=True) for point in (small, full)]
    return (
        f"On {where} {setting.bdp_packets / sqrt(FLOWS):,.0f} packets carry {utilizations[0]} and "
        f"{setting.bdp_packets:,.0f} packets {utilizations[1]}."
    )


CLAIMS = (
    Claim(
        "similar-trends",
        "We observe similar trends in the performance as in Figure 3.",
        "Sec. III-A, Figure 4",
        similar_trends,
    ),
    Claim(
        "rule-of-thumb",
        "Our results are consistent with a recent independent study, which shows that the rule of "
        "thumb of setting the buffer size equal to the bandwidth-delay product is not necessary.",
        "Sec. V",
        rule_of_thumb,
    ),
)

PART = Part(
    "4",
    f"Utilization over the buffer, DropTail, {FIGURE_4.link}",
    studies,
    partial(drop_tail.draw, FIGURE_4),
    CLAIMS,
    "The paper calls its 6,250 packets 35 % of the bandwidth-delay product of the largest RTT; "
    "they are 14.1 % of it. RTTs are drawn from the paper's range.",
    caption=drop_tail.CAPTION,
)
