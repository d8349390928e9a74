"""How far a study is with its runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RunProgress:
    """How far a study is with its runs; a run that several points need counts once."""

    done: int
    """Runs that have ended, those found in the store included."""
    found: int
    """Runs that the store held already."""
    planned: int
    """Runs that the study needs, as far as is known."""
