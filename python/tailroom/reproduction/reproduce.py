"""Reproduction of a paper: runs into a store, then numbers, pictures and verdicts from it."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike

from tailroom.execution.dask_cluster import ClusterLike, connected
from tailroom.execution.runner import Runner
from tailroom.reproduction import output
from tailroom.reproduction.done import PartDone, Reproduction
from tailroom.reproduction.form import Form
from tailroom.reproduction.found import Found, RunFound, StudyFound
from tailroom.reproduction.paper import Paper, Part
from tailroom.reproduction.runs import Planned, plan_parts, run_missing
from tailroom.storage.store import Store
from tailroom.studies.sweep_study.study import SweepProgress


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

    Runs that are in the directory's store are not repeated, so an interrupted reproduction
    continues with the missing runs.

    Args:
        paper: For example one that `tailroom.reproduction.load` returns.
        out: Directory for everything; new, empty, or of the same paper and form.
        parts: Only these figures, tables and questions; all if left out.
        form: Extent of the reproduction.
        workers: Number of parallel runs (default: number of cores, or capacity of the cluster).
        cluster: Dask cluster for the runs, as for `tailroom.sweep`.
        progress: Called after each run with the number of finished runs.

    Raises:
        OutputDirectoryError: The directory holds something else, or cannot be written.
        StoreError: The store in it cannot be written.
        ClusterError: The cluster does not answer, or cannot do the runs.
        RunError: Runs failed; the other runs are kept.
        NotWrittenError: Store or report cannot be written, e.g. because the disk is full.
        KeyboardInterrupt: Ctrl-C; finished runs are kept.
    """
    chosen = tuple(parts) or paper.parts
    planned = plan_parts(chosen, form)
    points = [point for planned_study in planned for point in planned_study.points]
    with connected(cluster) as connection:
        directory, store = output.open_directory(out, paper, form)
        typical = points[0].source
        with Runner(typical, store, workers=workers, cluster=connection) as runner:
            run_missing(planned, store, runner, progress or (lambda _: None))
    runs = _read(store, {key for point in points for key in point.keys})
    done = tuple(_judged(part, form, planned, runs) for part in chosen)
    reproduction = Reproduction(paper, form, done, directory, len(runs))
    output.write(reproduction)
    return reproduction


def _read(store: Store, keys: set[str]) -> dict[str, RunFound]:
    """Reads the runs of the verdicts from the store, each once."""
    rows = ((key, store.read(key)) for key in keys)
    return {key: RunFound(store, key, row) for key, row in rows if row is not None}


def _judged(
    part: Part, form: Form, planned: Sequence[Planned], runs: Mapping[str, RunFound]
) -> PartDone:
    """Judges the claims of a part by the results of its studies."""
    records = {
        planned_study.study.name: planned_study.record
        for planned_study in planned
        if planned_study.part is part
    }
    studies = {name: StudyFound.of(record, runs) for name, record in records.items()}
    found = Found(form, studies)
    return PartDone(part, found, tuple((claim, claim.judge(found)) for claim in part.claims))
