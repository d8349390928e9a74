"""Figure 3: one NewReno flow behind buffers of 20, 100 and 625 packets."""

from collections.abc import Sequence
from dataclasses import replace

from tailroom.models.sawtooth.sawtooth import aimd_utilization
from tailroom.studies.sweep_study.plan import Precision
from tailroom_papers.auge_2006 import columns, other_values, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.comparison import percent
from tailroom_papers.auge_2006.residual import (
    background_delay_ms,
    residual_share,
    seconds_between_reductions,
    timeouts,
)
from tailroom_papers.auge_2006.setup import BDP_PACKETS, BUFFERS, fifo, over, settings
from tailroom_papers.framework import *

WITH_BACKGROUND = "beside the background"
EMPTY = "on an empty link"
NS2 = {20: "S6 20 newreno", 100: "S6 100 newreno"}
STATED = {20: 0.5 + 0.4 * 0.5, BDP_PACKETS: 1.0}
"""Utilization by buffer: 40 % of the residual half with 20 packets, and 100 % with 625."""
PRECISE = Precision("utilization", half_width=0.004, at_least=20, at_most=100)
"""Runs are repeated until the utilization is known to 0.4 points, whichever side of a bound it is:
the phase of the RTT makes runs differ."""
CYCLES = 5
"""Least number of window reductions in a run, so that its mean covers whole cycles."""


def studies(form: Form) -> Sequence[Study]:
    """The three buffers, and a link without background."""
    loaded = setup.study(WITH_BACKGROUND, {"reno": 1}, [fifo(buffer) for buffer in BUFFERS], form)
    # A limit of 1 packet, the least limit, does not count the packet in transmission.
    queues = [fifo(2), fifo(20)]
    table = setup.scenario({"reno": 1}, queues[0], form)
    table["flows"] = {"reno": setup.bulk("reno")}
    # Only the start is random, with little effect.
    empty = Study(EMPTY, table, grid=over(queues), seeds=setup.seeds(form))
    return [replace(loaded, until=form.of(None, None, PRECISE)), empty]


def draw(results: PartResults) -> Figure:
    """As the paper has it."""
    return columns.draw(
        "Figure 3: one NewReno flow next to a background of 25 of 50 Mbit/s, FIFO",
        [
            columns.Column(
                f"{buffer} packets", _at(results, buffer), NS2.get(buffer, ""), STATED.get(buffer)
            )
            for buffer in BUFFERS
        ],
    )


def _at(results: PartResults, buffer: int) -> PointResults:
    return results.study(WITH_BACKGROUND).at(settings(fifo(buffer)))


def _too_small(results: PartResults) -> Judgement:
    point = _at(results, 20)
    check = point.between("share of the residual", residual_share, BOUNDS["around-40"])
    return Judgement(
        (check,),
        lambda: (
            f"The flow reduces its window every {point.mean(seconds_between_reductions):.1f} s and "
            f"has {point.mean('groups.reno.cwnd_packets_mean'):.0f} packets in flight on average, "
            "whereas the residual capacity and the round trip hold "
            f"{setup.RESIDUAL_BDP_PACKETS}."
        ),
    )


def _compromise(results: PartResults) -> Judgement:
    small, large = _at(results, 100), _at(results, BDP_PACKETS)
    delays = paired_ratio(small, large, background_delay_ms)
    what = "p99 delay of the background with 100 packets over that with 625"
    checks = (
        small.above("share of the residual with 100 packets", residual_share, BOUNDS["reasonable"]),
        below(what, delays, BOUNDS["low-latency"]),
    )
    return Judgement(
        checks,
        lambda: (
            "100 packets leave the link in 16 ms, 625 in 100 ms. The 99th percentile of the "
            f"background's queueing delay is {small.mean(background_delay_ms):.1f} ms and "
            f"{large.mean(background_delay_ms):.1f} ms. In exchange, the flow forgoes "
            f"{percent(1 - small.mean(residual_share))} of the residual. The runs differ in starts "
            "and in the phase of the RTT: shares are between "
            f"{percent(min(small.values(residual_share)))} and "
            f"{percent(max(small.values(residual_share)))}, with {small.mean(timeouts):.1f} "
            "timeouts per run on average. The section on sensitivity has fixed phases, and "
            "selective acknowledgements."
        ),
    )


def _full(results: PartResults) -> Judgement:
    point = _at(results, BDP_PACKETS)
    check = point.above("utilization", "utilization", BOUNDS["full"])
    return Judgement(
        (check,),
        lambda: (
            "Half of the largest window, which fills the residual and the buffer, exceeds the "
            "residual. With 625 packets the queue runs empty only where recovery ends in a timeout "
            f"({point.mean(timeouts):.1f} per run). Packets wait "
            f"{1e3 * point.mean('links.bottleneck.queue_delay_s_mean'):.0f} ms on average."
        ),
    )


def _empty_link(results: PartResults) -> Judgement:
    one = results.study(EMPTY).at(settings(fifo(2)))
    twenty = results.study(EMPTY).at(settings(fifo(20)))
    checks = (
        one.between("utilization with 1 packet", "utilization", BOUNDS["seventy-five"]),
        twenty.between("utilization with 20 packets", "utilization", BOUNDS["around-80"]),
    )
    formula = aimd_utilization(20 / BDP_PACKETS, 0.5)
    theirs = columns.ns2_utilization("S6 20 newreno no background")
    return Judgement(
        checks,
        lambda: (
            "One packet is enough only if senders answer ACKs at once, without jitter: a packet "
            "that is late by part of a packet time needs a place in addition to that by which the "
            "window grows. A window that halves and grows by one packet per round trip fills three "
            "quarters of the link without a buffer, and by the same formula "
            f"{percent(formula, 1)} with 20 packets (ns-2: {percent(theirs, 1)}). The background "
            f"reduces this to {percent(_at(results, 20).mean(residual_share))} of the residual."
        ),
    )


def _whole_cycles(results: PartResults) -> Judgement:
    events, words = "groups.reno.congestion_events", f"{CYCLES} or more"
    checks = tuple(
        _at(results, buffer).above(
            f"window reductions per run with {buffer} packets", events, CYCLES, words
        )
        for buffer in BUFFERS
    )
    return Judgement(checks, "A mean over fewer cycles depends on where the run ends.")


def variations(form: Form) -> Sequence[Variation]:
    """Other values of what the paper leaves open; the empty link with jitter only."""
    loaded, empty = studies(form)
    claims = ("small-buffer", "compromise", "large-buffer")
    jitter = (other_values.JITTER_OF_A_PACKET,)
    return [
        *other_values.variations([loaded], claims, form),
        *other_values.variations([empty], ("empty-link",), form, jitter),
    ]


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
    conditions=(Claim("whole-cycles", "A run covers several window cycles.", "", _whole_cycles),),
    variations=variations,
    caption=columns.CAPTION.format(what="Columns: the buffer."),
    note=(
        "The paper gives neither packet size nor RTT nor durations. 1000 B and 100 ms make its "
        "625 packets the bandwidth-delay product. Each run draws an RTT between 100 ms and "
        "100.16 ms, that is, the phase of the round trip within one packet time: a usual ns-2 "
        "script fixes it without saying so (100.00672 ms in the one that we ran). The paper's "
        "buffer of B packets counts the packet in transmission, as in ns-2; it is a queue limit "
        "of B - 1 packets here."
    ),
)
