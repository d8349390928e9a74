"""The criteria of RFC 9743 for a congestion control, and the experiments that measure them.

The RFC names the criteria but gives no thresholds (sec. 5); the thresholds are tailroom's. At each
point of an experiment, a control is compared with the worse of the references, Reno and CUBIC: it
may be better by any amount, and worse by a limited amount. A verdict requires that the 95 %
confidence interval lies on one side of the threshold; otherwise the verdict is undecided.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any, Literal, TypedDict

from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import axis, values_by_key
from tailroom.scenario.shipped import SCENARIOS
from tailroom.simulation.metric_catalogue import Better, metric_of

REFERENCES = ("reno", "cubic")
"""The standards that RFC 9743 names (RFC 5681, RFC 9438)."""

Metrics = Mapping[str, float | None]
"""The metrics of a run by their full names."""
Measure = Callable[[Metrics], float | None]
"""A function from the metrics of a run to a quantity; `None` if it is undefined."""

LINK = "links.bottleneck"
LIMIT = f"{LINK}.queue.limit"
RATE_BPS = 40e6
JOINS_AT_S = 20
LONGEST_S = 60


SCENARIOS_OF_CARD = SCENARIOS / "rfc-9743"
"""The scenarios of the experiments, each with the grid of its points in `[sweep.grid]`."""
TITLE_PREFIX = "Report card: "
"""Prefix of the titles of these scenarios."""


@with_field_docs
@dataclass(frozen=True)
class Experiment:
    """A shipped scenario at the points of its grid."""

    name: str
    """Name of the file in `scenarios/rfc-9743`, without suffix."""
    quick: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Values of the grid that a quick card uses, by key; all values of other keys."""
    groups: tuple[str, ...] = ("tested",)
    """Groups of flows that get the control."""
    is_long: bool = False
    """Whether a quick card needs the whole duration too."""

    @cached_property
    def _written(self) -> dict[str, Any]:
        return tomllib.loads((SCENARIOS_OF_CARD / f"{self.name}.toml").read_text(encoding="utf-8"))

    @property
    def title(self) -> str:
        """The title of the scenario."""
        return str(self._written["title"])

    @property
    def shows(self) -> str:
        """The title without the prefix that all experiments share."""
        return self.title.removeprefix(TITLE_PREFIX)

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario without its sweep."""
        return {key: value for key, value in self._written.items() if key != "sweep"}

    @property
    def axes(self) -> dict[str, tuple[object, ...]]:
        """Keys with their values, in the order of the file."""
        grid = values_by_key(self._written["sweep"]["grid"])
        return {key: axis(key, values).values for key, values in grid.items()}


@with_field_docs
@dataclass(frozen=True)
class Criterion:
    """A criterion of RFC 9743 with tailroom's thresholds."""

    name: str
    """Name of the criterion, by which a report card finds it."""
    title: str
    """The criterion in a few words."""
    section: str
    """Section of RFC 9743."""
    experiment: str
    """Name of the experiment."""
    quantity: str
    """The measured quantity with its unit."""
    measure: Measure
    """Function from the metrics of a run to the quantity in this unit."""
    better: Better
    """Whether higher or lower values are better."""
    by: Literal["ratio", "difference"]
    """How the control is compared with the worse reference."""
    caution: float
    """Threshold of the ratio or difference: significantly worse values give caution."""
    failure: float
    """Threshold of the ratio or difference: significantly worse values fail."""
    harmless: float
    """Threshold of the quantity: values at least this good pass for any references."""
    reason: str
    """Source of the thresholds."""
    metric: str = ""
    """Full name of the metric; empty if the quantity is computed from several metrics."""
    highest: float = inf
    """Largest possible value of the quantity in its unit."""


EXPERIMENTS = (
    Experiment("buffers", {LIMIT: ("0.1 bdp", "0.5 bdp", "2 bdp")}),
    Experiment("heavy_loss", {f"{LINK}.loss": ({"kind": "bernoulli", "probability": 0.3},)}),
    Experiment("alike"),
    Experiment("two_rtts", {LIMIT: ("1 bdp",)}, groups=("near", "far")),
    Experiment("joining", {LIMIT: ("1 bdp",)}, groups=("first", "second"), is_long=True),
    Experiment("mixed", {LIMIT: ("1 bdp",)}),
    Experiment("beside", {LIMIT: ("1 bdp",)}),
    Experiment("paths", {f"{LINK}.rate": ("10 Mbit/s",)}),
    Experiment("wireless", {f"{LINK}.loss": ({"kind": "bernoulli", "probability": 1e-3},)}),
    Experiment("managed"),
)


def _of(metric: str, scale: float = 1.0) -> Measure:
    def measure(run: Metrics) -> float | None:
        value = run.get(metric)
        return None if value is None else scale * value

    return measure


class _Measured(TypedDict):
    """The fields of a criterion that the catalogue of metrics determines."""

    metric: str
    quantity: str
    measure: Measure
    better: Better
    highest: float


