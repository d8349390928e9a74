"""Reproducing a paper: its runs into a store, then numbers, pictures and verdicts from there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from tailroom.cluster import ClusterLike, connected
from tailroom.papers import output
from tailroom.papers.claim import Claim, Judgement
from tailroom.papers.found import Found, StudyFound
from tailroom.papers.paper import Form, Paper, Part
from tailroom.papers.runs import Planned, plan_parts, run_missing
from tailroom.runner import Runner
from tailroom.store import Store
from tailroom.sweep import SweepProgress


@dataclass(frozen=True)
class PartDone:
    """A part with what its studies have found, and its claims judged."""

    part: Part
    found: Found
    judged: tuple[tuple[Claim, Judgement], ...]
    sweeps: tuple[str, ...]
    """Names of its studies among the sweeps of the store."""


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


def reproduce(  # noqa: PLR0913 - each says one thing about it
    paper: Paper,
    out: str | PathLike[str],
    *,
    parts: Sequence[Part] = (),
    form: Form = Form.FULL,
    workers: int | None = None,
    cluster: "ClusterLike | None" = None,
    progress: Callable[[SweepProgress], object] | None = None,
) -> Reproduction:
    """Reproduces a paper into a directory: store, data, pictures and a report with verdicts.

    Runs that the directory's store holds already are not run again, so that one which was
    interrupted goes on where it was.

    Args:
        paper: One of `tailroom.papers.load`.
        out: Directory for everything; new, empty, or of the same paper and form.
        parts: Only these figures, tables and questions; all if left out.
        form: How thoroughly.
        workers: Runs at a time; as many as there are cores if left out, or as the cluster takes.
        cluster: Runs them there, as `tailroom.sweep` does.
        progress: Called after each run, with how far it is.

    Raises:
        OutputDirectoryError: The directory holds something else, or cannot be written.
        ClusterError: The cluster does not answer, or cannot do the runs.
        RunError: Runs failed; the others are done and kept.
        NotWrittenError: The store cannot be written, e.g. as the disk is full.
        KeyboardInterrupt: Ctrl-C; what is finished is kept.
    """
    chosen = tuple(parts) or paper.parts
    planned = plan_parts(chosen, form)
    points = [point for one in planned for point in one.points]
    with connected(cluster) as connection:
        directory, store = output.open_directory(out, paper, form)
        typical = points[0].source
        with Runner(typical, store, workers=workers, cluster=connection) as runner:
            run_missing(planned, store, runner, progress or (lambda _: None))
    done = tuple(judged(part, form, store, planned) for part in chosen)
    runs = len({key for point in points for key in point.keys})
    reproduction = Reproduction(paper, form, done, directory, runs)
    output.write(reproduction, store)
    return reproduction


def judged(part: Part, form: Form, store: Store, planned: Sequence[Planned]) -> PartDone:
    """Judges the claims of a part by what the store holds of its studies."""
    mine = {one.study.name: one.record for one in planned if one.part is part}
    found = Found(form, {name: StudyFound.of(store, record) for name, record in mine.items()})
    verdicts = tuple((claim, claim.judge(found)) for claim in part.claims)
    return PartDone(part, found, verdicts, tuple(record.id for record in mine.values()))
