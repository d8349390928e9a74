"""Queue disciplines that a caller gives as classes, per link."""

from collections.abc import Callable, Mapping
from typing import Any

from tailroom.arguments import check_mapping
from tailroom.scenario.custom_disciplines import Disciplines
from tailroom.scenario.named_classes import check_named_class


def limits_of(
    disciplines: Disciplines | None, links: Callable[[], Mapping[str, Any]]
) -> dict[str, object]:
    """Returns the size of the buffer of each link that the argument `disciplines` names.

    Args:
        disciplines: A class or another callable for each link by name.
        links: Returns the resolved tables of the links.

    Raises:
        ArgumentError: `disciplines` is not a mapping.
        ScenarioError: There is no such link, or a value is not callable.
    """
    check_mapping("disciplines", disciplines, '{"bottleneck": MyRule}')
    limits = {}
    for name, rule in (disciplines or {}).items():
        known = links()
        remedy = f"name others as the value of links.{name}.queue"
        check_named_class("disciplines", name, rule, known, ("link", "queue discipline", remedy))
        limits[name] = known[name]["queue"]["limit"]
    return limits
