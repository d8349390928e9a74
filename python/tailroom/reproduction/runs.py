"""The runs that the studies of a paper need."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study, check_names
from tailroom.scenario.shipped import SCENARIOS
from tailroom.scenario.source import ScenarioSource
from tailroom.storage.store import SweepRecord
from tailroom.studies.sweep_study.plan import Plan, plan


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
    """Plans every study of these parts.

    Raises:
        ValueError: Studies of a part share a name, or a name is not a valid file name.
    """
    planned: list[Planned] = []
    for part in parts:
        studies = part.studies(form)
        check_names(f"part {part.name}", [study.name for study in studies])
        for study in studies:
            what = plan(_source(study), grid=study.grid, together=study.together, seeds=study.seeds)
            points = [
                Point.of(what.source, settings, keep=study.keep) for settings in what.points()
            ]
            planned.append(Planned(part, study, what, points))
    return planned


def _source(study: Study) -> ScenarioSource:
    scenario = study.scenario
    if isinstance(scenario, str):
        return ScenarioSource.of(SCENARIOS / scenario, study.set)
    return ScenarioSource.of(scenario, study.set)


def run_missing(
    planned: Sequence[Planned],
    runner: Runner,
    progress: Callable[[RunProgress], object] | None = None,
) -> None:
    """Performs the runs that the store lacks; a run that several studies need is performed once.

    Raises:
        RunError: Runs failed; the others are kept.
    """
    seeds = {
        point: planned_study.study.seeds
        for planned_study in planned
        for point in planned_study.points
    }
    try:
        runner.complete(list(seeds), lambda point: seeds[point], keep_going=True, progress=progress)
    finally:
        for planned_study in planned:
            runner.store.record(planned_study.record)
