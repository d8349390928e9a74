"""The criteria of RFC 7928 for a queue discipline, and the experiments that measure them.

The RFC says what to measure and gives no thresholds; the thresholds are tailroom's. At each point
of an experiment, a discipline is compared with the worse of CoDel and PIE, the disciplines that the
IETF has published. RED, DualPI2 and drop tail are measured too.
"""

from functools import partial

from tailroom.studies.report_card.card import (
    LIMIT,
    LINK,
    REASON_UTILIZATION,
    Card,
    Criterion,
    Experiment,
    Metrics,
    catalogued,
    delay,
    goodput_ratio,
    of_metric,
    utilization,
)

REFERENCES = ("codel", "pie")
"""RFC 8289 and RFC 8033."""
ALSO_MEASURED = ("red", "dual_pi2", "drop_tail")
RATE_BPS = 20e6
LEVELS = (0.001, 0.005, 0.01)
"""Fractions that drop tail loses at mild, medium and heavy congestion (sec. 8.2.1)."""

EXPERIMENTS = (
    Experiment("rfc-7928/steady", {"flows.tested.count": (7, 27)}),
    Experiment("rfc-7928/varying_load", is_long=True),
    Experiment("rfc-7928/varying_capacity", is_long=True),
    Experiment("rfc-7928/buffers", {LIMIT: ("0.25 bdp", "1 bdp", "4 bdp")}),
    Experiment("rfc-7928/rtts", {"flows.second.rtt": ("20 ms", "200 ms")}),
    Experiment("rfc-7928/unresponsive"),
    Experiment("rfc-7928/aggressive"),
    Experiment("rfc-7928/ecn"),
    Experiment("rfc-7928/bursts"),
)


def _left(run: Metrics) -> float | None:
    """The goodput of the responsive flows, in % of what the others leave of the link."""
    taken, got = (
        run["groups.unresponsive.throughput_bps"],
        run["groups.tested.throughput_bps"],
    )
    return None if taken is None or got is None else 100 * got / (RATE_BPS - taken)


_loss = partial(
    Criterion,
    **catalogued(f"{LINK}.loss_fraction"),
    by="ratio",
    caution=1.5,
    failure=3.0,
)

CRITERIA = (
    delay(
        name="steady_delay",
        title="Delay at a steady load",
        section="8.2.2-4",
        experiment="rfc-7928/steady",
    ),
    utilization(
        name="steady_utilization",
        title="Utilization at a steady load",
        section="8.2.2-4",
        experiment="rfc-7928/steady",
    ),
    _loss(
        name="steady_loss",
        title="Loss at a steady load",
        section="2.3, 8.2.2-4",
        experiment="rfc-7928/steady",
        harmless=100 * LEVELS[-1],
        reason="ours: 1 % is what drop tail loses at heavy congestion (RFC 7928 sec. 8.2.1); a "
        "shorter queue needs more losses",
    ),
    delay(
        name="load_delay",
        title="Delay at a varying load",
        section="8.2.5",
        experiment="rfc-7928/varying_load",
    ),
    delay(
        name="capacity_delay",
        title="Delay at a varying capacity",
        section="8.2.6",
        experiment="rfc-7928/varying_capacity",
    ),
    utilization(
        name="capacity_utilization",
        title="Utilization at a varying capacity",
        section="8.2.6",
        experiment="rfc-7928/varying_capacity",
    ),
    delay(
        name="buffer_delay",
        title="Delay with any buffer",
        section="3.2",
        experiment="rfc-7928/buffers",
    ),
    utilization(
        name="buffer_utilization",
        title="Utilization with any buffer",
        section="3.2",
        experiment="rfc-7928/buffers",
    ),
    Criterion(
        name="rtt_fairness",
        title="Fairness across RTTs",
        section="6.2",
        experiment="rfc-7928/rtts",
        quantity="goodput ratio of the two flows",
        measure=goodput_ratio("first", "second"),
        better="lower",
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=2.0,
        reason="ours: the control causes most of the difference, a discipline can only add to it",
    ),
    utilization(
        name="rtt_utilization",
        title="Utilization across RTTs",
        section="6.2",
        experiment="rfc-7928/rtts",
    ),
    delay(
        name="unresponsive_delay",
        title="Delay under unresponsive traffic",
        section="5.3",
        experiment="rfc-7928/unresponsive",
    ),
    Criterion(
        name="unresponsive_share",
        title="Share under unresponsive traffic",
        section="5.3",
        experiment="rfc-7928/unresponsive",
        quantity="throughput over what is left (%)",
        measure=_left,
        better="higher",
        by="ratio",
        caution=0.9,
        failure=0.75,
        harmless=95.0,
        reason=REASON_UTILIZATION,
    ),
    Criterion(
        name="aggressive_share",
        title="Share of Reno with CUBIC",
        section="5.2",
        experiment="rfc-7928/aggressive",
        quantity="goodput over fair share (%)",
        measure=of_metric("groups.reno.goodput_bps", 100 * 2 / RATE_BPS),
        better="higher",
        by="ratio",
        caution=0.8,
        failure=0.5,
        harmless=90.0,
        reason="ours: half of the goodput that CoDel and PIE leave to Reno is significant harm",
    ),
    _loss(
        name="ecn_loss",
        title="Loss with ECN",
        section="4.5",
        experiment="rfc-7928/ecn",
        harmless=0.1,
        reason="ours: marks replace losses (RFC 7928 sec. 4.5); 0.1 % is mild congestion (sec. "
        "8.2.1)",
    ),
    delay(
        name="ecn_delay",
        title="Delay with ECN",
        section="4.5",
        experiment="rfc-7928/ecn",
    ),
    Criterion(
        name="burst_completion",
        title="Bursts of short flows",
        section="7.2",
        experiment="rfc-7928/bursts",
        **catalogued("groups.short.all_sizes.completion_time_s_mean", "completion time"),
        by="ratio",
        caution=1.25,
        failure=2.0,
        harmless=200.0,
        reason="ours: users notice twice the time; 50 kB take at least two RTTs, 200 ms",
    ),
    Criterion(
        name="burst_call",
        title="A call with bursts",
        section="7.2",
        experiment="rfc-7928/bursts",
        **catalogued("groups.call.links.bottleneck.queue_delay_s_p99"),
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=20.0,
        reason="ours: a fifth of the RTT of 100 ms is acceptable for a call",
    ),
)

CARD = Card("discipline", 7928, REFERENCES, ALSO_MEASURED, EXPERIMENTS, CRITERIA)
"""The report card of a queue discipline."""