def _catalogued(metric: str, label: str = "") -> _Measured:
    """A metric in the unit and under the label of its axis; `label` replaces the label.

    Raises:
        ValueError: The catalogue of metrics does not state which values are better.
    """
    known = metric_of(metric)
    if known.better is None:
        raise ValueError(f"{metric}: the catalogue of metrics does not state which is better")
    quantity = f"{label or known.label}{known.unit.on_axis}"
    measure = _of(metric, known.unit.scale)
    return {
        "metric": metric,
        "quantity": quantity,
        "measure": measure,
        "better": known.better,
        "highest": inf if known.highest is None else known.highest * known.unit.scale,
    }


def _ratio_of_rtts(run: Metrics) -> float | None:
    """The larger goodput divided by the smaller; `None` if one of them is 0."""
    near, far = run["groups.near.goodput_bps"], run["groups.far.goodput_bps"]
    if not near or not far:
        return None
    return max(near / far, far / near)


def _convergence_s(run: Metrics) -> float | None:
    """The convergence time in seconds; the rest of the run if the flows do not converge."""
    time_s = run["convergence_time_s"]
    return LONGEST_S - JOINS_AT_S if time_s is None else time_s


UTILIZATION = f"{LINK}.utilization"
FAIRNESS = "flows.jain_index"
_REASON_UTILIZATION = (
    "ours: other constants may reduce utilization by a tenth, but not by a quarter"
)

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
        reason="RFC 9743 requires one packet per RTT or less at heavy loss; the ratios are ours",
    ),
    Criterion(
        name="bufferbloat",
        title="Protection against bufferbloat",
        section="5.1.2",
        experiment="buffers",
        **_catalogued(f"{LINK}.queue_delay_s_mean"),
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
        experiment="buffers",
        **_catalogued(f"{LINK}.loss_fraction"),
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
        experiment="alike",
        metric=FAIRNESS,
        quantity=metric_of(FAIRNESS).unit.axis,
        measure=_of(FAIRNESS),
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
        experiment="two_rtts",
        quantity="goodput ratio, 40 and 160 ms",
        measure=_ratio_of_rtts,
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
        experiment="beside",
        **_catalogued("groups.short.all_sizes.completion_time_s_mean", "completion time"),
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
        experiment="mixed",
        quantity="goodput over fair share (%)",
        measure=_of("groups.other.goodput_bps", 100 * 2 / RATE_BPS),
        better="higher",
        by="ratio",
        caution=0.8,
        failure=0.5,
        harmless=90.0,
        reason="ours: half of the goodput that they have beside each other is significant harm",
    ),
    Criterion(
        name="own_share",
        title="Share beside Reno and CUBIC",
        section="5.2.1",
        experiment="mixed",
        quantity="goodput over fair share (%)",
        measure=_of("groups.tested.goodput_bps", 100 * 2 / RATE_BPS),
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
        experiment="beside",
        **_catalogued("groups.call.links.bottleneck.queue_delay_s_p99"),
        by="ratio",
        caution=1.25,
        failure=2.0,
        harmless=20.0,
        reason="ours: a queueing delay of half the RTT of 40 ms is acceptable for a call",
    ),
    Criterion(
        name="utilization",
        title="Tail-drop queues of any size",
        section="6.1",
        experiment="buffers",
        **_catalogued(UTILIZATION),
        by="ratio",
        caution=0.9,
        failure=0.75,
        harmless=95.0,
        reason=_REASON_UTILIZATION,
    ),
    Criterion(
        name="paths",
        title="Rates and delays",
        section="6, 6.3",
        experiment="paths",
        **_catalogued(UTILIZATION),
        by="ratio",
        caution=0.9,
        failure=0.75,
        harmless=95.0,
        reason=_REASON_UTILIZATION,
    ),
    Criterion(
        name="wireless",
        title="Losses without congestion",
        section="6.4",
        experiment="wireless",
        **_catalogued(UTILIZATION),
        by="ratio",
        caution=0.8,
        failure=0.5,
        harmless=90.0,
        reason="ours: looser than elsewhere, as the references perform badly here",
    ),
    Criterion(
        name="aqm_utilization",
        title="Utilization under AQM",
        section="7.1",
        experiment="managed",
        **_catalogued(UTILIZATION),
        by="ratio",
        caution=0.9,
        failure=0.75,
        harmless=95.0,
        reason=_REASON_UTILIZATION,
    ),
    Criterion(
        name="aqm_delay",
        title="Delay under AQM",
        section="7.1",
        experiment="managed",
        **_catalogued(f"{LINK}.queue_delay_s_p99"),
        by="ratio",
        caution=1.5,
        failure=3.0,
        harmless=15.0,
        reason="ours: 15 ms is the target of PIE (RFC 8033 sec. 4.2)",
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
        reason="ours: flows that do not converge count as 40 s, the rest of the run",
    ),
)
