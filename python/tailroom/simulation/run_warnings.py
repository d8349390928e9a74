"""What runs warn of: each thing once, however many runs say it."""

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tailroom.errors import TailroomWarning

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning


def warning(kind: str, place: str, text: str, **values: float) -> "RunWarning":
    """A warning as the engine has them.

    Args:
        kind: What it is about.
        place: The keys of the scenario that it concerns; empty if none.
        text: The warning in words.
        values: Its measurements, by name.
    """
    return {"kind": kind, "place": place, "values": values, "text": text}


SEEDS_CHANGE_NOTHING = warning(
    "seeds_change_nothing",
    "",
    "runs with different seeds are the same, as the scenario draws nothing at random, so there are "
    "no confidence intervals; one seed suffices, or let flows start at random: "
    'start = { uniform = ["0 s", "1 s"] }',
)
"""Warning about a scenario without randomness."""


def once(found: Iterable["RunWarning"]) -> tuple["RunWarning", ...]:
    """The first warning of each kind and place: other seeds say the same with other numbers.

    Args:
        found: Warnings.
    """
    first: dict[tuple[str, str], RunWarning] = {}
    for one in found:
        first.setdefault((one["kind"], one["place"]), one)
    return tuple(first.values())


def with_names(
    named: Iterable[tuple[str, Iterable["RunWarning"]]],
) -> list[tuple["RunWarning", tuple[str, ...]]]:
    """The first warning of each kind and place, with the names of those whom it concerns.

    Args:
        named: Names, each with its warnings.
    """
    first: dict[tuple[str, str], RunWarning] = {}
    names: dict[tuple[str, str], list[str]] = {}
    for name, found in named:
        for one in found:
            key = (one["kind"], one["place"])
            first.setdefault(key, one)
            names.setdefault(key, []).append(name)
    return [(first[key], tuple(of_one)) for key, of_one in names.items()]


def warn(found: Sequence["RunWarning"], *, levels: int = 2) -> None:
    """Shows warnings as Python does, at the line of the caller's caller.

    Args:
        found: The warnings.
        levels: Calls between that line and this function.
    """
    for one in found:
        warnings.warn(one["text"], TailroomWarning, stacklevel=levels + 1)
