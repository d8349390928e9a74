"""Conclusions of Auge and Roberts on small buffers and fair queueing, for today's controls."""

from tailroom.reproduction import claim
from tailroom.reproduction.claim import Check, Claim, Judgement
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.part_results import PartResults, PointResults
from tailroom_papers.today import background, fair_and_codel
from tailroom_papers.today.background import (
    CONTROLS,
    FAIR_CONTROLS,
    HUNDRED_PACKETS,
    LINKS,
    LONG,
    TEN,
    TWENTY,
    TWO_HUNDRED,
    delay_us,
    share_of_residual,
)
from tailroom_papers.today.drawing import LABELS
from tailroom_papers.today.fair_and_codel import DEEP, RIVAL, RIVALS, share_of_cubic
from tailroom_papers.today.network import LIMIT, PACKET_BITS, Bottleneck

REASONABLE = 0.80
"""Of the residual capacity: what the paper expects of a flow on an empty link with 20 packets."""
STARVED = 0.25
"""Half of its due, where CUBIC and BBR have as many flows."""
FAIR = 0.40
"""The paper's more aggressive flow "does gain slightly more" under fair queueing."""


def _at(results: PartResults, link: Bottleneck, control: str, limit: str) -> PointResults:
    return background.at(results.study(background.name(link)), control, limit)


def judge_twenty(results: PartResults) -> Judgement:
    """Judges the share of the residual capacity with a buffer of 20 packets."""
    checks = []
    for link in LINKS:
        for control in CONTROLS[link]:
            share = _at(results, link, control, TWENTY).interval(share_of_residual)
            what = f"{LABELS[control]}, {link}, part of the residual capacity"
            checks.append(claim.below(what, share, REASONABLE, percent=True))
    reno, bbr = (_at(results, TEN, control, TWENTY) for control in ("reno", "bbr1"))
    return Judgement(
        tuple(checks),
        f"Reno gets {100 * reno.mean(share_of_residual):.2g} % at 10 Gbit/s (the paper: around 40 "
        f"%). BBRv1 does not react to losses: it gets {100 * bbr.mean(share_of_residual):.3g} %, "
        "and the background loses "
        f"{100 * bbr.mean('groups.background.links.bottleneck.loss_fraction'):.2g} % of its "
        "packets.",
    )


def judge_two_hundred(results: PartResults) -> Judgement:
    """The same with 200 packets."""
    checks = []
    for link in (*LINKS, LONG):
        for control in CONTROLS[link]:
            share = _at(results, link, control, TWO_HUNDRED).interval(share_of_residual)
            what = f"{LABELS[control]}, {link}, part of the residual capacity"
            checks.append(claim.above(what, share, REASONABLE, percent=True))
    sizes = ", ".join(f"{100 * 200 / link.bdp_packets:.2g} % at {link}" for link in (*LINKS, LONG))
    return Judgement(
        tuple(checks),
        f"200 packets are these fractions of the bandwidth-delay product: {sizes} (the paper's "
        "own case: 32 %). On a long path, CUBIC's window stays near the window of the last loss "
        "for most of its cycle.",
    )


def judge_better(results: PartResults) -> Judgement:
    """Judges the advantage of today's controls over Reno at small buffers."""
    checks: list[Check] = []
    for link in LINKS:
        for control in CONTROLS[link][1:]:
            for limit in (TWENTY, TWO_HUNDRED):
                new, reno = (_at(results, link, kind, limit) for kind in (control, "reno"))
                more = difference(new, reno, share_of_residual)
                packets = int(limit.split()[0]) + 1
                what = f"{LABELS[control]} less Reno, {link}, {packets} packets"
                checks.append(claim.above(what, more, 0.0, "above 0 %", percent=True))
    tiny = _at(results, TEN, "highspeed", TWENTY).mean("groups.one.congestion_events")
    old = _at(results, TEN, "reno", TWENTY).mean("groups.one.congestion_events")
    return Judgement(
        tuple(checks),
        "Parts of the residual capacity. With 20 packets at 10 Gbit/s HighSpeed reduces its "
        f"window {tiny:.0f} times where Reno does so {old:.0f} times: the gain of smaller "
        "reductions is lost because the next reduction comes sooner.",
    )


