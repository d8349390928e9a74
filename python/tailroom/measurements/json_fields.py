"""Typed values of JSON objects that other tools wrote."""

from collections.abc import Mapping
from typing import Any

from tailroom.errors import MeasurementError

_KINDS: dict[type, str] = {dict: "an object", list: "a list"}


def typed(found: object, key: str, kind: type, place: str = "", missing: Any = None) -> Any:
    """Returns the value of a key.

    Args:
        found: An object.
        key: The key.
        kind: `dict` or `list`.
        place: Place of the object in messages, with a dot at its end.
        missing: Value of a key that is not there.

    Raises:
        MeasurementError: The object is none, or the value is of another kind.
    """
    value = found.get(key, missing) if isinstance(found, Mapping) else None
    if not isinstance(value, kind):
        raise MeasurementError(
            f"{place}{key}: is not {_KINDS[kind]}; the file is damaged: measure again"
        )
    return value


def number(value: object, place: str, most: float, least: float = 0.0) -> float:
    """Returns a number of a file.

    Args:
        value: What stands in the file.
        place: Its place in messages.
        most: Largest plausible value.
        least: Smallest plausible value.

    Raises:
        MeasurementError: It is not a number from `least` to `most`.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:  # type: ignore[operator]
        raise MeasurementError(
            f"{place}: is not a number from {least:g} to {most:g}; the file is damaged: "
            "measure again"
        )
    return float(value)  # type: ignore[arg-type]
