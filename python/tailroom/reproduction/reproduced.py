"""A reproduced paper: its parts, the results of their studies, and the verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tailroom.field_docs import with_field_docs
from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Paper, Part
from tailroom.reproduction.part_results import PartResults
from tailroom.reproduction.variation import Varied


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
