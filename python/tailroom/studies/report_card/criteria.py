"""The criteria of RFC 9743 for a congestion control, and the experiments that measure them.

The RFC names the criteria but gives no thresholds (sec. 5); the thresholds are tailroom's. At each
point of an experiment, a control is compared with the worse of the references, Reno and CUBIC: it
may be better by any amount, and worse by a limited amount. A verdict requires that the 95 %
confidence interval lies on one side of the threshold; otherwise the verdict is undecided.
"""

from tailroom.simulation.metric_catalogue import metric_of
from tailroom.studies.report_card.card import (
    LIMIT,
    LINK,
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

REFERENCES = ("reno", "cubic")
"""The standards that RFC 9743 names (RFC 5681, RFC 9438)."""

RATE_BPS = 40e6
JOINS_AT_S = 20
LONGEST_S = 60

EXPERIMENTS = (
    Experiment("rfc-9743/buffers", {LIMIT: ("0.1 bdp", "0.5 bdp", "2 bdp")}),
    Experiment(
        "rfc-9743/heavy_loss", {f"{LINK}.loss": ({"kind": "bernoulli", "probability": 0.3},)}
    ),
    Experiment("rfc-9743/alike"),
    Experiment("rfc-9743/two_rtts", {LIMIT: ("1 bdp",)}, groups=("near", "far")),
    Experiment("rfc-9743/joining", {LIMIT: ("1 bdp",)}, groups=("first", "second"), is_long=True),
    Experiment("rfc-9743/mixed", {LIMIT: ("1 bdp",)}),
    Experiment("rfc-9743/short_flows", {LIMIT: ("1 bdp",)}),
    Experiment("rfc-9743/paths", {f"{LINK}.rate": ("10 Mbit/s",)}),
    Experiment(
        "rfc-9743/wireless", {f"{LINK}.loss": ({"kind": "bernoulli", "probability": 1e-3},)}
    ),
    Experiment("rfc-9743/managed"),
)


def _convergence_s(run: Metrics) -> float | None:
    """The convergence time in seconds; the rest of the run if the flows do not converge."""
    time_s = run["convergence_time_s"]
    return LONGEST_S - JOINS_AT_S if time_s is None else time_s


FAIRNESS = "flows.jain_index"

CRITERIA = (
    Criterion(
        name="collapse",
        title="Protection against collapse",
        section="5.1.1",
        experiment="rfc-9743/heavy_loss",
        quantity="packets sent per RTT",
        measure=of_metric("groups.tested.throughput_bps", 0.04 / (8 * 1500)),
        better="lower",
        by="ratio",
        caution=2.0,
        failure=4.0,
        harmless=1.0,
        reason="RFC 9743 requires one packet per RTT or less at heavy loss; the ratios are ours",
    ),
    Criterion(
        name="bufferbloat",
        title="Protection against bufferbloat",
        section="5.1.2",
        experiment="rfc-9743/buffers",
        **catalogued(f"{LINK}.queue_delay_s_mean"),
        by="ratio",
        caution=1.25,
        failure=1.75,
        harmless=5.0,
        reason="ours: Reno and CUBIC fill buffers themselves, so a control should not queue more; "
        "5 ms is the target of CoDel (RFC 8289 sec. 4.3)",
    ),
    Criterion(
        name="loss",
        title="Protection against high loss",
        section="5.1.3",
        experiment="rfc-9743/buffers",
        **catalogued(f"{LINK}.loss_fraction"),
        by="ratio",
        caution=3.0,
        failure=10.0,
        harmless=1.0,
        reason="ours: less than 1 % is not excessive; RFC 9743 gives the example of BBRv1 in "
        "buffers below 1.5 bdp",
    ),
    Criterion(
        name="fairness",
        title="Fairness among its own flows",
        section="5.1.4",
        experiment="rfc-9743/alike",
        metric=FAIRNESS,
        quantity=metric_of(FAIRNESS).unit.axis,
        measure=of_metric(FAIRNESS),
        highest=1.0,
        better="higher",
        by="difference",
        caution=0.05,
        failure=0.2,
        harmless=0.9,
        reason="ours: tailroom counts flows as converged from an index of 0.9 on",
    ),
    Criterion(
        name="rtt_fairness",
        title="Fairness across RTTs",
        section="5.1.4",
        experiment="rfc-9743/two_rtts",
        quantity="goodput ratio, 40 and 160 ms",
        measure=goodput_ratio("near", "far"),
        better="lower",
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=4.0,
        reason="ours: 4 is the ratio of the RTTs, which the goodput ratio of Reno reaches or "
        "exceeds",
    ),
    Criterion(
        name="short_flows",
        title="Short flows on the link",
        section="5.1.5, 5.2.3",
        experiment="rfc-9743/short_flows",
        **catalogued("groups.short.all_sizes.completion_time_s_mean", "completion time"),
        by="ratio",
        caution=1.25,
        failure=2.0,
        harmless=80.0,
        reason="ours: users notice twice the time; 50 kB take at least two RTTs, 80 ms",
    ),
    Criterion(
        name="harm_to_others",
        title="Share left to Reno and CUBIC",
        section="5.2.1",
        experiment="rfc-9743/mixed",
        quantity="goodput over fair share (%)",
        measure=of_metric("groups.other.goodput_bps", 100 * 2 / RATE_BPS),
        better="higher",
        by="ratio",
        caution=0.8,
        failure=0.5,
        harmless=90.0,
        reason="ours: half of the goodput that they have with each other is significant harm",
    ),
    Criterion(
        name="own_share",
        title="Share with Reno and CUBIC",
        section="5.2.1",
        experiment="rfc-9743/mixed",
        quantity="goodput over fair share (%)",
        measure=of_metric("groups.tested.goodput_bps", 100 * 2 / RATE_BPS),
        better="higher",
        by="ratio",
        caution=0.5,
        failure=0.1,
        harmless=90.0,
        reason="ours: a control that yields does no harm, but a control that starves is useless",
    ),
    Criterion(
        name="real_time",
        title="A call on the link",
        section="5.2.2",
        experiment="rfc-9743/short_flows",
        **catalogued("groups.call.links.bottleneck.queue_delay_s_p99"),
        by="ratio",
        caution=1.25,
        failure=2.0,
        harmless=20.0,
        reason="ours: a queueing delay of half the RTT of 40 ms is acceptable for a call",
    ),
    utilization(
        name="utilization",
        title="Tail-drop queues of any size",
        section="6.1",
        experiment="rfc-9743/buffers",
    ),
    utilization(
        name="paths",
        title="Rates and delays",
        section="6, 6.3",
        experiment="rfc-9743/paths",
    ),
    utilization(
        name="wireless",
        title="Losses without congestion",
        section="6.4",
        experiment="rfc-9743/wireless",
        caution=0.8,
        failure=0.5,
        harmless=90.0,
        reason="ours: looser than elsewhere, as the references perform badly here",
    ),
    utilization(
        name="aqm_utilization",
        title="Utilization under AQM",
        section="7.1",
        experiment="rfc-9743/managed",
    ),
    delay(
        name="aqm_delay",
        title="Delay under AQM",
        section="7.1",
        experiment="rfc-9743/managed",
    ),
    Criterion(
        name="convergence",
        title="A flow that joins",
        section="7.8",
        experiment="rfc-9743/joining",
        quantity="time until Jain's index is 0.9 (s)",
        measure=_convergence_s,
        better="lower",
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=5.0,
        reason="ours: flows that do not converge count as 40 s, the rest of the run",
    ),
)

CARD = Card("control", 9743, REFERENCES, (), EXPERIMENTS, CRITERIA)
"""The report card of a congestion control."""
