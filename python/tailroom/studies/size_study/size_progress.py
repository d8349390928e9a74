"""The progress of a search of `size`: what is known so far."""

from dataclasses import dataclass
from math import inf

from tailroom.field_docs import with_field_docs
from tailroom.simulation.progress import Progress
from tailroom.studies.size_study.search import Stage
from tailroom.studies.size_study.varied_key import SOME_LIMIT, Varied


@with_field_docs
@dataclass(frozen=True)
class SizeProgress(Progress):
    """Progress of a search."""

    done: int
    """Number of finished runs, without those that were in the store before."""
    total: int
    """Estimate of the total number of runs."""
    low: int
    """Largest value known to miss a target of those below `seeming`, in steps (of a limit,
    packets); 0 if none is known."""
    high: float
    """Smallest value known to meet every target, in steps; infinite if none is known. It never
    grows."""
    stage: Stage = "search"
    """What is being done: `"search"`, `"confirm"` (the answer is repeated with more seeds),
    `"neighbours"` (about half and twice the answer), `"phases"` (the phase check of the answer),
    `"doors"` (one run with a change at another queue) or
    `"models"` (the models at the answer's limit)."""
    varied: Varied = SOME_LIMIT
    """What is varied, which writes `low` and `high` with their unit."""
    seeming: float = inf
    """Smallest value that seems to meet every target by its first runs, in steps; infinite without
    one. More runs may say that it does not."""
    met: tuple[int, ...] = ()
    """Every value known to meet every target, in steps. No value ever leaves them."""
    missed: tuple[int, ...] = ()
    """Every value known to miss a target, in steps. No value ever leaves them."""
