"""Strategies for sweeps: grids and `together` over the keys of a generated scenario."""

import copy
from typing import Any

from hypothesis import strategies as st

from tests.hostile.from_schema import EXTREME, USUAL, Draw
from tests.hostile.scenarios import EXTREMES, Scenario, usual_scenarios

MOST_KEYS = 3
"""Keys of a grid or of `together`."""
QUANTITIES = tuple(text for texts in (*USUAL.values(), *EXTREME.values()) for text in texts)
NO_KEYS = (
    "", ".", "..", "seed", "sweep.seeds", "links", "links.a", "links.a.", "links.a..rate",
    "links.a.rate.x", "links.z.rate", "memory_limit", ".".join("a" * 33), ".".join("a" * 40_000),
    "x" * 10_001, "é", "\x1b[31m", "\u202e", 'links."a".rate', "links.a.queue.\nlimit", "[links]",
)  # fmt: skip
"""Keys that nobody varies."""
NO_RANGES: tuple[Any, ...] = (
    {"from": "1 packet", "to": "1e400 packets", "points": 3},
    {"from": "1 packets", "to": "1e400 packets", "points": 3, "scale": "log"},
    {"from": "-1e400 packets", "to": "1e400 packets", "points": 2, "scale": "log"},
    {"from": float("nan"), "to": 1, "points": 2},
    {"from": float("-inf"), "to": float("inf"), "points": 3},
    {"from": -1e308, "to": 1e308, "points": 9},
    {"from": -(2**63), "to": 2**63 - 1, "points": 10_000},
    {"from": "1 ms", "to": "2 s", "points": 2},
    {"from": 1, "to": 2, "points": 10_001},
    {"from": 1, "to": 2, "points": True},
    {"from": 1, "to": 2, "points": 2.5},
    {"from": 0, "to": 2, "points": 2, "scale": "log"},
    {"from": 1, "to": 2, "points": 2, "scale": []},
    {"from": {}, "to": [], "points": 2},
    {"from": 1},
)
"""Ranges that have broken something, or nearly."""


@st.composite
def sweeps(draw: Draw) -> Scenario:
    """Usual scenarios with a `[sweep]`, of which some run."""
    scenario: Scenario = copy.deepcopy(draw(usual_scenarios()))
    values = dict(_values_by_key(scenario))
    table: Scenario = {"seeds": draw(st.sampled_from((*[1] * 12, 2, 2, 0, -1, 2**63 - 1)))}
    for part in draw(st.sampled_from((["grid"], ["together"], ["grid", "together"]))):
        table[part] = dict(_axis(draw, values) for _ in range(draw(st.integers(1, MOST_KEYS))))
    if draw(st.integers(0, 9)) == 5:
        table["phase_check"] = True
    scenario["sweep"] = table
    return scenario


def _values_by_key(table: Scenario, prefix: str = "") -> list[tuple[str, Any]]:
    """The values of a scenario by dotted key, tables included."""
    found = []
    for key, value in table.items():
        found.append((f"{prefix}{key}", value))
        if isinstance(value, dict):
            found += _values_by_key(value, f"{prefix}{key}.")
    return found


def _axis(draw: Draw, values: Scenario) -> tuple[str, Any]:
    """Draws a key and its values: mostly those that the scenario has, and one like them."""
    kind = draw(st.sampled_from((*["usual"] * 8, "key", "value", "quantity", "values", "range")))
    key = draw(st.sampled_from(NO_KEYS if kind == "key" else sorted(values)))
    if kind == "values":
        return key, copy.deepcopy(draw(st.sampled_from(EXTREMES)))
    if kind == "range":
        return key, draw(st.sampled_from(NO_RANGES))
    given = values.get(key, 1)
    others = {"value": EXTREMES, "quantity": QUANTITIES}.get(kind, _like(given))
    return key, copy.deepcopy(
        [given, *draw(st.sampled_from([(), *((other,) for other in others)]))]
    )


def _like(value: Any) -> tuple[Any, ...]:
    """Other usual values of the same kind."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value + 1,)
    usual = next((texts for texts in USUAL.values() if value in texts), ())
    return tuple(text for text in usual if text != value)
