"""Values of a scenario as Python has them, and as TOML has them."""

import json
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any

from tailroom.errors import ScenarioError
from tailroom.quoting import argument_text, integer_text
from tailroom.scenario.custom_controls import is_control

_ARGUMENTS = {
    "congestion": "`congestion`",
    "control": "`congestion`",
    "queue": "`disciplines`",
    "discipline": "`disciplines`",
    "source": "`sources`",
}
"""The argument that takes the class, by the last part of the key that does not."""


def plain(place: str, value: object) -> Any:
    """Returns a value in the types that TOML has.

    A time span becomes text in seconds, a path becomes text, and numbers and arrays of NumPy become
    numbers and lists. Numbers keep their missing unit: the engine knows the unit of the key.

    Args:
        place: The key, for messages.
        value: The value.

    Raises:
        ScenarioError: The value, or one in it, has no counterpart in TOML.
    """
    if isinstance(value, (str, bool, int, float, date, datetime, time)):
        return value
    if isinstance(value, Mapping):
        return {key: plain(f"{place}.{key}", item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(place, item) for item in value]
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} s"
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "tolist"):
        return plain(place, value.tolist())
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, (Real, Decimal)):
        return float(value)
    if callable(value) or is_control(value):
        raise ScenarioError(_is_python(place, value))
    raise ScenarioError(
        f"{place}: {argument_text(value)} is of type {type(value).__name__}; use text, numbers, "
        "booleans, time spans, lists and dictionaries only"
    )


def inline(value: object) -> str:
    """Writes a plain value as inline TOML."""
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(str(key))} = {inline(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(inline(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        # TOML has no larger integers; as text, the key and its value are named.
        return str(value) if -(2**63) <= value < 2**63 else f'"{integer_text(value)}"'
    # A JSON string is a TOML string too.
    return json.dumps(value) if isinstance(value, str) else str(value)


def _is_python(place: str, value: object) -> str:
    """Returns the message about a class, a function or an object of a class of the user's own."""
    made = value if callable(value) else type(value)
    module, whole = getattr(made, "__module__", ""), getattr(made, "__qualname__", "")
    name = getattr(made, "__name__", type(made).__name__)
    can_be_named = isinstance(made, type) and module != "__main__" and "<" not in whole
    how = (
        f'name the class, as in "{module}:{whole}"'
        if can_be_named
        else 'put the class into a module, and name it, as in "mymodule:MyControl"'
    )
    return (
        f"{place}: {name} is a Python object, and a value of a scenario is text, a number, a "
        f"boolean, a list or a table; {how}, or give the class in the argument "
        f"{_ARGUMENTS.get(place.rpartition('.')[2], '`congestion`, `disciplines` or `sources`')}"
    )
