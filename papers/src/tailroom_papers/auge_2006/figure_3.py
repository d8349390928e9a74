"""Figure 3: one NewReno flow behind buffers of 20, 100 and 625 packets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tailroom.models.sawtooth.sawtooth import aimd_utilization
from tailroom.reproduction.claim import Claim, Judgement, above, below, between
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom_papers.auge_2006 import columns, setup
from tailroom_papers.auge_2006.comparison import percent
from tailroom_papers.auge_2006.residual import (
    background_delay_ms,
    residual_share,
    seconds_between_reductions,
    timeouts,
)
from tailroom_papers.auge_2006.setup import BDP_PACKETS, BUFFERS, fifo, over, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.reproduction.part_results import PartResults, PointResults

BESIDE = "beside the background"
EMPTY = "on an empty link"
NS2 = {20: "S6 20 newreno", 100: "S6 100 newreno"}
AROUND_40 = "around 40 % (taken as within 5 points)"
ONE_PACKET_SHARE = 0.75
"""Share of a flow on an empty link with a buffer of one packet: the mean of 1/2 and 1."""


def studies(form: Form) -> Sequence[Study]:
    """The three buffers, and a link without background."""
    beside = setup.study(BESIDE, {"reno": 1}, [fifo(buffer) for buffer in BUFFERS], form)
    # A limit of 1 packet, the least limit, does not count the packet in transmission.
    queues = [fifo(2), fifo(20)]
    table = setup.scenario({"reno": 1}, queues[0], form)
    table["flows"] = {"reno": setup.bulk("reno")}
    # Only the start is random, with little effect.
    empty = Study(EMPTY, table, grid=over(queues), seeds=form.of(3, 3, 5))
    return [beside, empty]


def draw(results: "PartResults") -> "Figure":
    """As the paper has it."""
    return columns.draw(
        "Figure 3: one NewReno flow beside a background of 25 of 50 Mbit/s, FIFO",
        [
            columns.Column(f"{buffer} packets of buffer", _at(results, buffer), NS2.get(buffer, ""))
            for buffer in BUFFERS
        ],
    )


def _at(results: "PartResults", buffer: int) -> "PointResults":
    return results.study(BESIDE).at(settings(fifo(buffer)))


def _too_small(results: "PartResults") -> Judgement:
    share = _at(results, 20).interval(residual_share)
    apart_s = _at(results, 20).mean(seconds_between_reductions)
    window = _at(results, 20).mean("groups.reno.cwnd_packets_mean")
    checks = [between("share of the residual", share, 0.35, 0.45, AROUND_40, percent=True)]
    why = (
        f"The flow reduces its window every {apart_s:.1f} s and has {window:.0f} packets in flight "
        f"on average, where the residual capacity and the round trip hold "
        f"{setup.RESIDUAL_BDP_PACKETS}."
    )
    return Judgement(tuple(checks), why)


def _compromise(results: "PartResults") -> Judgement:
    small, large = _at(results, 100), _at(results, BDP_PACKETS)
    share, delay = small.interval(residual_share), small.interval(background_delay_ms)
    long_delay = large.mean(background_delay_ms)
    checks = (
        above(
            "share of the residual with 100 packets",
            share,
            ONE_PACKET_SHARE,
            "reasonable (taken as 75 %, an empty link's with one packet)",
            percent=True,
        ),
        below(
            "p99 delay of the background with 100 packets, ms",
            delay,
            0.25 * long_delay,
            "low (taken as a quarter of that with 625 packets)",
        ),
    )
    why = (
        "100 packets empty in 16 ms, 625 in 100 ms; the 99th percentile of the background's "
        f"queueing delay is {small.mean(background_delay_ms):.1f} and {long_delay:.1f} ms (with "
        f"20 packets {_at(results, 20).mean(background_delay_ms):.1f} ms). In exchange, the flow "
        f"gives up {percent(1 - small.mean(residual_share))} of the residual."
    )
    return Judgement(checks, why)


def _full(results: "PartResults") -> Judgement:
    point = _at(results, BDP_PACKETS)
    check = above(
        "utilization", point.interval("utilization"), 0.98, "100 % (98 % or more)", percent=True
    )
    why = (
        "Half of the largest window, which fills residual and buffer together, is more than the "
        f"residual holds: with {BDP_PACKETS} packets the queue runs dry only where recovery ends "
        f"in a timeout ({point.mean(timeouts):.1f} a run), and packets wait "
        f"{point.mean('queue_delay_s_mean') * 1e3:.0f} ms on average."
    )
    return Judgement((check,), why)


def _empty_link(results: "PartResults") -> Judgement:
    one, twenty = (results.study(EMPTY).at(settings(fifo(buffer))) for buffer in (2, 20))
    beside = _at(results, 20).mean(residual_share)
    checks = (
        between(
            "utilization with 1 packet",
            one.interval("utilization"),
            0.73,
            0.77,
            "75 % (taken as within 2 points)",
            percent=True,
        ),
        between(
            "utilization with 20 packets",
            twenty.interval("utilization"),
            0.77,
            0.83,
            "around 80 % (taken as within 3 points)",
            percent=True,
        ),
    )
    formula = aimd_utilization(20 / BDP_PACKETS, 0.5)
    theirs = columns.ns2_utilization("S6 20 newreno no background")
    why = (
        "A window that falls by half and grows by one packet per round trip fills three quarters "
        f"of the link without a buffer, and by the same formula {percent(formula, 1)} with 20 "
        f"packets (ns-2: {percent(theirs, 1)}). The background lowers this to {percent(beside)} "
        "of the residual."
    )
    return Judgement(checks, why)


PART = Part(
    name="3",
    title="Utilization and window of one NewReno flow with 20, 100 and 625 packets, FIFO",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "small-buffer",
            "With 20 packets the bottlenecked flow only manages to acquire around 40 % of the "
            "residual bandwidth.",
            "Sec. IV-B, Figure 3",
            _too_small,
        ),
        Claim(
            "compromise",
            "100 packets appears as a reasonable compromise, realizing reasonable throughput while "
            "ensuring low latency.",
            "Sec. IV-B, Figure 3",
            _compromise,
        ),
        Claim(
            "large-buffer",
            "The large buffer (625 packets) enables 100 % utilization.",
            "Sec. IV-B, Figure 3",
            _full,
        ),
        Claim(
            "empty-link",
            "A single flow on an empty link with a buffer of only 1 packet should acquire 75 % of "
            "the capacity, and around 80 % with 20 packets.",
            "Sec. IV-B",
            _empty_link,
        ),
    ),
    note=(
        "The paper gives neither packet size nor RTT nor durations: 1000 B and 100 ms make its "
        "625 packets the bandwidth-delay product. Its buffers include the packet being sent, as "
        "in ns-2. Utilization and windows are drawn for the first run, and means are over all "
        "runs."
    ),
)
