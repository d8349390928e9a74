"""What a paper is made of: parts with studies, pictures and claims."""

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
    """Raises ValueError if these cannot be files beside each other, as parts and studies are."""
    for name in names:
        if not name or name.startswith(".") or "/" in name:
            raise ValueError(f"{of}: {name!r} is no name of a file; leave out slashes and dots")
        if names.count(name) > 1:
            raise ValueError(f"{of}: there are two of the name {name!r}; give each its own")


@dataclass(frozen=True)
class Study:
    """A sweep of one scenario."""

    name: str
    """Its name in its part."""
    scenario: str | Scenario
    """A shipped scenario ("barman-2004/figure-3.toml"), or a table as in such a file."""
    grid: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys with their values, every combination a point; before the scenario's own `[sweep]`."""
    together: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys whose values go together."""
    set: Mapping[str, object] = field(default_factory=dict)
    """Values replaced in every run."""
    seeds: int = 5
    keep: tuple[str, ...] = ()
    """Tables kept of every run, such as `flow_series`."""


@dataclass(frozen=True)
class Part:
    """A figure, a table, or a question that the paper leaves open."""

    name: str
    """What `--figure` takes: "3", "table-1", "sensitivity"."""
    title: str
    studies: Callable[[Form], Sequence[Study]]
    draw: "Callable[[Found], Figure]"
    claims: tuple[Claim, ...] = ()
    note: str = ""
    """A paragraph for the report: how it was done, and what the paper does not say."""


@dataclass(frozen=True)
class Paper:
    """A paper whose figures, tables and claims are reproduced."""

    name: str
    title: str
    authors: str
    venue: str
    parts: tuple[Part, ...]
    times: str
    """How long its forms take on two cores."""

    def __post_init__(self) -> None:
        """Raises ValueError if parts have the same name, or one that no file can have."""
        check_names(self.name, [part.name for part in self.parts])
