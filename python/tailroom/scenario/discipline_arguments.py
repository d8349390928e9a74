"""Queue disciplines that a caller gives as classes, per link."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from tailroom.arguments import check_mapping
from tailroom.errors import ScenarioError
from tailroom.scenario.custom_disciplines import Disciplines


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
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"name one of {', '.join(known)}"
            raise ScenarioError(f"disciplines: there is no link {name!r}; {hint}")
        if not callable(rule):
            raise ScenarioError(
                f"disciplines: {name}: {rule!r} is not a class or a function that makes a queue "
                f'discipline; name others as the value of links.{name}.queue in the argument "set"'
            )
        limits[name] = known[name]["queue"]["limit"]
    return limits
