"""What RFC 9743 asks of a congestion control, as experiments and criteria.

The RFC says what to look at and gives no thresholds (sec. 5); the numbers here are ours. A control
is held against the worst of the references, Reno and CUBIC, at each point of an experiment: it may
be better in any way, and worse by so much. A threshold decides only where the 95 % confidence
interval lies on one side of it; otherwise the verdict is undecided.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypedDict

from tailroom.scenario.axis import axis, values_by_key
from tailroom.scenario.shipped import SCENARIOS
from tailroom.simulation.metric_catalogue import Better, metric_of

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


SCENARIOS_OF_CARD = SCENARIOS / "rfc-9743"
"""The scenarios of the experiments, each with the grid of its points in `[sweep.grid]`."""
TITLE_PREFIX = "Report card: "
"""Of the titles of these scenarios."""


@dataclass(frozen=True)
class Experiment:
    """A shipped scenario at the points of its grid."""

    name: str
    """Of its file in `scenarios/rfc-9743`."""
    quick: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Values, among those of the grid, that suffice for a quick card."""
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
        """What the experiment is, in a few words."""
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
    better: Better
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
    metric: str = ""
    """The metric that the quantity is; empty if it is computed from metrics."""


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
    """What the catalogue of metrics says of a criterion."""

    metric: str
    quantity: str
    measure: Measure
    better: Better


def _catalogued(metric: str, label: str = "") -> _Measured:
    """A metric in the unit of its axis, under the label of its axis unless another is given."""
    known = metric_of(metric)
    if known.better is None:
        raise ValueError(f"{metric}: the catalogue does not say which values are better")
    quantity = f"{label or known.label}{known.unit.on_axis}"
    measure = _of(metric, known.unit.scale)
    return {"metric": metric, "quantity": quantity, "measure": measure, "better": known.better}


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


UTILIZATION = f"{LINK}.utilization"
FAIRNESS = "flows.jain_index"
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
        **_catalogued(f"{LINK}.queue_delay_s_mean"),
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
        **_catalogued(f"{LINK}.loss_fraction"),
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
        metric=FAIRNESS,
        quantity=metric_of(FAIRNESS).unit.axis,
        measure=_of(FAIRNESS),
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
        **_catalogued("groups.short.all_sizes.completion_time_s_mean", "completion time"),
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
        **_catalogued("groups.call.links.bottleneck.queue_delay_s_p99"),
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
        **_catalogued(UTILIZATION),
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
        **_catalogued(UTILIZATION),
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
        **_catalogued(UTILIZATION),
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
        **_catalogued(UTILIZATION),
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
        **_catalogued(f"{LINK}.queue_delay_s_p99"),
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
