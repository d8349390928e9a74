"""One scenario with several seeds."""

from collections.abc import Callable, Mapping
from os import PathLike

import pyarrow as pa

from tailroom.errors import RunError
from tailroom.execution.runner import Point, Runner, Task
from tailroom.scenario.source import ScenarioSource
from tailroom.scenario.types import Scenario
from tailroom.storage.store import Run, Store
from tailroom.studies.sweep_study.study import SweepProgress


def repeat(
    scenario: str | PathLike[str] | Scenario,
    store: str | PathLike[str],
    *,
    seeds: int,
    set: Mapping[str, object] | None = None,  # noqa: A002
    progress: Callable[[SweepProgress], object] | None = None,
) -> pa.Table:
    """Runs a scenario with its seed, the next one, and so on, whatever its `[sweep]` says.

    Returns:
        One row a run, as a store keeps it.

    Raises:
        ScenarioError: The scenario is wrong.
        StoreError: The directory is no store.
        RunError: A run failed.
    """
    source = ScenarioSource.of(scenario, set or {})
    point = Point.of(source, 0, {})
    kept = Store.create(store)

    def taken(task: Task, ended: Run | RunError) -> list[Task]:
        if isinstance(ended, RunError):
            raise ended
        point.take(task, ended)
        if progress:
            progress(SweepProgress(len(point.rows), point.found, seeds))
        return []

    with Runner(source, kept) as runner:
        runner.run(point.missing(kept, seeds), taken)
    return pa.concat_tables(point.finished, promote_options="default")
