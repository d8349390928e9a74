"""The runs that the studies of a paper need."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.shipped_scenarios import SCENARIOS
from tailroom.storage.sweep_record import SweepRecord
from tailroom.studies.sweep_study.plan import Plan, plan, runs_needed
from tailroom_papers.framework.paper import Paper, Part, Variation
from tailroom_papers.framework.study import Form, Study, check_names


@dataclass(frozen=True)
class Planned:
    """A study of a part, or of one of its variations, and its points."""

    part: Part
    variation: Variation | None
    study: Study
    what: Plan
    points: list[Point]

    @property
    def record(self) -> SweepRecord:
        """The study as a sweep, for `tailroom results` and `tailroom plot`."""
        varied = self.variation.name if self.variation else ""
        settings = json.dumps([self.what.id, self.study.name, self.study.seeds, varied])
        words = re.sub(r"[^\w.]+", "-", f"{self.part.name}-{self.study.name} {varied}".strip())
        return SweepRecord(
            id=f"{words}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}",
            title=self.what.title,
            scenario=self.what.source.place,
            axes={axis.key: list(axis.values) for axis in self.what.axes},
            points=[{"settings": point.settings, "runs": point.keys} for point in self.points],
        )

    def needed(self, point: Point) -> int:
        """Returns the number of runs that a point needs, given its runs so far."""
        until = self.study.until
        if until is None:
            return self.study.seeds
        if not point.finished:
            return until.at_least
        return runs_needed(point.values(until.metric), until)


def plan_parts(paper: Paper, parts: Sequence[Part], form: Form) -> list[Planned]:
    """Plans every study of these parts and of their variations.

    Raises:
        ValueError: Studies or variations of a part share a name, or a name is not a valid file
            name.
    """
    return [
        _planned(paper, part, variation, study)
        for part in parts
        for variation, studies in _studies(part, form)
        for study in studies
    ]


def _studies(part: Part, form: Form) -> Iterator[tuple[Variation | None, Sequence[Study]]]:
    """The studies of a part itself, and those of each of its variations."""
    own = part.studies(form)
    check_names(f"part {part.name}", [study.name for study in own])
    yield None, own
    variations = part.variations(form) if part.variations else ()
    check_names(f"part {part.name}", [variation.name for variation in variations])
    for variation in variations:
        names = [study.name for study in variation.studies]
        check_names(f"part {part.name}, {variation.name}", names)
        yield variation, variation.studies


def _planned(paper: Paper, part: Part, variation: Variation | None, study: Study) -> Planned:
    what = _plan(study, paper.first_seed)
    points = [Point.of(what.source, settings, keep=study.keep) for settings in what.points()]
    return Planned(part, variation, study, what, points)


def _plan(study: Study, first_seed: int) -> Plan:
    source = _source(study, first_seed)
    return plan(source, grid=study.grid, together=study.together, seeds=study.seeds)


def _source(study: Study, first_seed: int) -> Scenario:
    scenario = study.scenario
    given = SCENARIOS / scenario if isinstance(scenario, str) else scenario
    return Scenario.of(given, {"seed": first_seed, **study.set})


def count_runs(part: Part, form: Form) -> int:
    """Returns about how many runs a part and its variations need, without reading each point.

    A run that several studies need counts for each; of a study that is repeated until an interval
    is narrow, the first runs count.

    Args:
        part: The part.
        form: How thoroughly.
    """
    studies = [study for _, of_variation in _studies(part, form) for study in of_variation]
    return sum(
        _plan(study, first_seed=1).points_count
        * (study.until.at_least if study.until else study.seeds)
        for study in studies
    )


def run_missing(
    planned: Sequence[Planned],
    runner: Runner,
    progress: Callable[[RunProgress], object] | None = None,
) -> None:
    """Performs the runs that the store lacks; a run that several studies need is performed once.

    Raises:
        RunError: Runs failed; the others are kept.
    """
    of_point = {point: planned_study for planned_study in planned for point in planned_study.points}
    try:
        runner.complete(
            list(of_point),
            lambda point: of_point[point].needed(point),
            keep_going=True,
            progress=progress,
        )
    finally:
        for planned_study in planned:
            runner.store.record(planned_study.record)
