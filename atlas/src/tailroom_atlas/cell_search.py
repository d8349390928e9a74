"""The search of one cell: the smallest value of its queue's key for each target."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tailroom.buffer_atlas.data import METRICS, MOST_LOSS, UTILIZATIONS
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.scenario.scenario import Scenario
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.search import Search
from tailroom.studies.size_study.stopping import (
    CONFIRMING_RUNS,
    FIRST_RUNS,
    Verdicts,
    confirmed,
    next_look,
)
from tailroom.studies.size_study.targets import Target
from tailroom_atlas.cost import PlannedCell
from tailroom_atlas.scenarios import LINK, Sought, scenario, sought

SMALLEST_SHOWN, LARGEST_SHOWN = 0.1, 2
"""Multiples of the answers that are shown, so that the simulated values reach that far."""
LOSS_FACTOR = 16
"""The search for a value that loses less begins with values up to this multiple of the answers."""


@dataclass(frozen=True)
class Tested:
    """A value of the key and what its runs measured."""

    value: int
    """The value, in the unit of the key."""
    runs: int
    """Number of runs."""
    means: dict[str, float]
    """Mean of each metric."""
    utilization_half_width: float
    """Half-width of the 95 % confidence interval of the utilization."""


@dataclass(frozen=True)
class Found:
    """The answer for one target."""

    utilization: float
    """The utilization that is asked for."""
    value: int | None
    """Smallest value that gives it with 95 % confidence; `None` if no tried value does."""
    too_small: int
    """Largest smaller value that misses it with 95 % confidence; 0 if there is none."""
    larger_that_misses: int | None = None
    """Largest larger value that misses it with 95 % confidence; `None` if there is none."""


@dataclass(frozen=True)
class SearchedCell:
    """What the runs of a cell say."""

    planned: PlannedCell
    """The cell."""
    sought: Sought
    """What was varied."""
    tested: tuple[Tested, ...]
    """Every value that was simulated, in ascending order."""
    found: tuple[Found, ...]
    """The answer for each target."""
    low_loss: int | None
    """Smallest value, at or above the largest answer that loses more, whose loss is at most
    `MOST_LOSS` with 95 % confidence; `None` if no tried value keeps to it, or all answers do."""
    engine_s: float
    """Time that the engine spent on its runs, those of earlier commands included."""


@dataclass
class CellSearch:
    """The search of one cell; the three targets share their runs."""

    planned: PlannedCell
    """The cell, which is not scaled."""
    runner: Runner
    """Performs the runs that the store lacks."""
    watched: Callable[[], Callable[[RunProgress], object]] | None = None
    """Called before each set of runs; returns what is then called after each run."""
    _points: dict[int, Point] = field(default_factory=dict)
    """Every value that was simulated."""

    def __post_init__(self) -> None:
        """Writes down the scenario."""
        planned = self.planned
        self._sought = sought(planned.cell)
        self._source = Scenario.of(
            scenario(planned.cell, planned.warm_up_s, planned.measured_s), {}
        )

    @property
    def run_count(self) -> int:
        """Number of finished runs, those that the store held included; for any thread."""
        return sum(len(point.rows) for point in list(self._points.values()))

    def run(self) -> SearchedCell:
        """Searches the answer for each target; runs that the store holds are not repeated.

        Raises:
            RunError: A run failed.
            ClusterError: The cluster or executor cannot perform the runs.
            NotWrittenError: The store cannot be written, for example on a full disk.
        """
        found = tuple(self._search(target) for target in UTILIZATIONS)
        low_loss = self._search_low_loss(found)
        answers = [answer.value for answer in found if answer.value is not None]
        if answers:
            self._simulate_out_to(int(SMALLEST_SHOWN * min(answers)))
            self._simulate_out_to(LARGEST_SHOWN * max(answers))
        return SearchedCell(
            self.planned,
            self._sought,
            tuple(self._tested(value) for value in sorted(self._points)),
            found,
            low_loss,
            sum(row["wall_s"] for point in self._points.values() for row in point.finished),
        )

    def _search(self, utilization: float) -> Found:
        search = self._begin(Target(f"links.{LINK}.utilization", at_least=True, bound=utilization))
        search.run(*self._sought.first, self.planned.form.grid_points)
        # Below the smallest value, the smallest was simulated instead.
        smallest = self._sought.smallest
        if search.answer is None:
            return Found(utilization, None, 0)
        value, too_small = max(search.answer, smallest), max(search.too_small, smallest)
        missing = [limit for limit, tried in search.tried.items() if tried.verdict is Outcome.NO]
        return Found(
            utilization,
            value,
            too_small if search.too_small and too_small < value else 0,
            max((limit for limit in missing if limit > value), default=None),
        )

    def _search_low_loss(self, found: Sequence[Found]) -> int | None:
        """The smallest value from the answers on that keeps to the bound on the loss."""
        loss = Target(f"links.{LINK}.loss_fraction", at_least=False, bound=MOST_LOSS)
        answers = [one.value for one in found if one.value is not None]
        losing = [
            value
            for value in answers
            if float(np.mean(self._points[value].values(loss.metric))) > MOST_LOSS
        ]
        if not losing:
            return None
        search = self._begin(loss)
        reach = min(LOSS_FACTOR * max(losing), self._sought.largest)
        search.run_further(max(losing), max(reach, max(losing) + 1), self.planned.form.grid_points)
        return None if search.answer is None else max(search.answer, self._sought.smallest)

    def _begin(self, target: Target) -> Search:
        """A search for one target that knows every value that was simulated before."""
        search = Search(
            [target],
            lambda values: self._look(values, target),
            lambda tried: self._confirm(tried, target),
            precision=self.planned.form.precision,
            limits=(1, self._sought.largest),
        )
        if known := sorted(self._points):
            search.tried = {tried.limit: tried for tried in self._look(known, target)}
        return search

    def _look(self, values: Sequence[int], target: Target) -> list[Tried]:
        """Simulates values, all at the same time, until the verdict on the target is clear."""
        most = self.planned.form.max_seeds
        points = [self._point(value) for value in values]
        verdicts = {point: Verdicts([target], most) for point in points}

        def needed(point: Point) -> int:
            judged = verdicts[point]
            if point.finished and not judged.look(point.values):
                return len(point.keys)
            return max(next_look(len(point.keys), most), len(point.keys))

        self._complete(list(dict.fromkeys(points)), needed)
        return [
            Tried(value, point, verdicts[point].given)
            for value, point in zip(values, points, strict=True)
        ]

    def _confirm(self, tried: Tried, target: Target) -> Tried:
        """Adds runs to the value that may be the answer, and judges it by all its runs."""
        needed = max(min(CONFIRMING_RUNS, self.planned.form.max_seeds), len(tried.point.keys))
        self._complete([tried.point], needed)
        verdict = confirmed(target, tried.point.values(target.metric))
        return replace(tried, verdicts={target: verdict})

    def _simulate_out_to(self, value: int) -> None:
        """Simulates a value, as far as it is allowed, if it is beyond all others."""
        value = min(max(value, self._sought.smallest), self._sought.largest)
        if not min(self._points) <= value <= max(self._points):
            self._complete([self._point(value)], FIRST_RUNS)

    def _complete(self, points: Sequence[Point], needed: int | Callable[[Point], int]) -> None:
        self.runner.complete(points, needed, progress=self.watched and self.watched())

    def _point(self, value: int) -> Point:
        """The point of a value; of the smallest allowed value, if that is larger."""
        value = max(value, self._sought.smallest)
        if value not in self._points:
            settings: dict[str, object] = {self._sought.key: self._sought.value(value)}
            self._points[value] = Point.of(self._source, settings)
        return self._points[value]

    def _tested(self, value: int) -> Tested:
        point = self._points[value]
        means = {name: float(np.mean(point.values(f"links.{LINK}.{name}"))) for name in METRICS}
        utilization = Tried(value, point).interval(f"links.{LINK}.utilization")
        return Tested(value, len(point.finished), means, utilization.half_width)
