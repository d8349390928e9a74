"""A reproduced paper: its parts, what their studies have found, and the verdicts."""

from dataclasses import dataclass
from pathlib import Path

from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.found import Found
from tailroom.reproduction.paper import Paper, Part


@dataclass(frozen=True)
class PartDone:
    """A part with what its studies have found, and its claims judged."""

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
    """Where the report, the pictures, the data and the store are."""
    runs: int
    """Runs that it rests on."""
