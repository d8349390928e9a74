"""What RFC 9743 asks of a congestion control, as experiments and criteria.

The RFC says what to look at and gives no thresholds (sec. 5); the numbers here are ours. A control
is held against the worst of the references, Reno and CUBIC, at each point of an experiment: it may
be better in any way, and worse by so much. A threshold decides only where the 95 % confidence
interval lies on one side of it; otherwise the verdict is undecided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

REFERENCES = ("reno", "cubic")
"""The standards that RFC 9743 names (RFC 5681, RFC 9438)."""

Metrics = Mapping[str, float | None]
"""The metrics of a run by their full names."""
Measure = Callable[[Metrics], float | None]

LINK = "links.bottleneck"
LIMIT = f"{LINK}.queue.limit"
RATE_BPS = 40e6
JOINS_AT_S = 20
LONGEST_S = 60


@dataclass(frozen=True)
class Experiment:
    """A scenario at the points of a grid."""

    name: str
    shows: str
    """What it is, in a few words."""
    scenario: Mapping[str, Any]
    axes: Mapping[str, tuple[object, ...]]
    """Keys with their values."""
    quick: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Values that suffice for a first look."""
    groups: tuple[str, ...] = ("tested",)
    """Groups of flows that get the control."""
    is_long: bool = False
    """Whether a quick card needs its whole length too."""


@dataclass(frozen=True)
class Criterion:
    """One thing to look at, and what the verdict depends on."""

    name: str
    title: str
    section: str
    """Of RFC 9743."""
    experiment: str
    quantity: str
    """What is measured, with its unit."""
    measure: Measure
    """From a run's metrics to the quantity in that unit."""
    better: Literal["higher", "lower"]
    by: Literal["ratio", "difference"]
    """How the control is compared to the worst reference."""
    caution: float
    """A ratio or difference that is surely worse than this is for the user to judge."""
    failure: float
    """One that is surely worse than this fails."""
    harmless: float
    """A value this good passes whatever the references do."""
    reason: str
    """Where the thresholds come from."""


def _scenario(flows: Mapping[str, Any], **link: Any) -> dict[str, Any]:
    """One link of 40 Mbit/s: 133 packets of 1500 B are its bandwidth-delay product at 40 ms."""
    return {
        "title": "Report card",
        "duration": f"{LONGEST_S} s",
        "measure_from": "20 s",
        "links": {
            "bottleneck": {
                "rate": "40 Mbit/s",
                "delay": "2 ms",
                "queue": {"kind": "drop_tail", "limit": "1 bdp"},
                **link,
            }
        },
        "flows": flows,
    }


def _long(count: int, *, rtt: str = "40 ms", start: tuple[str, str] = ("0 s", "4 s")) -> Any:
    """Permanent flows that do not start together: in step they would lose together."""
    return {
        "count": count,
        "path": ["bottleneck"],
        "congestion": "reno",
        "rtt": rtt,
        "start": {"uniform": list(start)},
    }


