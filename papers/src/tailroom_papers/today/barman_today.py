"""Conclusions of Barman, Smaragdakis and Matta on HighSpeed TCP, for today's controls."""

from collections.abc import Callable

from tailroom.statistics.intervals import Interval
from tailroom_papers.framework import *
from tailroom_papers.today import rtt_unfairness
from tailroom_papers.today.bounds import BOUNDS
from tailroom_papers.today.buffer_curves import CONTROL, HUNDRED, TEN
from tailroom_papers.today.drawing import LABELS
from tailroom_papers.today.network import LIMIT, Bottleneck

ASKED = ("highspeed", "cubic", "bbr1", "bbr3")
LINKS = (TEN, HUNDRED)
TINY, TENTH, FIFTH = "0.02 bdp", "0.1 bdp", "0.2 bdp"
UTILIZATION = "utilization"


def _at(results: PartResults, link: Bottleneck, control: str, limit: str) -> PointResults:
    return results.study(f"{link.gbps}g").at({CONTROL: control, LIMIT: limit})


def _links(results: PartResults) -> list[Bottleneck]:
    """The links that were simulated: a variation has the slower one alone."""
    return [link for link in LINKS if f"{link.gbps}g" in results.studies]


def _utilizations(
    results: PartResults, limit: str, test: Callable[..., Check], bound: NamedBound
) -> tuple[Check, ...]:
    """Utilization against a bound, for every link and control."""
    return tuple(
        test(
            f"{LABELS[control]}, {link.gbps} Gbit/s, utilization",
            _at(results, link, control, limit).interval(UTILIZATION),
            bound,
            percent=True,
        )
        for link in _links(results)
        for control in ASKED
    )


def _prices(results: PartResults, limit: str) -> str:
    losses = (
        f"{LABELS[control]} {100 * _at(results, TEN, control, limit).mean('loss_fraction'):.2g} %"
        for control in ASKED
    )
    return f"The packets lost at 10 Gbit/s: {', '.join(losses)}."


def judge_ten_percent(results: PartResults) -> Judgement:
    """Utilization at a buffer of 10 %."""
    checks = _utilizations(results, TENTH, above, BOUNDS["ninety"])
    return Judgement(checks, lambda: _prices(results, TENTH))


def judge_twenty_percent(results: PartResults) -> Judgement:
    """Utilization at a buffer of 20 %."""
    checks = _utilizations(results, FIFTH, above, BOUNDS["almost-98"])
    return Judgement(checks, lambda: _prices(results, FIFTH))


def judge_fall(results: PartResults) -> Judgement:
    """Utilization at a buffer of 2 %."""

    def why() -> str:
        packets = ", ".join(
            f"{0.02 * link.bdp_packets:.0f} packets at {link.gbps} Gbit/s" for link in LINKS
        )
        lost = ", ".join(
            f"{LABELS[control]} {shown(_lost(results, control), percent=True)}" for control in ASKED
        )
        return (
            f"2 % are {packets}. From a buffer of 10 % to one of 2 % the link of 10 Gbit/s loses, "
            f"in percent of its rate: {lost}. BBR paces at the rate that it measures and needs "
            "less buffer, at the cost of losses."
        )

    return Judgement(_utilizations(results, TINY, below, BOUNDS["drastic"]), why)


def _lost(results: PartResults, control: str) -> Interval | None:
    """Utilization at a buffer of 10 % less that at 2 %."""
    large, small = (_at(results, TEN, control, limit) for limit in (TENTH, TINY))
    return paired_difference(large, small, UTILIZATION)


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
        less = paired_difference(small, large, rtt_unfairness.unfairness)
        what = f"{LABELS[control]}, unfairness at 0.1 BDP less that at 1 BDP"
        checks.append(above(what, less, 0.0, "above 0"))
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
        "Barman et al. 2004, Sec. V; now: CUBIC and BBR",
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
