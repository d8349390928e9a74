"""Short names of keys: `limit` for `links.bottleneck.queue.limit`, where no other key ends so."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tailroom.errors import ScenarioError
from tailroom.scenario.axis import Axis, axis
from tailroom.scenario.source import ScenarioSource


def named_axes(given: Mapping[str, object], source: ScenarioSource) -> dict[str, Axis]:
    """Reads the axes that a caller gives, by their keys in full.

    Args:
        given: Values (a list, a range, or an `Axis`) by key, or by the end of a key.
        source: The scenario.

    Raises:
        ScenarioError: A name or its values are wrong, or two names mean the same key.
    """
    axes: dict[str, Axis] = {}
    for name, values in given.items():
        key = full_key(values.key if isinstance(values, Axis) else name, source)
        if key in axes:
            raise ScenarioError(f"{name}: the values of {key} are given twice; keep one of them")
        axes[key] = replace(values, key=key) if isinstance(values, Axis) else axis(key, values)
    return axes


def full_key(name: str, source: ScenarioSource) -> str:
    """Returns the key of a scenario that ends with a name.

    Args:
        name: The key in full, or its end. A name with which no key ends is returned as it is.
        source: The scenario.

    Raises:
        ScenarioError: The scenario is wrong, or several of its keys end with the name.
    """
    if name.startswith(("links.", "flows.")):
        return name
    keys = list(_keys(tomllib.loads(source.resolve(seed=None))))
    ending = [key for key in keys if key.endswith(f".{name}")]
    if name in keys or not ending:
        return name
    if len(ending) > 1:
        raise ScenarioError(f"{name}: several keys end with it; choose one of {', '.join(ending)}")
    return ending[0]


def _keys(table: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    for name, value in table.items():
        yield f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{name}.")
