"""A paper: parts with studies, pictures and claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailroom.field_docs import with_field_docs
from tailroom.reproduction.bounds import NO_BOUNDS, Bounds
from tailroom.reproduction.claim import Claim
from tailroom.reproduction.form import Form
from tailroom.reproduction.part_results import PartResults
from tailroom.reproduction.study import Study, check_names
from tailroom.reproduction.variation import Variation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@with_field_docs
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
    caption: str = ""
    """Caption of the picture: what is drawn, and what lines, bands and marks mean."""
    conditions: tuple[Claim, ...] = ()
    """Conditions that the runs must meet, such as a number of window cycles. They are judged as
    claims are, but are no statements of the paper, and are counted apart."""
    variations: "Callable[[Form], Sequence[Variation]] | None" = None
    """Returns variations of what the paper leaves open, with which claims are judged again."""


@with_field_docs
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
    bounds: Bounds = NO_BOUNDS
    """The bounds of the claims."""
    first_seed: int = 1
    """Seed of the first run of every point."""
    abstract: "Callable[[Mapping[str, PartResults]], str] | None" = None
    """Returns the abstract of the report, at most 150 words, from the results by name of part."""

    def __post_init__(self) -> None:
        check_names(self.name, [part.name for part in self.parts])
