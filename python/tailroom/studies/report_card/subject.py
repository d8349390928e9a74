"""What a report card tests: a congestion control or a queue discipline, and how it is put in."""

import functools
import json
from collections.abc import Mapping
from typing import Any, cast

from tailroom import _engine
from tailroom.arguments import check_unicode
from tailroom.errors import ScenarioError
from tailroom.scenario.control_arguments import read_control
from tailroom.scenario.custom_controls import Control, OwnControls
from tailroom.scenario.custom_disciplines import RuleFactory, missing_method
from tailroom.scenario.named_values import nearest
from tailroom.scenario.queue_words import as_table
from tailroom.scenario.scenario import Scenario
from tailroom.studies.report_card import criteria, discipline_criteria
from tailroom.studies.report_card.card import LINK, Card, Experiment

QUEUE = f"{LINK}.queue"


def read_subject(subject: Control) -> tuple[Card, Control]:
    """Returns the card for a control or a discipline, and the control or discipline.

    Args:
        subject: A name as in a scenario (also "module:Class"), a table with a kind and its
            parameters (also as text), or a class.

    Raises:
        ScenarioError: There is no such component, or the value is not one.
        ControlError: The module of a class raised an exception.
    """
    read = read_control("evaluate", subject)
    if _is_discipline(read):
        return discipline_criteria.CARD, read
    return criteria.CARD, read


def _is_discipline(subject: Control) -> bool:
    if isinstance(subject, Mapping):
        name = str(subject["kind"])
        return "discipline" in subject if name == "custom" else _is_of_queue(name)
    if isinstance(subject, str):
        if ":" not in subject:
            return _is_of_queue(subject)
        try:
            return missing_method(OwnControls().load(subject)) is None
        except ScenarioError as error:
            raise ScenarioError(f"evaluate: {'; '.join(map(str, error.args))}") from None
    inner = subject.func if isinstance(subject, functools.partial) else subject
    return missing_method(inner) is None


def _is_of_queue(name: str) -> bool:
    """Whether the name is that of a discipline, and not that of a control.

    Raises:
        ScenarioError: It is neither.
    """
    check_unicode("evaluate", name)
    components = json.loads(_engine.components())
    controls, queues = (
        [component["kind"] for component in components[kind]] for kind in ("congestion", "queue")
    )
    if name not in controls and name not in queues:
        raise ScenarioError(
            f"evaluate: {name}: is neither a congestion control nor a queue discipline; "
            f"{nearest(name, [*controls, *queues])}"
        )
    return name in queues


def put_into(
    card: Card, experiment: Experiment, subject: Control, times: Mapping[str, object]
) -> Scenario:
    """Returns the scenario of an experiment with a control or discipline.

    Args:
        card: The card.
        experiment: The experiment.
        subject: The control of the groups that are tested, or the discipline of the bottleneck,
            whose limit is that of the experiment.
        times: Values that replace those of the scenario.

    Raises:
        ScenarioError: The parameters are wrong.
    """
    scenario: Any = experiment.scenario
    if card.subject == "control":
        return Scenario.of(scenario, times, dict.fromkeys(experiment.groups, subject))
    if callable(subject):
        name = LINK.partition(".")[2]
        return Scenario.of(scenario, times, disciplines={name: cast(RuleFactory, subject)})
    table = as_table(subject, None)
    limit = scenario["links"]["bottleneck"]["queue"]["limit"]
    return Scenario.of(
        scenario, {**times, QUEUE: {**cast(dict[str, object], table), "limit": limit}}
    )
