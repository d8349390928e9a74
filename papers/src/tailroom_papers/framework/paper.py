"""A paper: parts with studies, pictures, claims and variations; and what its runs show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tailroom.errors import WrongInputError
from tailroom.field_docs import with_field_docs
from tailroom.statistics.outcome import Outcome
from tailroom_papers.framework.bounds import NO_BOUNDS, Bounds
from tailroom_papers.framework.claim import Claim, Judgement
from tailroom_papers.framework.results import PartResults
from tailroom_papers.framework.study import Form, Study, check_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PaperError(WrongInputError, ValueError):
    """No paper or part of a paper has this name, or the data of a paper are missing or damaged."""


@with_field_docs
@dataclass(frozen=True)
class Variation:
    """Studies of a part, repeated with another value of something that the paper leaves open."""

    name: str
    """What varies, in a few words, for the report: "RTT longer by half a packet time". Unique in
    its part, and valid as a file name."""
    studies: Sequence[Study]
    """The studies with the other value, under the names that they have in the part. Only studies
    and points are needed that the checks of the claims use."""
    claims: tuple[str, ...]
    """Names of the part's claims that are judged again."""
    plausible: bool = True
    """Whether the paper's authors may have used this value. A claim that turns into its opposite
    with a plausible value is undecided; with another value, it only depends on a condition."""
    reason: str = ""
    """Why the value is plausible, or what it stands for, for the report."""


@dataclass(frozen=True)
class Varied:
    """A claim judged again with a variation."""

    variation: Variation
    """The variation."""
    claim: Claim
    """The claim."""
    judgement: Judgement
    """The judgement on the results of the variation."""

    def flips(self, base: Judgement) -> tuple[str, ...]:
        """Returns the sides that turn into their opposite.

        Args:
            base: The judgement on the claim without the variation.

        Returns:
            The `what` of each side that holds in one case and fails in the other.
        """
        here = {check.what: check.holds for check in self.judgement.checks}
        return tuple(
            check.what
            for check in base.checks
            if {check.holds_at_base, here.get(check.what)} == {Outcome.YES, Outcome.NO}
        )


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
    """Names of the authors; empty for a study of this project, which reproduces no paper."""
    venue: str
    """Conference or journal, with the year; what a study follows."""
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

    @property
    def source(self) -> str:
        """Authors, title and venue."""
        return f"{self.authors or 'A study of this project'}: {self.title}. {self.venue}."

    @property
    def report_title(self) -> str:
        """Title of the report."""
        return f"{self.title}: {'report' if self.authors else 'report on a study'}"


@with_field_docs
@dataclass(frozen=True)
class ReproducedPart:
    """A part with the results of its studies and the verdicts on its claims."""

    part: Part
    """The part."""
    results: PartResults
    """The results of its studies."""
    judged: tuple[tuple[Claim, Judgement], ...]
    """Its claims, each with the judgement on it."""
    conditions: tuple[tuple[Claim, Judgement], ...]
    """Its conditions, each with the judgement on it."""
    varied: tuple[Varied, ...]
    """Claims judged again with each variation."""
    variations: Mapping[str, PartResults]
    """The results of the studies of each variation, by its name."""


@with_field_docs
@dataclass(frozen=True)
class Reproduction:
    """A reproduced paper, or reproduced parts of a paper."""

    paper: Paper
    """The paper."""
    form: Form
    """Extent of the reproduction."""
    parts: tuple[ReproducedPart, ...]
    """The reproduced parts, in the order of the paper."""
    directory: Path
    """Directory of the report, the pictures, the data and the store."""
    runs: int
    """Number of runs, including those that the store had already."""
    engine: str
    """Version of the engine and hash of its sources."""
