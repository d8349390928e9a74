"""Sources that a caller gives as classes, per group of flows."""

import difflib
from collections.abc import Callable, Iterable

from tailroom.arguments import check_mapping
from tailroom.errors import ScenarioError
from tailroom.scenario.custom_sources import Sources


def check_sources(sources: Sources | None, groups: Callable[[], Iterable[str]]) -> None:
    """Checks the argument `sources`.

    Args:
        sources: A class or another callable for each group by name.
        groups: Returns the names of the groups.

    Raises:
        ArgumentError: `sources` is not a mapping.
        ScenarioError: There is no such group, or a value is not callable.
    """
    check_mapping("sources", sources, '{"camera": MySource}')
    for name, source in (sources or {}).items():
        known = list(groups())
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"name one of {', '.join(known)}"
            raise ScenarioError(f"sources: there is no group of flows {name!r}; {hint}")
        if not callable(source):
            raise ScenarioError(
                f"sources: {name}: {source!r} is not a class or a function that makes a source; "
                f'give others as the value of flows.{name}.source in the argument "set"'
            )
