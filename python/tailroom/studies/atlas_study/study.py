"""The study of the atlas: all cells, one after the other, from a store that keeps every run."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike

from tailroom import _engine
from tailroom.buffer_atlas.cells import Cell
from tailroom.buffer_atlas.cost import PlannedCell
from tailroom.buffer_atlas.data import write
from tailroom.buffer_atlas.scaling import rungs
from tailroom.errors import Interrupted
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.studies.atlas_study.cell_search import CellSearch, SearchedCell
from tailroom.studies.atlas_study.rows import Row, answer_rows, curve_rows, scaled_rows

MOST_OF_A_CELL = 0.95
"""Largest part of a cell that counts as finished while it needs runs."""


@dataclass(frozen=True)
class AtlasProgress:
    """Progress of the atlas."""

    cell: str
    """Name of the cell whose runs are being performed; empty in the end."""
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
        rows = [row for cell_rows in computed.values() for row in cell_rows]
        for cell in self.scaled:
            with suppress(KeyError):
                rows += scaled_rows(cell, [computed[rung] for rung in rungs(cell)])
        return rows

    @property
    def curves(self) -> list[Row]:
        """A row per computed cell and simulated value."""
        return [row for one in self.searched for row in curve_rows(one)]

    def write(self, directory: str | PathLike[str]) -> None:
        """Writes the data of the atlas.

        Args:
            directory: An existing directory.
        """
        write(directory, self.answers, self.curves, _engine.build())


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
        StoreError: The directory is not a store.
        ClusterError: The cluster does not answer, or cannot perform the runs.
        RunError: A run failed; the other runs are kept.
        NotWrittenError: The store cannot be written, for example on a full disk.
        Interrupted: Ctrl-C; its `known` is the `AtlasRuns` so far, and finished runs are kept.
    """
    computed = [entry for entry in planned if entry.how != "scaled"]
    scaled = tuple(entry.cell for entry in planned if entry.how == "scaled")
    searched: list[SearchedCell] = []
    with Runner.opened(store, in_processes=False, workers=workers, executor=executor) as runner:
        counted = _Counted(computed, progress or (lambda _: None))
        try:
            for entry in computed:
                search = CellSearch(entry, runner)
                counted.begin(search)
                searched.append(search.run())
                counted.end(search)
        except KeyboardInterrupt:
            raise Interrupted(AtlasRuns(tuple(searched), scaled)) from None
    return AtlasRuns(tuple(searched), scaled)


class _Counted:
    """The progress, from what the runner reports of one set of runs after the other."""

    def __init__(
        self, planned: Sequence[PlannedCell], report: Callable[[AtlasProgress], object]
    ) -> None:
        self._all_cells = len(planned)
        self._all_core_s = sum(entry.core_s for entry in planned)
        self._report = report
        self._cells = 0
        self._core_s = 0.0
        self._new_runs = 0

    def begin(self, search: CellSearch) -> None:
        """Reports the runs of a cell from now on."""
        search.watched = lambda: self._counter(search)
        self._tell(search)

    def end(self, search: CellSearch) -> None:
        """Counts a cell as finished."""
        self._cells += 1
        self._core_s += search.planned.core_s
        self._tell(None)

    def _counter(self, search: CellSearch) -> Callable[[RunProgress], None]:
        """A callback for one call of the runner, which counts from zero."""
        before = self._new_runs

        def report(state: RunProgress) -> None:
            self._new_runs = before + state.done - state.found
            self._tell(search)

        return report

    def _tell(self, search: CellSearch | None) -> None:
        core_s, name = self._core_s, ""
        if search:
            entry = search.planned
            name = entry.cell.name
            core_s += entry.core_s * min(search.run_count / entry.form.runs, MOST_OF_A_CELL)
        self._report(
            AtlasProgress(
                name, self._cells, self._all_cells, core_s, self._all_core_s, self._new_runs
            )
        )
