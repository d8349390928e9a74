"""A key of the scenario with its values: an axis of a curve or a sweep."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from math import exp, isfinite, log
from typing import Any

from tailroom.arguments import check_unicode
from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.quoting import quoted
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.toml_values import plain

MOST_POINTS = 10_000
"""Largest number of values of a key."""

_QUANTITY = re.compile(r"\s*([-+]?[0-9._]+(?:[eE][-+]?[0-9]+)?)\s*(.*?)\s*")
_RANGE_KEYS = ("from", "to", "points", "scale")
_HOW = (
    'give a list, as in ["10 packets", "100 packets"], or a range, as in '
    '{ from = "10 packets", to = "1000 packets", points = 9, scale = "log" }'
)


@with_field_docs
@dataclass(frozen=True)
class Axis:
    """A key of the scenario and its values, in the order in which they are drawn.

    Raises:
        ScenarioError: The key has blanks around its parts or control characters, or a value is a
            class or another Python object.
    """

    key: str
    """Dotted key of the scenario."""
    values: tuple[object, ...]
    """TOML values: text, numbers, tables; a number may stand for a quantity, as in a scenario built
    in Python."""
    is_text: bool = False
    """Whether a file or a command line has the values, whose quantities have units."""
    bare_unit: str = ""
    """Unit of the values if numbers or time spans are among them and texts have the same unit."""

    def __post_init__(self) -> None:
        # The engine would leave blanks out, and two spellings of a key would vary independently.
        parts = self.key.split(".")
        if not self.key.isprintable() or any(part != part.strip() for part in parts):
            raise ScenarioError(
                f"{self.key!a}: is not a dotted key; write it as in links.bottleneck.queue.limit"
            )
        if not self.bare_unit and all(isinstance(value, timedelta) for value in self.values):
            object.__setattr__(self, "bare_unit", "s")
        values = tuple(plain(self.key, value) for value in self.values)
        object.__setattr__(self, "values", values)

    def in_scenario(self, scenario: Scenario) -> "Axis":
        """Returns the axis with its key in full, and with the unit of its numbers.

        Args:
            scenario: The scenario of which it is a key.

        Raises:
            ScenarioError: A file or a command line gives a quantity without its unit, or several
                keys end with the axis' key.
        """
        key = scenario.full_key(self.key)
        numbers = [value for value in self.values if is_number(value)]
        unit = scenario.unit_of(key, numbers[0]) if numbers else ""
        if unit and self.is_text:
            number = f"{numbers[0]:.15g}"
            raise ScenarioError(
                f'{self.key}: {number} has no unit; write it with its unit, as in "{number} {unit}"'
            )
        if not unit:
            return replace(self, key=key)
        if replace(self, bare_unit=unit).numbers:
            return replace(self, key=key, bare_unit=unit)
        # A column of texts has no unit of its own.
        texts = (f"{value:.15g} {unit}" if is_number(value) else value for value in self.values)
        return replace(self, key=key, values=tuple(texts))

    @property
    def numbers(self) -> list[float] | None:
        """The values as numbers of a common unit; `None` if there are other values."""
        read = [quantity for value in self.values if (quantity := _quantity(value))]
        units = {unit or self.bare_unit for _, unit in read}
        if len(read) < len(self.values) or len(units) > 1:
            return None
        return [number for number, _ in read]

    @property
    def unit(self) -> str:
        """The unit of `numbers`; empty without a unit."""
        if self.bare_unit:
            return self.bare_unit
        first = _quantity(self.values[0])
        return first[1] if first and self.numbers is not None else ""


def axis(key: str, values: object, *, is_text: bool = False) -> Axis:
    """Reads the values of a key: a list of them, or a range with `from`, `to` and `points`.

    Args:
        key: Dotted key of the scenario.
        values: The values.
        is_text: Whether a file or a command line has the values.

    Raises:
        ScenarioError: There is no value, the range is wrong, or a value is a Python object.
    """
    if isinstance(values, Mapping):
        read: Sequence[object] = _range(key, values)
    elif isinstance(values, (list, tuple, range)):
        read = values
    elif hasattr(values, "tolist") and isinstance(values.tolist(), list):
        read = values.tolist()
    else:
        plain(key, values)
        raise ScenarioError(f"{key}: {quoted(repr(values))} is not a list of values; {_HOW}")
    if not read:
        raise ScenarioError(f"{key}: the list of values is empty; {_HOW}")
    if len(read) > MOST_POINTS:
        raise ScenarioError(f"{key}: {len(read)} values; at most {MOST_POINTS} are allowed")
    return Axis(key, tuple(read), is_text)


def axes_in_scenario(axes: Iterable[Axis], scenario: Scenario) -> dict[str, Axis]:
    """Returns axes by their keys in full, with the units of their numbers.

    Args:
        axes: The axes, whose keys may be ends of keys.
        scenario: The scenario of which they are keys.

    Raises:
        ScenarioError: Two axes have the same key, or one is wrong (`Axis.in_scenario`).
    """
    by_key: dict[str, Axis] = {}
    for one in axes:
        varied = one.in_scenario(scenario)
        if varied.key in by_key:
            raise ScenarioError(
                f"{one.key}: the values of {varied.key} are given twice; keep one of them"
            )
        by_key[varied.key] = varied
    return by_key


def values_by_key(table: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """The values of a `[sweep.grid]` by dotted key, in the order of the file.

    An unquoted dotted key in TOML makes tables within tables; a table with `from`, `to` or `points`
    is a range of values, and stays one.
    """
    values: dict[str, object] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and not {"from", "to", "points"} & set(value):
            values.update(values_by_key(value, f"{name}."))
        else:
            values[name] = value
    return values


def parse_axis(text: str) -> Axis:
    """Reads KEY=VALUES from the command line: a TOML list or table, or values between commas.

    Raises:
        ScenarioError: The text has another form, or `axis` refuses the values.
    """
    check_unicode(text, text)
    key, equals, values = (part.strip() for part in text.partition("="))
    if not (key and equals and values):
        raise ScenarioError(f"{text}: not KEY=VALUES; {_HOW}")
    try:
        return axis(key, tomllib.loads(f"values = {values}")["values"], is_text=True)
    except tomllib.TOMLDecodeError:
        if values[0] in "[{":
            raise ScenarioError(f"{key}: {values} is not TOML; {_HOW}") from None
    except ScenarioError:
        if values[0] in "[{":
            raise
    parts = [bare_value(value.strip()) for value in values.split(",") if value.strip()]
    return axis(key, parts, is_text=True)


def key_words(key: str) -> str:
    """Returns a key as a label: `links.core.queue.limit` is "buffer of core"."""
    parts = key.split(".")
    if is_buffer(key):
        return f"buffer of {parts[1]}"
    if parts[0] in ("links", "flows") and len(parts) > 2:
        return f"{' '.join(parts[2:])} of {parts[1]}".replace("_", " ")
    return " ".join(parts).replace("_", " ")


def is_buffer(key: str) -> bool:
    """Whether a key is the limit of a link's queue."""
    return key.startswith("links.") and key.endswith(".queue.limit")


