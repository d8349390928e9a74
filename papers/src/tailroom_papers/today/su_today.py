"""Conclusions of Su et al. on RTT unfairness, for today's controls."""

from tailroom_papers.framework import *
from tailroom_papers.today import rtt_unfairness
from tailroom_papers.today.bounds import BOUNDS
from tailroom_papers.today.drawing import LABELS
from tailroom_papers.today.rtt_unfairness import LARGE, RTT_RATIO, SMALL, ratio, unfairness


def judge_highspeed(results: PartResults) -> Judgement:
    """Whether HighSpeed TCP is as unfair as the paper begins with."""
    study = results.study("two-rtts")
    checks = []
    for limit in (SMALL, LARGE):
        measured = rtt_unfairness.at(study, "highspeed", limit).interval(unfairness)
        what = f"HighSpeed, goodput ratio at {limit}"
        checks.append(above(what, measured, BOUNDS["severe"]))
    per_flow = rtt_unfairness.LINK.bdp_packets / (2 * rtt_unfairness.FLOWS)
    return Judgement(
        tuple(checks),
        f"The RTTs' ratio is {RTT_RATIO:g}. The path holds {per_flow:.0f} packets per flow on "
        "average, close to the 38 packets below which HighSpeed TCP is Reno; the paper's windows "
        "are longer.",
    )


def judge_today(results: PartResults) -> Judgement:
    """Whether today's controls keep the purpose of FHSTCP."""
    study = results.study("two-rtts")
    checks = []
    for control in ("cubic", "bbr1", "bbr3"):
        for limit in (SMALL, LARGE):
            measured = rtt_unfairness.at(study, control, limit).interval(unfairness)
            what = f"{LABELS[control]}, goodput ratio at {limit}"
            checks.append(below(what, measured, BOUNDS["inverse-rtt"]))
    favours = "; ".join(
        f"{LABELS[control]} {rtt_unfairness.at(study, control, LARGE).mean(ratio):.2g}"
        for control in ("cubic", "bbr1", "bbr3")
    )
    bbr = rtt_unfairness.at(study, "bbr1", LARGE).values(ratio)
    return Judgement(
        tuple(checks),
        f"Short over long RTT at 1 BDP: {favours}. BBRv1 does not converge to one ratio: in "
        f"single runs it is {min(bbr):.2g} to {max(bbr):.2g}; below 1 the flow with the longer "
        "RTT gets more.",
    )


CLAIMS = (
    Claim(
        "highspeed-rtt",
        "HighSpeed TCP has very severe RTT unfairness",
        "Su et al. 2005, Sec. 1",
        judge_highspeed,
    ),
    Claim(
        "no-fix-needed",
        "Throughput is at worst inversely proportional to the RTT, the aim of FHSTCP; CUBIC and "
        "BBR reach it without FHSTCP",
        "Su et al. 2005, Sec. 2; asked of CUBIC and BBR",
        judge_today,
    ),
)
