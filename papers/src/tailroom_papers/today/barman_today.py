"""Conclusions of Barman, Smaragdakis and Matta on HighSpeed TCP, for today's controls."""

from tailroom.reproduction import claim
from tailroom.reproduction.claim import Check, Claim, Judgement
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.part_results import PartResults, PointResults
from tailroom_papers.today import rtt_unfairness
from tailroom_papers.today.buffer_curves import CONTROL, HUNDRED, TEN
from tailroom_papers.today.drawing import LABELS
from tailroom_papers.today.network import LIMIT, Bottleneck

ASKED = ("highspeed", "cubic", "bbr1", "bbr3")
DRASTIC = 0.10
"""Of the link, lost between a buffer of 10 % and one of 2 %: as much as below 90 % itself."""


def _at(results: PartResults, link: Bottleneck, control: str, limit: str) -> PointResults:
    return results.study(f"{link.gbps}g").at({CONTROL: control, LIMIT: limit})


def _judge_buffer(results: PartResults, limit: str, bound: float) -> Judgement:
    checks = []
    for link in (TEN, HUNDRED):
        for control in ASKED:
            measured = _at(results, link, control, limit).interval("utilization")
            what = f"{LABELS[control]}, {link.gbps} Gbit/s, utilization"
            checks.append(claim.above(what, measured, bound, percent=True))
    return Judgement(tuple(checks), _prices(results, limit))


def _prices(results: PartResults, limit: str) -> str:
    losses = (
        f"{LABELS[control]} {100 * _at(results, TEN, control, limit).mean('loss_fraction'):.2g} %"
        for control in ASKED
    )
    return f"The price is in the losses at 10 Gbit/s: {', '.join(losses)}."


def judge_ten_percent(results: PartResults) -> Judgement:
    """Utilization at a buffer of 10 %."""
    return _judge_buffer(results, "0.1 bdp", 0.90)


def judge_twenty_percent(results: PartResults) -> Judgement:
    """Utilization at a buffer of 20 %."""
    return _judge_buffer(results, "0.2 bdp", 0.975)


def judge_fall(results: PartResults) -> Judgement:
    """Judges the loss of utilization between buffers of 10 % and 2 %."""
    checks = []
    for link in (TEN, HUNDRED):
        for control in ASKED:
            large = _at(results, link, control, "0.1 bdp")
            small = _at(results, link, control, "0.02 bdp")
            lost = difference(large, small, "utilization")
            what = f"{LABELS[control]}, {link.gbps} Gbit/s, lost from 10 % to 2 %"
            stated = f"more than {DRASTIC:.0%} of the link"
            checks.append(claim.above(what, lost, DRASTIC, stated, percent=True))
    packets = ", ".join(
        f"{0.02 * link.bdp_packets:.0f} packets at {link.gbps} Gbit/s" for link in (TEN, HUNDRED)
    )
    return Judgement(
        tuple(checks),
        f"2 % are {packets}. The utilization of loss-based controls falls; BBR paces at its "
        "measured rate and needs less buffer, at the cost of losses.",
    )


def judge_rtt_unfairness(results: PartResults) -> Judgement:
    """RTT unfairness at buffers of 10 % and of one BDP."""
    study = results.study("two-rtts")
    checks: list[Check] = []
    told = []
    for control in ASKED:
        small, large = (
            rtt_unfairness.at(study, control, limit)
            for limit in (rtt_unfairness.SMALL, rtt_unfairness.LARGE)
        )
        less = difference(small, large, rtt_unfairness.unfairness)
        what = f"{LABELS[control]}, unfairness at 0.1 BDP less that at 1 BDP"
        checks.append(claim.above(what, less, 0.0, "above 0"))
        told.append(
            f"{LABELS[control]} {small.mean(rtt_unfairness.unfairness):.3g} and "
            f"{large.mean(rtt_unfairness.unfairness):.3g}"
        )
    return Judgement(
        tuple(checks),
        f"The goodputs of flows whose RTTs differ by a factor of {rtt_unfairness.RTT_RATIO:g} "
        f"differ, at 0.1 and 1 BDP, by a factor of: {'; '.join(told)}. A queue adds the same "
        "delay to both RTTs and so makes them more similar.",
    )


CLAIMS = (
    Claim(
        "ten-percent",
        "A buffer of 10 % of the bandwidth-delay product can maintain at least 90 % utilization",
        "Barman et al. 2004, Sec. III and V; now: CUBIC and BBR",
        judge_ten_percent,
    ),
    Claim(
        "twenty-percent",
        "Utilization is almost 98 % when the buffer is around 20 %",
        "Barman et al. 2004, Sec. V; now: CUBIC and BBR; 97.5 % rounds to it",
        judge_twenty_percent,
    ),
    Claim(
        "fall",
        "A buffer below 10 % leads to a drastic drop in the utilization",
        "Barman et al. 2004, Sec. V; now: CUBIC and BBR",
        judge_fall,
    ),
    Claim(
        "rtt-unfairness-buffer",
        "A larger buffer lowers the unfairness between flows of different RTTs",
        "Barman et al. 2004, Sec. III, Figures 5 and 6; now: CUBIC and BBR",
        judge_rtt_unfairness,
    ),
)
