"""A paper: parts with studies, pictures and claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tailroom.reproduction.claim import Claim
from tailroom.reproduction.form import Form
from tailroom.reproduction.part_results import PartResults
from tailroom.scenario.types import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_names(of: str, names: Sequence[str]) -> None:
    """Checks that names are distinct, valid file names.

    Args:
        of: The paper or part, for messages.
        names: The names.

    Raises:
        ValueError: A name is not a valid file name, or is used twice.
    """
    for name in names:
        if not name or name.startswith(".") or "/" in name:
            raise ValueError(
                f"{of}: {name!r} is not a file name; leave out slashes and leading dots"
            )
        if names.count(name) > 1:
            raise ValueError(f"{of}: the name {name!r} is used twice; use each name once")


@dataclass(frozen=True)
class Study:
    """A sweep of one scenario."""

    name: str
    """Name of the study in its part."""
    scenario: str | Scenario
    """A shipped scenario ("barman-2004/figure-3.toml"), or a table as in such a file."""
    grid: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys with their values; every combination is a point. A key replaces the same key in the
    `[sweep]` of the scenario."""
    together: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys whose values vary together, row by row."""
    set: Mapping[str, object] = field(default_factory=dict)
    """Values that replace those of the scenario in every run."""
    seeds: int = 5
    """Number of runs per point, with consecutive seeds from the scenario's seed."""
    keep: tuple[str, ...] = ()
    """Tables that are stored for every run, such as `flow_series`."""


@dataclass(frozen=True)
class Part:
    """A figure, a table, or a question that the paper leaves open."""

    name: str
    """Name for `--figure`: "3", "table-1", "sensitivity"."""
    title: str
    """Title in the report."""
    studies: Callable[[Form], Sequence[Study]]
    """Returns the studies for a form."""
    draw: "Callable[[PartResults], Figure]"
    """Draws the picture from the results of the studies."""
    claims: tuple[Claim, ...] = ()
    """The claims, in the order of the report."""
    note: str = ""
    """Paragraphs for the report: the method, and the parameters that the paper does not state."""


@dataclass(frozen=True)
class Paper:
    """A paper whose figures, tables and claims are reproduced.

    Raises:
        ValueError: Parts share a name, or a name is not a valid file name.
    """

    name: str
    """Name for `tailroom papers`: "barman-2004"."""
    title: str
    """Title of the paper."""
    authors: str
    """Names of the authors."""
    venue: str
    """Conference or journal, with the year."""
    parts: tuple[Part, ...]
    """Figures, tables and questions, with distinct names."""
    times: str
    """Durations of the three forms on two cores, in words."""

    def __post_init__(self) -> None:
        check_names(self.name, [part.name for part in self.parts])
