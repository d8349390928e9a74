"""Reproduces a paper: runs into a store, then numbers, pictures and verdicts from the store."""

from collections.abc import Callable, Sequence
from os import PathLike

from tailroom import _engine
from tailroom.arguments import WORKERS
from tailroom.errors import Interrupted
from tailroom.execution.executors import ExecutorLike, performer
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.storage.store import Store
from tailroom_papers.framework import output
from tailroom_papers.framework.judging import Judged, judge
from tailroom_papers.framework.paper import Paper, Part, Reproduction, Variation
from tailroom_papers.framework.plan import Planned, plan_parts, run_missing
from tailroom_papers.framework.results import PartResults, StoredRun, StudyResults
from tailroom_papers.framework.study import Form


def reproduce(  # noqa: PLR0913 - each is one option of a reproduction
    paper: Paper,
    out: str | PathLike[str],
    *,
    parts: Sequence[Part] = (),
    form: Form = Form.FULL,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[RunProgress], object] | None = None,
) -> Reproduction:
    """Reproduces a paper into a directory: store, data, pictures and a report with verdicts.

    Runs that the directory's store holds already are not repeated, so an interrupted reproduction
    continues where it stopped.

    Args:
        paper: For example one that `tailroom_papers.framework.load` returns.
        out: Output directory: new, empty, or of the same paper and form.
        parts: Only these figures, tables and questions; all if left out.
        form: How thoroughly.
        workers: Maximum number of runs at a time; as many as there are cores if left out, or as
            the executor takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called after each run.

    Raises:
        ArgumentError: `workers` is below 1.
        OutputDirectoryError: The directory holds something else, or cannot be written.
        StoreError: The store in it cannot be written.
        ClusterError: The cluster does not answer, or it or the executor cannot perform the runs.
        RunError: Runs failed; the others are kept.
        NotWrittenError: Store or report cannot be written, for example on a full disk.
        Interrupted: Ctrl-C, a `KeyboardInterrupt` whose `known` is the `RunProgress`; the runs that
            have ended are kept.
        KeyboardInterrupt: Ctrl-C before the store has been searched.
    """
    WORKERS.check("workers", workers)
    output.check_directory(out, paper, form)
    chosen = tuple(parts) or paper.parts
    planned = plan_parts(paper, chosen, form)
    points = [point for planned_study in planned for point in planned_study.points]
    in_processes = any(point.controls for point in points)
    last: RunProgress | None = None

    def told(state: RunProgress) -> None:
        nonlocal last
        last = state
        if progress:
            progress(state)

    try:
        with performer(executor, workers=workers, in_processes=in_processes) as place:
            directory, store = output.open_directory(out, paper, form)
            run_missing(planned, Runner(store, place), told)
        runs = _read(store, {key for point in points for key in point.keys})
        studies = [StudyResults.of(planned_study.record, runs) for planned_study in planned]
        done = judge(results_of_parts(chosen, form, planned, studies))
        reproduction = Reproduction(paper, form, done, directory, len(runs), _engine.build())
        output.write(reproduction)
    except KeyboardInterrupt:
        if last is None:  # the store has not been searched
            raise
        raise Interrupted(last) from None
    return reproduction


def results_of_parts(
    parts: Sequence[Part], form: Form, planned: Sequence[Planned], studies: Sequence[StudyResults]
) -> list[Judged]:
    """Returns the results of each part and of its variations.

    Args:
        parts: The parts.
        form: Extent of the reproduction.
        planned: The studies of the parts and of their variations.
        studies: The results of each planned study.
    """
    of_part = []
    for part in parts:
        own: dict[str, StudyResults] = {}
        varied: dict[str, tuple[Variation, dict[str, StudyResults]]] = {}
        for plan, results in zip(planned, studies, strict=True):
            if plan.part is not part:
                continue
            variation = plan.variation
            into = varied.setdefault(variation.name, (variation, {}))[1] if variation else own
            into[plan.study.name] = results
        variations = {
            name: (variation, PartResults(form, into)) for name, (variation, into) in varied.items()
        }
        of_part.append(Judged(part, PartResults(form, own), variations))
    return of_part


def _read(store: Store, keys: set[str]) -> dict[str, StoredRun]:
    """Reads every run from the store once; verdicts follow from these rows."""
    # Runs that share a file one after the other, as the store forgets the files read long ago.
    by_file = sorted(keys, key=store.columns().files_of)
    rows = ((key, store.read(key)) for key in by_file)
    return {key: StoredRun(store, key, row) for key, row in rows if row is not None}
