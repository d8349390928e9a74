"""A reproduced paper: its parts, the results of their studies, and the verdicts."""

from dataclasses import dataclass
from pathlib import Path

from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.found import Found
from tailroom.reproduction.paper import Paper, Part


@dataclass(frozen=True)
class PartDone:
    """A part with the results of its studies and the verdicts on its claims."""

    part: Part
    found: Found
    judged: tuple[tuple[Claim, Judgement], ...]


@dataclass(frozen=True)
class Reproduction:
    """A paper, or parts of it, reproduced."""

    paper: Paper
    form: Form
    parts: tuple[PartDone, ...]
    directory: Path
    """Directory of the report, the pictures, the data and the store."""
    runs: int
    """Number of runs."""
