"""Parameters of the user's own classes: quantities with units, and ranges."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailroom._engine import quantity
from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.quoting import quoted

_KINDS = {"s": ("duration", "5 ms"), "bps": ("rate", "10 Mbit/s"), "bytes": ("size", "15 kB")}
"""By the last word of a parameter's name, the quantity that it is, and an example."""


@with_field_docs
@dataclass(frozen=True)
class Range:
    """The numbers that a parameter of a class of your own may have.

    It stands in the annotation: `target_s: Annotated[float, tailroom.Range(0.001, 1)] = 0.005`.
    """

    least: float = float("-inf")
    """Smallest number that is allowed."""
    most: float = float("inf")
    """Largest number that is allowed."""

    def __str__(self) -> str:
        """The range in words."""
        bounds = [
            f"{word} {bound:g}"
            for word, bound in (("at least", self.least), ("at most", self.most))
            if abs(bound) != float("inf")
        ]
        return " and ".join(bounds) or "a finite number"


def read(name: str, factory: Any, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keyword arguments of a class, texts with units as numbers in SI units.

    A parameter whose name ends in `_s`, `_bps` or `_bytes` takes a time, a rate or a size as text,
    unless it is annotated as `str`.

    Args:
        name: Name of the class, for messages.
        factory: The class, or a function that makes objects.
        keywords: The arguments as in a scenario.

    Raises:
        ScenarioError: A text is no such quantity, or a number is outside its `Range`; two
            arguments, the problem and the remedy.
    """
    types = _annotations(factory)
    return {key: _read(name, key, value, types.get(key)) for key, value in keywords.items()}


def _annotations(factory: Any) -> dict[str, Any]:
    """The types of the parameters, as far as they can be known."""
    inner = getattr(factory, "func", factory)
    if inspect.isclass(inner):
        inner = inner.__init__
    try:
        return typing.get_type_hints(inner, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}


def _read(name: str, key: str, value: Any, kind: Any) -> Any:
    """Returns the value of a parameter.

    Raises:
        ScenarioError: The value is no such quantity, or outside its range.
    """
    plain, *more = typing.get_args(kind) if _is_annotated(kind) else (kind,)
    if isinstance(value, str) and plain is not str:
        value = _number(name, key, value, plain)
    for allowed in more:
        if isinstance(allowed, Range):
            _check_range(name, key, value, allowed)
    return value


def _is_annotated(kind: Any) -> bool:
    return typing.get_origin(kind) is typing.Annotated


def _number(name: str, key: str, text: str, kind: Any) -> Any:
    """Returns a text as a number, if the parameter is one.

    Raises:
        ScenarioError: The text is no quantity of its kind.
    """
    unit = key.rpartition("_")[2]
    if unit in _KINDS and key != unit:
        what, example = _KINDS[unit]
        try:
            number = quantity(what, text)
        except ScenarioError as error:
            raise ScenarioError(
                f'{name}: parameters.{key} is "{text}": {error}', f'write for example "{example}"'
            ) from None
        return int(number) if kind is int and number.is_integer() else number
    if kind in (int, float):
        raise ScenarioError(
            f'{name}: parameters.{key} is the text "{text}", and a number is expected',
            "write a number; a parameter takes units if its name ends in _s, _bps or _bytes",
        )
    return text


def _check_range(name: str, key: str, value: Any, allowed: Range) -> None:
    """Refuses a value outside its range.

    Raises:
        ScenarioError: It is outside, or no number.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and allowed.least <= value <= allowed.most and abs(value) != float("inf"):
        return
    problem = f"{quoted(name)}: parameters.{key} is {quoted(repr(value))}"
    raise ScenarioError(problem, f"give {allowed}")
