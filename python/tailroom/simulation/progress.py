"""Progress of a run or of a study."""

from dataclasses import dataclass

from tailroom.field_docs import with_field_docs


@with_field_docs
@dataclass(frozen=True)
class Progress:
    """What every `progress` callback gets; studies add fields to it."""

    done: float
    """Of a run, the simulated time in seconds; of a study, the number of runs that have ended."""
    total: float
    """What `done` reaches at the end; of a study as far as is known, so it may grow."""
