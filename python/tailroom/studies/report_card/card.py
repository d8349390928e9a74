"""What a report card consists of: experiments, criteria, and the references to compare with."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf
from typing import Any, Literal, TypedDict

from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import axis, values_by_key
from tailroom.scenario.shipped_scenarios import SCENARIOS
from tailroom.simulation.metric_catalogue import Better, metric_of

Metrics = Mapping[str, float | None]
"""The metrics of a run by their full names."""
Measure = Callable[[Metrics], float | None]
"""A function from the metrics of a run to a quantity; `None` if it is undefined."""
LINK = "links.bottleneck"
LIMIT = f"{LINK}.queue.limit"
TITLE_PREFIX = "Report card: "
"""Prefix of the titles of the scenarios."""
UTILIZATION = f"{LINK}.utilization"
REASON_UTILIZATION = "ours: other constants may reduce utilization by a tenth, but not by a quarter"


@with_field_docs
@dataclass(frozen=True)
class Experiment:
    """A shipped scenario at the points of its grid."""

    name: str
    """Name of the shipped scenario, such as `rfc-9743/buffers`."""
    quick: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Values of the grid that a quick card uses, by key; all values of other keys."""
    groups: tuple[str, ...] = ("tested",)
    """Groups of flows that get the control, on a card for controls."""
    is_long: bool = False
    """Whether a quick card needs the whole duration too."""

    @cached_property
    def _written(self) -> dict[str, Any]:
        return tomllib.loads((SCENARIOS / f"{self.name}.toml").read_text(encoding="utf-8"))

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
    """A criterion of an RFC with tailroom's thresholds."""

    name: str
    """Name of the criterion, by which a report card finds it."""
    title: str
    """The criterion in a few words."""
    section: str
    """Section of the RFC."""
    experiment: str
    """Name of the experiment."""
    quantity: str
    """The measured quantity with its unit."""
    measure: Measure
    """Function from the metrics of a run to the quantity in this unit."""
    better: Better
    """Whether higher or lower values are better."""
    by: Literal["ratio", "difference"]
    """How a value is compared with that of the worse reference."""
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


@with_field_docs
@dataclass(frozen=True)
class Card:
    """The experiments and criteria for one kind of component."""

    subject: Literal["control", "discipline"]
    """What is tested."""
    rfc: int
    """Number of the RFC that names the criteria."""
    references: tuple[str, ...]
    """Names of those whose worse value at a point is the reference."""
    also_measured: tuple[str, ...]
    """Names of others that are measured too."""
    experiments: tuple[Experiment, ...]
    """The experiments."""
    criteria: tuple[Criterion, ...]
    """The criteria."""

    @property
    def words(self) -> str:
        """What is tested, in words."""
        return {"control": "congestion control", "discipline": "queue discipline"}[self.subject]


def of_metric(metric: str, scale: float = 1.0) -> Measure:
    """Returns what measures a metric.

    Args:
        metric: Full name of the metric.
        scale: Factor of its values.
    """

    def measure(run: Metrics) -> float | None:
        value = run.get(metric)
        return None if value is None else scale * value

    return measure


def goodput_ratio(one: str, other: str) -> Measure:
    """Returns what divides the larger goodput of two groups by the smaller; `None` if one is 0.

    Args:
        one: Name of a group.
        other: Name of the other group.
    """

    def measure(run: Metrics) -> float | None:
        first, second = (run[f"groups.{group}.goodput_bps"] for group in (one, other))
        return max(first / second, second / first) if first and second else None

    return measure


class Measured(TypedDict):
    """The fields of a criterion that the catalogue of metrics determines."""

    metric: str
    quantity: str
    measure: Measure
    better: Better
    highest: float


def catalogued(metric: str, label: str = "") -> Measured:
    """Returns the fields of a criterion about a metric, in the unit of its axis.

    Args:
        metric: Full name of the metric.
        label: Replaces the label of its axis.

    Raises:
        ValueError: The catalogue of metrics does not state which values are better.
    """
    known = metric_of(metric)
    if known.better is None:
        raise ValueError(f"{metric}: the catalogue of metrics does not state which is better")
    quantity = f"{label or known.label}{known.unit.on_axis}"
    measure = of_metric(metric, known.unit.scale)
    return {
        "metric": metric,
        "quantity": quantity,
        "measure": measure,
        "better": known.better,
        "highest": inf if known.highest is None else known.highest * known.unit.scale,
    }


utilization = partial(
    Criterion,
    **catalogued(UTILIZATION),
    by="ratio",
    caution=0.9,
    failure=0.75,
    harmless=95.0,
    reason=REASON_UTILIZATION,
)
delay = partial(
    Criterion,
    **catalogued(f"{LINK}.queue_delay_s_p99"),
    by="ratio",
    caution=1.5,
    failure=3.0,
    harmless=15.0,
    reason="ours: 15 ms is the target of PIE (RFC 8033 sec. 4.2)",
)
