"""A paper: parts with studies, pictures and claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tailroom.reproduction.claim import Claim
from tailroom.reproduction.form import Form
from tailroom.reproduction.found import Found
from tailroom.scenario.types import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_names(of: str, names: Sequence[str]) -> None:
    """Raises ValueError if these names are not distinct, valid file names."""
    for name in names:
        if not name or name.startswith(".") or "/" in name:
            raise ValueError(
                f"{of}: {name!r} is not a file name; leave out slashes and leading dots"
            )
        if names.count(name) > 1:
            raise ValueError(f"{of}: the name {name!r} is used twice; give each its own name")


@dataclass(frozen=True)
class Study:
    """A sweep of one scenario."""

    name: str
    """Name of the study in its part."""
    scenario: str | Scenario
    """A shipped scenario ("barman-2004/figure-3.toml"), or a table as in such a file."""
    grid: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys with their values, every combination a point; before the scenario's own `[sweep]`."""
    together: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys whose values vary together, row by row."""
    set: Mapping[str, object] = field(default_factory=dict)
    """Values that replace those of the scenario in every run."""
    seeds: int = 5
    keep: tuple[str, ...] = ()
    """Tables that are stored for every run, such as `flow_series`."""


@dataclass(frozen=True)
class Part:
    """A figure, a table, or a question that the paper leaves open."""

    name: str
    """Name for `--figure`: "3", "table-1", "sensitivity"."""
    title: str
    studies: Callable[[Form], Sequence[Study]]
    draw: "Callable[[Found], Figure]"
    claims: tuple[Claim, ...] = ()
    note: str = ""
    """Paragraphs for the report: the method, and the parameters that the paper does not state."""


@dataclass(frozen=True)
class Paper:
    """A paper whose figures, tables and claims are reproduced."""

    name: str
    title: str
    authors: str
    venue: str
    parts: tuple[Part, ...]
    times: str
    """Duration of its forms on two cores."""

    def __post_init__(self) -> None:
        """Raises ValueError if parts share a name, or a name is not a valid file name."""
        check_names(self.name, [part.name for part in self.parts])