def value_words(value: object, among: Sequence[object]) -> str:
    """Returns a value in few words: of a table its kind and its distinguishing parameters.

    The user's own control is named instead of its kind.

    Args:
        value: A value of the key.
        among: All values of the key; the words distinguish them.
    """
    if isinstance(value, Mapping) and "kind" in value:
        alike = [table for other in among if _kind(table := _as_table(other)) == _kind(value)]
        keys = [key for table in alike for key in table if key not in ("kind", "control")]
        differing = [
            key
            for key in dict.fromkeys(keys)
            if key in value and any(table.get(key) != value[key] for table in alike)
        ]
        words = (f"{key} {value_words(value[key], [value[key]])}" for key in differing)
        return " ".join([_kind(value), ", ".join(words)]).strip()
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {value_words(item, [item])}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return " to ".join(value_words(item, [item]) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def setting_words(settings: Mapping[str, object], axes: Mapping[str, Sequence[object]]) -> str:
    """Returns settings in one line, e.g. "links.core.queue = codel, flows.reno.count = 4".

    Args:
        settings: Values by key.
        axes: All values of each key.
    """
    return ", ".join(
        f"{key} = {value_words(value, axes.get(key, [value]))}" for key, value in settings.items()
    )


def headings(keys: Sequence[str]) -> list[str]:
    """Returns the last part of each key if it is unique; else the keys."""
    last = [key.rpartition(".")[2] for key in keys]
    return last if len(set(last)) == len(last) else list(keys)


def _as_table(value: object) -> Mapping[str, Any]:
    """Returns a table; for a word, the table of that kind."""
    if isinstance(value, Mapping):
        return value
    return {"kind": value} if isinstance(value, str) else {}


def _kind(table: Mapping[str, Any]) -> str:
    kind = str(table.get("kind", ""))
    named = table.get("control", table.get("discipline", kind))
    return str(named) if kind == "custom" else kind


def bare_value(text: str) -> object:
    """Parses a value of the command line: TOML if valid, else text."""
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value


def is_number(value: object) -> bool:
    """Whether a value is a number; a truth value is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number_of(value: object) -> float | None:
    """Returns the number of a value such as `"10 packets"` or 10; `None` for other values."""
    read = _quantity(value)
    return None if read is None else read[0]


def _quantity(value: object) -> tuple[float, str] | None:
    """Splits `"10 packets"` or a number into number and unit."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if not match:
        return None
    try:
        return float(match[1]), "packets" if match[2] == "packet" else match[2]
    except ValueError:
        return None


def _range(key: str, given: Mapping[str, Any]) -> list[object]:
    unknown = set(given) - set(_RANGE_KEYS)
    if unknown or not {"from", "to", "points"} <= set(given):
        raise ScenarioError(f"{key}: a range takes from, to, points and scale; {_HOW}")
    points, scale = given["points"], given.get("scale", "linear")
    if not (isinstance(points, int) and 2 <= points <= MOST_POINTS):
        raise ScenarioError(f"{key}: points = {points}; give a number from 2 to {MOST_POINTS}")
    if scale not in ("linear", "log"):
        raise ScenarioError(f'{key}: scale = "{scale}"; give "linear" or "log"')
    first, last = _quantity(given["from"]), _quantity(given["to"])
    if first is None or last is None or first[1] != last[1]:
        raise ScenarioError(f"{key}: from and to are not numbers with the same unit; {_HOW}")
    low, high, unit = first[0], last[0], first[1]
    if low == high or not isfinite(high - low) or (scale == "log" and min(low, high) <= 0):
        raise ScenarioError(
            f"{key}: no range from {low:g} to {high:g}; give different finite ends, positive on a "
            "logarithmic scale"
        )
    numbers = [_between(low, high, place / (points - 1), scale) for place in range(points)]
    whole = unit == "packets" or all(isinstance(given[end], int) for end in ("from", "to"))
    return _written(numbers, unit, whole)


def _between(low: float, high: float, part: float, scale: str) -> float:
    if part in (0, 1):
        return high if part else low
    if scale == "log":
        return exp(log(low) + (log(high) - log(low)) * part)
    return low + (high - low) * part


def _written(numbers: list[float], unit: str, whole: bool) -> list[object]:
    """Returns the numbers as scenario values; whole numbers without repetition."""
    if whole:
        rounded = dict.fromkeys(round(number) for number in numbers)
        return [f"{number} {unit}" if unit else number for number in rounded]
    # Six digits suffice for a range, and 0.3 stays 0.3.
    return [f"{number:.6g} {unit}" if unit else float(f"{number:.6g}") for number in numbers]