EXPERIMENTS = (
    Experiment(
        "buffers",
        "2 flows, drop-tail buffers from 0.05 to 2 bdp",
        _scenario({"tested": _long(2)}),
        {LIMIT: tuple(f"{one} bdp" for one in (0.05, 0.1, 0.2, 0.5, 1, 2))},
        {LIMIT: ("0.1 bdp", "0.5 bdp", "2 bdp")},
    ),
    Experiment(
        "heavy_loss",
        "1 flow, a path that loses every tenth to every second packet",
        _scenario({"tested": _long(1)}),
        {f"{LINK}.loss": tuple({"kind": "bernoulli", "probability": p} for p in (0.1, 0.3, 0.5))},
        {f"{LINK}.loss": ({"kind": "bernoulli", "probability": 0.3},)},
    ),
    Experiment(
        "alike",
        "2 and 10 flows of the control, buffer 1 bdp",
        _scenario({"tested": _long(2)}),
        {"flows.tested.count": (2, 10)},
    ),
    Experiment(
        "two_rtts",
        "2 flows with an RTT of 40 ms beside 2 with 160 ms, buffer 1 bdp",
        _scenario({"near": _long(2), "far": _long(2, rtt="160 ms")}),
        {LIMIT: ("0.5 bdp", "1 bdp")},
        {LIMIT: ("1 bdp",)},
        groups=("near", "far"),
    ),
    Experiment(
        "joining",
        "a flow joins another that has had the link for 20 s, buffer 1 bdp",
        _scenario(
            {
                "first": _long(1, start=("0 s", "1 s")),
                "second": _long(1, start=(f"{JOINS_AT_S} s", f"{JOINS_AT_S + 1} s")),
            }
        ),
        {LIMIT: ("0.2 bdp", "1 bdp")},
        {LIMIT: ("1 bdp",)},
        groups=("first", "second"),
        is_long=True,
    ),
    Experiment(
        "mixed",
        "2 flows beside 2 of Reno, and beside 2 of CUBIC",
        _scenario({"tested": _long(2), "other": _long(2)}),
        {"flows.other.congestion": REFERENCES, LIMIT: ("0.2 bdp", "1 bdp", "2 bdp")},
        {"flows.other.congestion": REFERENCES, LIMIT: ("1 bdp",)},
    ),
    Experiment(
        "beside",
        "2 flows beside short CUBIC flows of 50 kB (load 0.1) and a call of 100 kbit/s",
        _scenario(
            {
                "tested": _long(2),
                "short": {
                    "path": ["bottleneck"],
                    "congestion": "cubic",
                    "rtt": "40 ms",
                    "source": {"kind": "finite_flows", "load": 0.1, "size": "50 kB"},
                },
                "call": {
                    "path": ["bottleneck"],
                    "packet_size": "200 B",
                    "source": {"kind": "cbr", "rate": "100 kbit/s"},
                },
            }
        ),
        {LIMIT: ("0.2 bdp", "1 bdp", "2 bdp")},
        {LIMIT: ("1 bdp",)},
    ),
    Experiment(
        "paths",
        "1 flow, 10 and 100 Mbit/s, RTTs of 10 and 160 ms, buffer 1 bdp",
        _scenario({"tested": _long(1)}),
        {
            f"{LINK}.rate": ("10 Mbit/s", "100 Mbit/s"),
            "flows.tested.rtt": ("10 ms", "160 ms"),
        },
        {f"{LINK}.rate": ("10 Mbit/s",)},
    ),
    Experiment(
        "wireless",
        "1 flow, packets lost at random, buffer 1 bdp",
        _scenario({"tested": _long(1)}),
        {
            f"{LINK}.loss": tuple(
                {"kind": "bernoulli", "probability": p} for p in (1e-4, 1e-3, 1e-2)
            )
        },
        {f"{LINK}.loss": ({"kind": "bernoulli", "probability": 1e-3},)},
    ),
    Experiment(
        "managed",
        "4 flows under CoDel, PIE and FQ-CoDel",
        _scenario({"tested": _long(4)}),
        {f"{LINK}.queue": tuple({"kind": kind} for kind in ("codel", "pie", "fq_codel"))},
    ),
)


def _of(metric: str, scale: float = 1.0) -> Measure:
    def measure(run: Metrics) -> float | None:
        value = run.get(metric)
        return None if value is None else scale * value

    return measure


def _ratio_of_rtts(run: Metrics) -> float | None:
    """The larger goodput over the smaller one: either may starve the other."""
    near, far = run["groups.near.goodput_bps"], run["groups.far.goodput_bps"]
    if not near or not far:
        return None
    return max(near / far, far / near)


def _convergence_s(run: Metrics) -> float | None:
    """Flows that never meet count as if they had met at the end."""
    found = run["convergence_time_s"]
    return LONGEST_S - JOINS_AT_S if found is None else found


_UTILIZATION = _of(f"{LINK}.utilization", 100)
_HALF = "ours: a tenth less is within what a choice of constants does, a quarter less is not"

