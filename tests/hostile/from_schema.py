"""Values that a JSON schema allows, each drawn by Hypothesis so that it shrinks.

A value is usual, so that most scenarios run, or, now and then, as extreme as the schema allows.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

USUAL = {
    "positive_duration": ("10 ms", "1 ms", "300 us", "20 ms", "0.1 s", "7.5 ms"),
    "duration": ("0 s", "1 ms", "10 ms", "0.3 ms", "20 ms"),
    "rate": ("10 Mbit/s", "1 Mbit/s", "100 kbit/s", "30 Mbit/s", "100 Mbit/s"),
    "rate_or_zero": ("1 Mbit/s", "0 bit/s", "20 Mbit/s"),
    "size": ("1000 B", "100 B", "1500 B", "576 B", "10 kB", "64 KiB", "300 kB"),
    "size_or_zero": ("0 B", "1000 B", "10 kB"),
    "queue_limit": ("20 packets", "5 packets", "50 packets", "200 packets", "1000 packets",
                    "1 bdp", "20 ms", "30 kB"),
}  # fmt: skip
"""Values of quantities with which a run is short."""

EXTREME = {
    "positive_duration": ("1 ps", "1 ns", "999999999999 ps", "720 h", "0 s", "1e-12 s", "1e18 s"),
    "duration": ("0 s", "1 ps", "720 h", "999999999999 ps", "1e-400 s", "1e400 s"),
    "rate": ("1 bit/s", "100 Tbit/s", "7 bit/s", "0 bit/s", "0.5 bit/s", "1.4999999999999 bit/s"),
    "rate_or_zero": ("0 bit/s", "1 bit/s", "100 Tbit/s"),
    "size": ("1 B", "0 B", "2 B", "40 B", "41 B", "65535 B", "1e15 B", "18446744073709551616 B"),
    "size_or_zero": ("0 B", "1 B", "1e15 B"),
    "queue_limit": ("0 packets", "1e12 packets", "1e15 B", "1 B", "999 B", "720 h", "1 ps",
                    "0 bdp", "1e-9 bdp", "1e9 bdp", "0.5 packets"),
}  # fmt: skip
"""Values of quantities that have broken something, or nearly."""

RANGES = {
    "positive_duration": ["1 ms", "20 ms"],
    "duration": ["0 s", "10 ms"],
    "rate": ["1 Mbit/s", "10 Mbit/s"],
    "size": ["100 B", "10 kB"],
}
"""Usual lower and upper bounds of quantities."""

QUANTITY = "x-quantity"
"""Keyword of the schema for texts with a unit."""
FEWEST_ITEMS = 1
MOST_ITEMS = 3
"""Lengths of lists where the schema allows more."""
USUALLY_AT_MOST = 1_000
"""Numbers without a smaller maximum."""
MIDDLE = 37
"""Extreme values are chosen by percentages from here on."""
STEPS = 1_000
"""Usual numbers that are not whole divide the allowed range into so many steps."""
ONE_IN = 4
"""One in this many optional keys is given."""

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class Values:
    """Draws values of the parts of a schema."""

    draw: Draw
    """Draws from a strategy."""
    definitions: Mapping[str, Any]
    """The definitions (`$defs`) of the schema."""
    texts: Mapping[str, tuple[str, ...]]
    """Texts by the key whose values they are; the schema does not know names and paths."""
    extremes: int = 0
    """Percentage of values that are extreme."""

    def of(self, schema: Mapping[str, Any], key: str = "") -> Any:
        """Draws a value.

        Args:
            schema: The part of the schema.
            key: The key whose value it is.
        """
        if "$ref" in schema:
            return self.of(self.definitions[schema["$ref"].rsplit("/", 1)[-1]], key)
        if QUANTITY in schema:
            return self._one_of(USUAL[schema[QUANTITY]], EXTREME[schema[QUANTITY]])
        for alternatives in (schema.get("oneOf"), schema.get("anyOf")):
            if alternatives:
                fitting = [one for one in alternatives if key == "size" or not _gives_sizes(one)]
                return self.of(self.draw(st.sampled_from(fitting)), key)
        if "const" in schema:
            return schema["const"]
        make: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
            "object": self._table,
            "array": self._list,
            "integer": self._number,
            "number": self._number,
            "boolean": lambda _schema, _key: self.draw(st.booleans()),
            "string": self._text,
        }
        return make[schema["type"]](schema, key)

    def is_extreme(self) -> bool:
        """Draws whether the next value is extreme."""
        # Not from an end of the range, which Hypothesis draws more often.
        drawn = self.draw(st.integers(0, 99)) if self.extremes else 0
        return bool(MIDDLE <= drawn < MIDDLE + self.extremes)

    def rarely(self, one_in: int) -> bool:
        """Draws whether something unusual is done.

        Args:
            one_in: How rarely, at least 3.
        """
        # Not an end of the range, which Hypothesis draws more often.
        return bool(self.draw(st.integers(0, one_in - 1)) == one_in // 2)

    def _one_of(self, usual: tuple[Any, ...], extreme: tuple[Any, ...]) -> Any:
        return self.draw(st.sampled_from(extreme if self.is_extreme() else usual))

    def _table(self, schema: Mapping[str, Any], _key: str) -> dict[str, Any]:
        required, parts = schema.get("required", ()), schema.get("properties", {})
        table = {
            key: self.of(part, key)
            for key, part in parts.items()
            if key in required or self.rarely(ONE_IN)
        }
        for low, high in (("from", "to"), ("min", "max")):
            if {low, high} <= table.keys() and not self.is_extreme():
                table[low], table[high] = self._range(parts[low])
        if {"values", "weights"} <= table.keys() and not self.is_extreme():
            table["values"], table["weights"] = self._range(parts["values"]["items"]), [1, 2]
        return table

    def _range(self, schema: Mapping[str, Any]) -> list[Any]:
        """A lower and an upper bound, of which a schema does not know that they have an order."""
        definition = self.definitions[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else {}
        return [*RANGES.get(definition.get(QUANTITY, ""), [1, 5])]

    def _list(self, schema: Mapping[str, Any], key: str) -> list[Any]:
        if key == "uniform" and not self.is_extreme():
            return self._range(schema["items"])
        fewest = max(schema.get("minItems", 0), FEWEST_ITEMS)
        most = max(fewest, min(schema.get("maxItems", MOST_ITEMS), MOST_ITEMS))
        length = self.draw(st.integers(fewest, most))
        return [self.of(schema["items"], key) for _ in range(length)]

    def _text(self, _schema: Mapping[str, Any], key: str) -> str:
        return str(self.draw(st.sampled_from(self.texts.get(key, ("text",)))))

    def _number(self, schema: Mapping[str, Any], _key: str) -> float:
        whole = schema["type"] == "integer"
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        most = schema.get("maximum", schema.get("exclusiveMaximum", math.inf))
        if self.is_extreme():
            step = 1 if whole else 1e-12
            largest = 2**63 - 1 if whole else 1e308
            ends = (least, least + step, least - step, min(most, largest), most / 2)
            value = self.draw(st.sampled_from([end for end in ends if math.isfinite(end)]))
            return int(value) if whole else float(value)
        top = most if most <= USUALLY_AT_MOST else max(least, USUALLY_AT_MOST)
        if whole:
            return int(self.draw(st.integers(int(least), int(top))))
        return float(least + (top - least) * self.draw(st.integers(1, STEPS - 1)) / STEPS)


def _gives_sizes(schema: Mapping[str, Any]) -> bool:
    """Whether these are the published sizes, which the engine refuses for a rate or a duration."""
    kind = schema.get("properties", {}).get("kind", {})
    return bool(kind.get("const") == "published")
