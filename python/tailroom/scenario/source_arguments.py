"""Sources that a caller gives as classes, per group of flows."""

from collections.abc import Callable, Iterable

from tailroom.arguments import check_mapping
from tailroom.scenario.custom_sources import Sources
from tailroom.scenario.named_classes import check_named_class


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
        remedy = f"give others as the value of flows.{name}.source"
        words = ("group of flows", "source", remedy)
        check_named_class("sources", name, source, groups(), words)