CRITERIA = (
    Criterion(
        name="collapse",
        title="Protection against collapse",
        section="5.1.1",
        experiment="heavy_loss",
        quantity="packets sent per RTT",
        measure=_of("groups.tested.throughput_bps", 0.04 / (8 * 1500)),
        better="lower",
        by="ratio",
        caution=2.0,
        failure=4.0,
        harmless=1.0,
        reason="one packet per RTT or less at heavy loss is RFC 9743's; the ratios are ours",
    ),
    Criterion(
        name="bufferbloat",
        title="Protection against bufferbloat",
        section="5.1.2",
        experiment="buffers",
        quantity="mean queueing delay (ms)",
        measure=_of(f"{LINK}.queue_delay_s_mean", 1e3),
        better="lower",
        by="ratio",
        caution=1.25,
        failure=1.75,
        harmless=5.0,
        reason="ours: no more than Reno and CUBIC, which fill buffers themselves; 5 ms is the "
        "target of CoDel (RFC 8289 sec. 4.3)",
    ),
    Criterion(
        name="loss",
        title="Protection against high loss",
        section="5.1.3",
        experiment="buffers",
        quantity="loss (%)",
        measure=_of(f"{LINK}.loss_fraction", 100),
        better="lower",
        by="ratio",
        caution=3.0,
        failure=10.0,
        harmless=1.0,
        reason="ours: less than 1 % is not excessive; RFC 9743 has the example of BBRv1 in "
        "buffers below 1.5 bdp",
    ),
    Criterion(
        name="fairness",
        title="Fairness among its own flows",
        section="5.1.4",
        experiment="alike",
        quantity="Jain's index",
        measure=_of("flows.jain_index"),
        better="higher",
        by="difference",
        caution=0.05,
        failure=0.2,
        harmless=0.9,
        reason="ours: 0.9 is the index at which tailroom calls flows converged",
    ),
    Criterion(
        name="rtt_fairness",
        title="Fairness across RTTs",
        section="5.1.4",
        experiment="two_rtts",
        quantity="goodput ratio, 40 and 160 ms",
        measure=_ratio_of_rtts,
        better="lower",
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=4.0,
        reason="ours: 4 is the ratio of the RTTs, which Reno reaches or passes",
    ),
    Criterion(
        name="short_flows",
        title="Short flows beside it",
        section="5.1.5, 5.2.3",
        experiment="beside",
        quantity="completion time (ms)",
        measure=_of("groups.short.all_sizes.completion_time_s_mean", 1e3),
        better="lower",
        by="ratio",
        caution=1.25,
        failure=2.0,
        harmless=80.0,
        reason="ours: twice as long is noticed; two RTTs, 80 ms, are what 50 kB take at least",
    ),
    Criterion(
        name="harm_to_others",
        title="What Reno and CUBIC keep",
        section="5.2.1",
        experiment="mixed",
        quantity="their part of a fair share (%)",
        measure=_of("groups.other.goodput_bps", 100 * 2 / RATE_BPS),
        better="higher",
        by="ratio",
        caution=0.8,
        failure=0.5,
        harmless=90.0,
        reason="ours: half of what they keep beside one another is significant harm",
    ),
    Criterion(
        name="own_share",
        title="What it gets beside them",
        section="5.2.1",
        experiment="mixed",
        quantity="its part of a fair share (%)",
        measure=_of("groups.tested.goodput_bps", 100 * 2 / RATE_BPS),
        better="higher",
        by="ratio",
        caution=0.5,
        failure=0.1,
        harmless=90.0,
        reason="ours: a control that yields harms nobody, but who would deploy one that starves?",
    ),
    Criterion(
        name="real_time",
        title="A call beside it",
        section="5.2.2",
        experiment="beside",
        quantity="p99 queueing delay (ms)",
        measure=_of("groups.call.links.bottleneck.queue_delay_s_p99", 1e3),
        better="lower",
        by="ratio",
        caution=1.25,
        failure=2.0,
        harmless=20.0,
        reason="ours: half of the RTT of 40 ms is what a call may wait in any case",
    ),
    Criterion(
        name="utilization",
        title="Tail-drop queues of any size",
        section="6.1",
        experiment="buffers",
        quantity="utilization (%)",
        measure=_UTILIZATION,
        better="higher",
        by="ratio",
        caution=0.9,
        failure=0.75,
        harmless=95.0,
        reason=_HALF,
    ),
    Criterion(
        name="paths",
        title="Rates and delays",
        section="6, 6.3",
        experiment="paths",
        quantity="utilization (%)",
        measure=_UTILIZATION,
        better="higher",
        by="ratio",
        caution=0.9,
        failure=0.75,
        harmless=95.0,
        reason=_HALF,
    ),
    Criterion(
        name="wireless",
        title="Losses that are no congestion",
        section="6.4",
        experiment="wireless",
        quantity="utilization (%)",
        measure=_UTILIZATION,
        better="higher",
        by="ratio",
        caution=0.8,
        failure=0.5,
        harmless=90.0,
        reason="ours: looser than elsewhere, as the references are bad at it",
    ),
    Criterion(
        name="aqm_utilization",
        title="Utilization under AQM",
        section="7.1",
        experiment="managed",
        quantity="utilization (%)",
        measure=_UTILIZATION,
        better="higher",
        by="ratio",
        caution=0.9,
        failure=0.75,
        harmless=95.0,
        reason=_HALF,
    ),
    Criterion(
        name="aqm_delay",
        title="Delay under AQM",
        section="7.1",
        experiment="managed",
        quantity="p99 queueing delay (ms)",
        measure=_of(f"{LINK}.queue_delay_s_p99", 1e3),
        better="lower",
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=15.0,
        reason="ours: 15 ms is the target of PIE (RFC 8033 sec. 4.2), where AQM does its work",
    ),
    Criterion(
        name="convergence",
        title="A flow that joins",
        section="7.8",
        experiment="joining",
        quantity="time until Jain's index is 0.9 (s)",
        measure=_convergence_s,
        better="lower",
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=5.0,
        reason="ours: 40 s, the rest of the run, stand for never",
    ),
)
