"""The runs that the studies of a paper need."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tailroom.errors import RunError
from tailroom.execution.runner import Point, Runner, Task
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study, check_names
from tailroom.scenario.shipped import SCENARIOS
from tailroom.scenario.source import ScenarioText
from tailroom.storage.store import Run, Store, SweepRecord
from tailroom.studies.sweep_study.plan import Plan, plan
from tailroom.studies.sweep_study.study import SweepProgress


@dataclass(frozen=True)
class Planned:
    """A study of a part, and its points."""

    part: Part
    study: Study
    what: Plan
    points: list[Point]

    @property
    def record(self) -> SweepRecord:
        """The study as a sweep, for `tailroom results` and `tailroom plot`."""
        settings = json.dumps([self.what.id, self.study.name, self.study.seeds])
        name = f"{self.part.name}-{self.study.name}"
        return SweepRecord(
            id=f"{name}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}",
            title=self.what.title,
            scenario=self.what.source.place,
            axes={axis.key: list(axis.values) for axis in self.what.axes},
            points=[{"settings": point.settings, "runs": point.keys} for point in self.points],
        )


def plan_parts(parts: Sequence[Part], form: Form) -> list[Planned]:
    """Every study of these parts, its points numbered throughout.

    Raises:
        ValueError: Studies of a part share a name, or a name is not a valid file name.
    """
    planned: list[Planned] = []
    for part in parts:
        studies = part.studies(form)
        check_names(f"part {part.name}", [study.name for study in studies])
        for study in studies:
            what = plan(_source(study), grid=study.grid, together=study.together, seeds=study.seeds)
            before = sum(len(planned_study.points) for planned_study in planned)
            points = [
                Point.of(what.source, index, settings)
                for index, settings in enumerate(what.points(), before)
            ]
            planned.append(Planned(part, study, what, points))
    return planned


def _source(study: Study) -> ScenarioText:
    scenario = study.scenario
    if isinstance(scenario, str):
        return ScenarioText.of(SCENARIOS / scenario, study.set)
    return ScenarioText.of(scenario, study.set)


def run_missing(
    planned: Sequence[Planned],
    store: Store,
    runner: Runner,
    report: Callable[[SweepProgress], object],
) -> None:
    """Simulates the runs that the store lacks; a run of several studies is simulated once.

    Raises:
        RunError: Runs failed; the other runs are kept.
    """
    waiting: dict[str, Task] = {}
    for planned_study in planned:
        for point in planned_study.points:
            for task in point.missing(
                store, planned_study.study.seeds, keep=planned_study.study.keep
            ):
                before = waiting.get(task.key, task)
                keep = tuple(dict.fromkeys(before.keep + task.keep))
                waiting[task.key] = replace(before, keep=keep)
    needed = len(
        {key for planned_study in planned for point in planned_study.points for key in point.keys}
    )
    found = needed - len(waiting)
    failures: list[str] = []
    finished = 0

    def taken(task: Task, ended: Run | RunError) -> list[Task]:
        nonlocal finished
        finished += 1
        if isinstance(ended, RunError):
            failures.append(f"{task.source.place}, seed {task.seed}: {ended}")
        report(SweepProgress(found + finished, found, needed))
        return []

    report(SweepProgress(found, found, needed))
    try:
        runner.run(waiting.values(), taken)
    finally:
        for planned_study in planned:
            store.record(planned_study.record)
    if failures:
        raise RunError(
            f"{len(failures)} of {needed} runs failed, the others are kept; the first error: "
            f"{failures[0]}"
        )
