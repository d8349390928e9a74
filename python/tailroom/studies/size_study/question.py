"""What `size` is asked: a scenario, targets, and the link whose buffer is sought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike

from tailroom import models
from tailroom.errors import MetricError, ScenarioError, TargetError
from tailroom.models import Bottleneck
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.dumbbell import HOST, dumbbell
from tailroom.scenario.source import ScenarioSource
from tailroom.scenario.types import Scenario
from tailroom.simulation.metrics import expected_names, find_metric
from tailroom.studies.size_study.targets import Target, check_goals, parse_goal


@dataclass(frozen=True)
class Numbers:
    """A question without a scenario: long flows over one link."""

    rate: str | None = None
    rtt: str | None = None
    flows: int | Mapping[str, int] | None = None
    congestion: str | None = None
    duration: str | None = None
    host: str | None = None


def asked_scenario(
    scenario: str | PathLike[str] | Scenario | None, numbers: Numbers
) -> str | PathLike[str] | Scenario:
    """The scenario that is given, or that the numbers describe.

    Raises:
        ScenarioError: Both are given, or neither is, or a number is wrong.
    """
    if scenario is not None:
        if numbers != Numbers():
            raise ScenarioError(
                "rate, rtt, flows, congestion, duration and host go without a scenario; replace "
                "the values of one with set"
            )
        return scenario
    if numbers.rate is None or numbers.rtt is None:
        raise ScenarioError("give a scenario, or rate and rtt")
    flows = 1 if numbers.flows is None else numbers.flows
    return dumbbell(
        numbers.rate,
        numbers.rtt,
        flows,
        numbers.congestion,
        duration=numbers.duration,
        host=numbers.host or HOST,
    )


@dataclass(frozen=True)
class Question:
    """A scenario, targets, and the link whose buffer is sought."""

    source: ScenarioSource
    goals: tuple[Target, ...]
    """With metrics that name one thing only."""
    link: Bottleneck
    link_chosen: str
    """Why this link; empty where there is no other, or it was named."""


def read_question(
    scenario: str | PathLike[str] | Scenario,
    targets: Sequence[str | Target],
    link: str | None,
    overrides: Mapping[str, object],
    controls: Mapping[str, str | ControlFactory] | None,
) -> Question:
    """Reads the scenario and the targets, and finds the link that is meant.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link.
        TargetError: A target is malformed or impossible, two contradict one another, or they name
            several links.
        MetricError: There is no such metric.
    """
    goals = [parse_goal(one) if isinstance(one, str) else one for one in targets]
    check_goals(goals)
    source = ScenarioSource.of(scenario, overrides, controls)
    if link is not None:
        models.read_bottleneck(source, link)  # There may be no such link.
    known = expected_names(source)
    if known is not None:
        goals = [_named_in_full(goal, known, link) for goal in goals]
    full = [goal.metric if known is None else find_metric(goal.metric, known) for goal in goals]
    check_goals([replace(goal, metric=name) for goal, name in zip(goals, full, strict=True)])
    sought, why = _sought_link(source, full, link)
    return Question(source, tuple(goals), models.read_bottleneck(source, sought), why)


def _named_in_full(goal: Target, known: Sequence[str], link: str | None) -> Target:
    """A target whose metric several links have means the link whose buffer is sought."""
    try:
        find_metric(goal.metric, known)
    except MetricError:
        full = f"links.{link}.{goal.metric}"
        if link is None or full not in known:
            raise
        return replace(goal, metric=f"{link}.{goal.metric}")
    return goal


def _sought_link(
    source: ScenarioSource, metrics: Sequence[str], link: str | None
) -> tuple[str | None, str]:
    """The link whose buffer is sought, and why if somebody else would choose another one."""
    crossed = models.crossed_links(source)
    if link is not None or len(crossed) == 1:
        return link or crossed[0], ""
    named = dict.fromkeys(name for metric in metrics if (name := _link_of(metric)))
    if len(named) > 1:
        raise TargetError(
            f"the targets name several links: {', '.join(named)}; choose the link whose buffer is "
            f"sought with --link {next(iter(named))} (in Python: link)"
        )
    if named:
        return next(iter(named)), ""
    busiest = models.read_bottleneck(source).name
    others = ", ".join(name for name in crossed if name != busiest)
    return busiest, (
        "the targets name no link, and this one is the slowest that carries flows; choose another "
        f"one ({others}) with --link NAME (in Python: link)"
    )


def _link_of(metric: str) -> str | None:
    """The link that a metric's full name speaks of: `links.X.M` or `groups.G.links.X.M`."""
    parts = metric.split(".")
    return parts[parts.index("links") + 1] if "links" in parts[:-2] else None
