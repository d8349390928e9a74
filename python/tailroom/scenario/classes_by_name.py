"""Classes in a scenario that is built in Python, and the names that stand for them in its text."""

from collections.abc import Mapping
from typing import Any

from tailroom.scenario.custom_controls import OwnControls


def with_names_of_classes(scenario: Mapping[str, Any], controls: OwnControls) -> dict[str, Any]:
    """Returns the scenario with a name instead of each class of controls, disciplines or sources.

    Args:
        scenario: A scenario built in Python.
        controls: Registers the classes.
    """
    document = dict(scenario)
    flows = document.get("flows")
    if isinstance(flows, Mapping):
        document["flows"] = {
            name: _with_names(group, controls) if isinstance(group, Mapping) else group
            for name, group in flows.items()
        }
    links = document.get("links")
    if isinstance(links, Mapping):
        document["links"] = {
            name: {**link, "queue": controls.give_discipline(link["queue"])}
            if isinstance(link, Mapping) and callable(link.get("queue"))
            else link
            for name, link in links.items()
        }
    return document


def _with_names(group: Mapping[str, Any], controls: OwnControls) -> dict[str, Any]:
    named = dict(group)
    if callable(group.get("congestion")):
        named["congestion"] = controls.give(group["congestion"])
    source = group.get("source")
    if isinstance(source, Mapping) and callable(source.get("source")):
        named["source"] = controls.give_source(source)
    return named