def judge_starvation(results: PartResults) -> Judgement:
    """Judges CUBIC's share beside BBR, with a single queue and with a queue per flow."""
    checks = []
    for rival in RIVALS:
        for limit in found_limits(results):
            one, many = (
                results.study(f"mixed-{kind}").at({RIVAL: rival, LIMIT: limit})
                for kind in ("drop_tail", "fair")
            )
            beside = f"CUBIC beside {LABELS[rival]}, {limit}"
            starved, fair = (point.interval(share_of_cubic) for point in (one, many))
            stated = f"starved: below {STARVED:.0%}"
            checks.append(
                claim.below(f"{beside}, one queue", starved, STARVED, stated, percent=True)
            )
            checks.append(claim.above(f"{beside}, fair queueing", fair, FAIR, percent=True))
    return Judgement(
        tuple(checks),
        f"CUBIC's fair share among {fair_and_codel.FLOWS // 2} flows of each is half. In one "
        "queue, BBR causes losses of CUBIC too, to which CUBIC reacts; drop from the longest "
        "queue takes a packet from the flow with most packets waiting, so that BBR fills only "
        "its own queue. The smaller the buffer, the more often CUBIC's own queue runs empty "
        "after a drop, and BBR uses its share.",
    )


def found_limits(results: PartResults) -> list[str]:
    """The buffers at which mixed flows were simulated, up to one BDP."""
    points = results.study("mixed-drop_tail").where({RIVAL: RIVALS[0]}).points
    limits = [str(point.settings[LIMIT]) for point in points]
    return limits[: limits.index(DEEP) + 1]


def judge_background(results: PartResults) -> Judgement:
    """Losses and delay of the background under fair queueing."""
    study = results.study(background.name(TEN, "fair"))
    few_us = 2 * PACKET_BITS / TEN.gbps / 1e3
    checks = []
    for control in FAIR_CONTROLS:
        for limit in (TWENTY, HUNDRED_PACKETS):
            point = background.at(study, control, limit)
            beside = f"beside {LABELS[control]}, {int(limit.split()[0]) + 1} packets"
            lost = max(point.values(background.drops))
            checks.append(claim.is_true(f"drops {beside}", "none", lost == 0, lost))
            delay = point.interval(delay_us)
            stated = f"below two packets' time, {few_us:.3g}"
            checks.append(claim.below(f"delay in us {beside}", delay, few_us, stated))
    one_queue = _at(results, TEN, "cubic", TWO_HUNDRED)
    return Judgement(
        tuple(checks),
        f"With one queue of 200 packets the background waits {one_queue.mean(delay_us):.0f} us "
        f"beside CUBIC and loses {one_queue.mean(background.drops):.0f} packets a run.",
    )


CLAIMS = (
    Claim(
        "twenty-packets",
        "A buffer of 20 packets is clearly inadequate for one flow beside a background: it gets "
        "around 40 % of the residual capacity",
        "Auge and Roberts 2006, Sec. IV-B, Figure 3; now: CUBIC and BBR; inadequate: below 80 %",
        judge_twenty,
    ),
    Claim(
        "two-hundred-packets",
        "For a link of arbitrary capacity one or two hundred packets are a reasonable choice",
        "Auge and Roberts 2006, Sec. VI; now: CUBIC and BBR; reasonable: above 80 %",
        judge_two_hundred,
    ),
    Claim(
        "better-than-reno",
        "New controls use small buffers better than Reno",
        "Auge and Roberts 2006, Sec. V-A, Figure 6; now: CUBIC and BBR",
        judge_better,
    ),
    Claim(
        "starvation",
        "The less aggressive control is starved in one queue, and not under fair queueing",
        "Auge and Roberts 2006, Sec. V, Figures 6 and 7; now: CUBIC beside BBR",
        judge_starvation,
    ),
    Claim(
        "background-lossless",
        "Under fair queueing the background remains loss free, with very low latency",
        "Auge and Roberts 2006, Sec. V-B; now: beside CUBIC and BBR",
        judge_background,
    ),
)
