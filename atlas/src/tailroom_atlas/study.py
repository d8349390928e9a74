"""The study of the atlas: some cells at a time, from a store that keeps every run."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike

from tailroom.buffer_atlas.data import Atlas, write
from tailroom.errors import Interrupted
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import LOOK_AFTER_S, Runner
from tailroom.execution.task import Cancelled
from tailroom.studies.size_study.stopping import FIRST_RUNS
from tailroom_atlas.cell_search import CellSearch, SearchedCell
from tailroom_atlas.cells import Cell
from tailroom_atlas.cost import PlannedCell
from tailroom_atlas.rows import (
    Row,
    answer_rows,
    check_scaling,
    curve_rows,
    scaled_rows,
)
from tailroom_atlas.scaling import is_checked, rungs

FEWEST_AT_A_TIME = 2
"""Fewest cells that are searched at the same time: near its answer, a cell has few runs to do."""
MOST_OF_A_CELL = 0.95
"""Largest part of a cell that counts as finished while it needs runs."""


@dataclass(frozen=True)
class AtlasProgress:
    """Progress of the atlas."""

    cells: int
    """Number of finished cells."""
    all_cells: int
    """Number of cells whose runs are needed."""
    core_s: float
    """Estimate of the time of what is finished, on one core."""
    all_core_s: float
    """Estimate of the time of all cells on one core."""
    new_runs: int
    """Number of runs that were not in the store."""


@dataclass(frozen=True)
class AtlasRuns:
    """The cells that are finished."""

    searched: tuple[SearchedCell, ...]
    """What the runs of each computed cell say, in the order of the plan."""
    scaled: tuple[Cell, ...]
    """The cells that follow from those."""

    @property
    def answers(self) -> list[Row]:
        """A row per cell and target; a scaled cell has rows if its rungs are finished."""
        computed = {one.planned.cell: answer_rows(one) for one in self.searched}
        for cell in filter(is_checked, computed):
            with suppress(KeyError):
                check_scaling(computed[cell], [computed[rung] for rung in rungs(cell)])
        rows = [row for cell_rows in computed.values() for row in cell_rows]
        for cell in self.scaled:
            with suppress(KeyError):
                rows += scaled_rows(cell, [computed[rung] for rung in rungs(cell)])
        return rows

    @property
    def curves(self) -> list[Row]:
        """A row per computed cell and simulated value."""
        return [row for one in self.searched for row in curve_rows(one)]

    def write(self, directory: str | PathLike[str], kept: Atlas | None = None) -> None:
        """Writes the data of the atlas.

        Args:
            directory: An existing directory.
            kept: An atlas whose rows of other cells are written too.
        """
        answers, curves = self.answers, self.curves
        if kept:
            anew = {row["cell"] for row in answers}
            answers += [row for row in kept.answers.to_pylist() if row["cell"] not in anew]
            curves += [row for row in kept.curves.to_pylist() if row["cell"] not in anew]
        write(directory, answers, curves)


def compute_atlas(
    planned: Sequence[PlannedCell],
    store: str | PathLike[str],
    *,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[AtlasProgress], object] | None = None,
) -> AtlasRuns:
    """Performs the runs of the atlas that the store lacks.

    A cell's search depends on nothing but its runs, so that the same command continues after an
    interruption, and repeats no run.

    Args:
        planned: The cells, with the rungs of scaled ones.
        store: Directory of the store; it is created if it does not exist.
        workers: Maximum number of runs at a time; if left out, the number of cores, or as many as
            the executor takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called with an `AtlasProgress` after each run.

    Raises:
        ArgumentError: `workers` is below 1.
        StoreError: The directory is not a store.
        ClusterError: The cluster does not answer, or cannot perform the runs.
        RunError: A run failed; the other runs are kept.
        NotWrittenError: The store cannot be written, for example on a full disk.
        Interrupted: Ctrl-C; its `known` is the `AtlasRuns` so far, and finished runs are kept.
    """
    computed = [entry for entry in planned if entry.how != "scaled"]
    scaled = tuple(entry.cell for entry in planned if entry.how == "scaled")
    with (
        Runner.open(store, in_processes=False, workers=workers, executor=executor) as runner,
        ThreadPoolExecutor(max(FEWEST_AT_A_TIME, runner.at_a_time // FIRST_RUNS)) as threads,
    ):
        counted = _Counted(computed, progress or (lambda _: None))
        searches = [threads.submit(_search, entry, runner, counted) for entry in computed]
        try:
            _wait_for(searches)
        except BaseException as error:
            runner.stop()
            for search in searches:
                search.cancel()
            wait(searches)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(AtlasRuns(_finished(searches), scaled)) from None
            raise
    return AtlasRuns(_finished(searches), scaled)


def _search(entry: PlannedCell, runner: Runner, counted: "_Counted") -> SearchedCell:
    search = CellSearch(entry, runner)
    counted.begin(search)
    searched = search.run()
    counted.end(search)
    return searched


def _wait_for(searches: Sequence[Future[SearchedCell]]) -> None:
    """Waits for all searches, or for the first that fails, and raises its error.

    Raises:
        BaseException: A search failed or was interrupted.
    """
    waiting = set(searches)
    while waiting:
        done, waiting = wait(waiting, timeout=LOOK_AFTER_S, return_when=FIRST_EXCEPTION)
        errors = [error for search in done if (error := search.exception())]
        # A search that fails cancels the runs of the others.
        errors.sort(key=lambda error: isinstance(error, Cancelled))
        if errors:
            raise errors[0]


def _finished(searches: Sequence[Future[SearchedCell]]) -> tuple[SearchedCell, ...]:
    return tuple(
        search.result()
        for search in searches
        if search.done() and not search.cancelled() and search.exception() is None
    )


class _Counted:
    """The progress of all cells, some of which are searched at the same time."""

    def __init__(
        self, planned: Sequence[PlannedCell], report: Callable[[AtlasProgress], object]
    ) -> None:
        self._all_cells = len(planned)
        self._all_core_s = sum(entry.core_s for entry in planned)
        self._report = report
        self._lock = threading.Lock()
        self._cells = 0
        self._core_s = 0.0
        self._new_runs = 0
        self._searches: list[CellSearch] = []
        """The cells whose runs are being performed."""

    def begin(self, search: CellSearch) -> None:
        """Reports the runs of a cell from now on."""
        search.watched = self._counter
        with self._lock:
            self._searches.append(search)
            self._tell()

    def end(self, search: CellSearch) -> None:
        """Counts a cell as finished."""
        with self._lock:
            self._searches.remove(search)
            self._cells += 1
            self._core_s += search.planned.core_s
            self._tell()

    def _counter(self) -> Callable[[RunProgress], None]:
        """A callback for one call of the runner, which counts from zero."""
        counted = 0

        def report(state: RunProgress) -> None:
            nonlocal counted
            with self._lock:
                new = state.done - state.found
                self._new_runs += new - counted
                counted = new
                self._tell()

        return report

    def _tell(self) -> None:
        core_s = self._core_s + sum(
            search.planned.core_s * min(search.run_count / search.planned.form.runs, MOST_OF_A_CELL)
            for search in self._searches
        )
        self._report(
            AtlasProgress(self._cells, self._all_cells, core_s, self._all_core_s, self._new_runs)
        )
