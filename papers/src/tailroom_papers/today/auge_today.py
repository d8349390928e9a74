"""Conclusions of Augé and Roberts on small buffers and fair queueing, for today's controls."""

from tailroom_papers.framework import *
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
    p99_delay_ms,
    share_of_residual,
)
from tailroom_papers.today.bounds import BOUNDS
from tailroom_papers.today.drawing import LABELS
from tailroom_papers.today.fair_and_codel import DEEP, RIVAL, RIVALS, SHALLOW, cubic_over_bbr
from tailroom_papers.today.network import LIMIT, Bottleneck


def _at(results: PartResults, link: Bottleneck, control: str, limit: str) -> PointResults:
    return background.at(results.study(background.name(link)), control, limit)


def _links(results: PartResults, *more: Bottleneck) -> list[Bottleneck]:
    """The links that were simulated: a variation has the first alone."""
    return [link for link in (*LINKS, *more) if background.name(link) in results.studies]


def judge_twenty(results: PartResults) -> Judgement:
    """Judges the share of the residual capacity with a buffer of 20 packets."""
    checks = []
    for link in _links(results):
        for control in CONTROLS[link]:
            share = _at(results, link, control, TWENTY).interval(share_of_residual)
            what = f"{LABELS[control]}, {link}, part of the residual capacity"
            checks.append(below(what, share, BOUNDS["reasonable"], percent=True))
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
    for link in _links(results, LONG):
        for control in CONTROLS[link]:
            share = _at(results, link, control, TWO_HUNDRED).interval(share_of_residual)
            what = f"{LABELS[control]}, {link}, part of the residual capacity"
            checks.append(above(what, share, BOUNDS["reasonable"], percent=True))
    sizes = ", ".join(f"{100 * 200 / link.bdp_packets:.2g} % at {link}" for link in (*LINKS, LONG))
    return Judgement(
        tuple(checks),
        f"200 packets are these fractions of the bandwidth-delay product: {sizes} (the paper's "
        "own case: 32 %). On a long path, CUBIC's window stays near the window of the last loss "
        "for most of its cycle.",
    )


def judge_better(results: PartResults) -> Judgement:
    """Judges the advantage of today's controls over Reno with 20 packets."""
    checks: list[Check] = []
    for link in _links(results):
        for control in CONTROLS[link][1:]:
            new, reno = (_at(results, link, kind, TWENTY) for kind in (control, "reno"))
            more = paired_difference(new, reno, share_of_residual)
            what = f"{LABELS[control]} less Reno, {link}"
            checks.append(above(what, more, 0.0, "above 0 %", percent=True))

    def why() -> str:
        tiny, old = (
            _at(results, TEN, control, TWENTY).mean("groups.one.congestion_events")
            for control in ("highspeed", "reno")
        )
        return (
            "Shares of the residual capacity. At 10 Gbit/s HighSpeed reduces its window "
            f"{tiny:.0f} times where Reno does so {old:.0f} times: what smaller reductions gain is "
            "lost because the next reduction comes sooner."
        )

    return Judgement(tuple(checks), why)


def judge_starvation(results: PartResults) -> Judgement:
    """Judges CUBIC's goodput alongside BBR, with a single queue and with a queue per flow."""
    checks = []
    bound = BOUNDS["unable-to-compete"]
    for rival in RIVALS:
        for limit in (SHALLOW, DEEP):
            one, many = (
                results.study(f"mixed-{kind}").at({RIVAL: rival, LIMIT: limit})
                for kind in ("drop_tail", "fair")
            )
            pair = f"CUBIC over {LABELS[rival]}, {limit}"
            checks += [
                below(f"{pair}, one queue", one.interval(cubic_over_bbr), bound),
                above(
                    f"{pair}, fair queueing",
                    many.interval(cubic_over_bbr),
                    bound,
                    f"able to compete (above {bound.value:g})",
                ),
            ]
    return Judgement(
        tuple(checks),
        f"Goodputs of {fair_and_codel.FLOWS // 2} flows of each. In one queue, BBR causes losses "
        "of CUBIC too, to which CUBIC reacts. Drop from the longest queue takes a packet from the "
        "flow with most packets waiting, so that BBR fills only its own queue. The smaller the "
        "buffer, the more often CUBIC's own queue runs empty after a drop, and BBR uses its share.",
    )


def judge_background(results: PartResults) -> Judgement:
    """Losses and delay of the background under fair queueing."""
    study = results.study(background.name(TEN, "fair"))
    checks = []
    for control in FAIR_CONTROLS:
        for limit in (TWENTY, HUNDRED_PACKETS):
            point = background.at(study, control, limit)
            where = f"next to {LABELS[control]}, {int(limit.split()[0]) + 1} packets"
            lost = max(point.values(background.drops))
            none = lost <= BOUNDS["loss-free"].value
            checks.append(is_true(f"drops {where}", BOUNDS["loss-free"].words, none, lost))
            delay = point.interval(p99_delay_ms)
            checks.append(below(f"p99 delay {where}, ms", delay, BOUNDS["very-low-latency"]))
    one_queue = _at(results, TEN, "cubic", TWO_HUNDRED)
    return Judgement(
        tuple(checks),
        f"With one queue of 200 packets the background waits {one_queue.mean(p99_delay_ms):.2g} ms "
        f"(p99) next to CUBIC and loses {one_queue.mean(background.drops):.0f} packets a run.",
    )


CLAIMS = (
    Claim(
        "twenty-packets",
        "A buffer of 20 packets is clearly inadequate for one flow next to a background",
        "Augé and Roberts 2006, Sec. IV-B, Figure 3; now: CUBIC and BBR",
        judge_twenty,
    ),
    Claim(
        "two-hundred-packets",
        "For a link of arbitrary capacity one or two hundred packets are a reasonable choice",
        "Augé and Roberts 2006, Sec. VI; now: CUBIC and BBR",
        judge_two_hundred,
    ),
    Claim(
        "better-than-reno",
        "New controls use bandwidth more efficiently than Reno when the buffer is small",
        "Augé and Roberts 2006, Sec. V-A, Figure 6; now: CUBIC and BBR",
        judge_better,
    ),
    Claim(
        "starvation",
        "The less aggressive control is unable to compete fairly in one queue, but able to do so "
        "under fair queueing",
        "Augé and Roberts 2006, Sec. V, Figures 6 and 7; now: CUBIC next to BBR",
        judge_starvation,
    ),
    Claim(
        "background-lossless",
        "Under fair queueing the background remains loss free, with very low latency",
        "Augé and Roberts 2006, Sec. V-B; now: next to CUBIC and BBR",
        judge_background,
    ),
)
