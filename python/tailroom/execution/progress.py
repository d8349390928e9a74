"""Progress of a study, in runs."""

from dataclasses import dataclass

from tailroom.field_docs import with_field_docs
from tailroom.simulation.progress import Progress


@with_field_docs
@dataclass(frozen=True)
class RunProgress(Progress):
    """Progress of a study, in runs; a run that several points need counts once."""

    done: int
    """Number of runs that have ended, including those that were found in the store."""
    total: int
    """Number of runs that the study needs, as far as is known; it may grow."""
    found: int
    """Number of runs that were found in the store and not performed again."""
