"""The smallest buffer that meets every goal, found by simulation between the models' brackets."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import exp, inf, isfinite, log, sqrt
from os import PathLike
from typing import TYPE_CHECKING

from tailroom import models
from tailroom._engine import RunError
from tailroom.cluster import ClusterLike, connected
from tailroom.confidence import Interval, mean_interval
from tailroom.goals import Goal, check_goals, parse_goal
from tailroom.metrics import find_metric, full_names, names_of
from tailroom.models import Bottleneck, Target
from tailroom.own_controls import ControlFactory
from tailroom.phases import PhaseSpread, compare_rows, run_shifted
from tailroom.predict import Predictions, ask
from tailroom.runner import Point, Runner, Task
from tailroom.scenario import ScenarioText
from tailroom.scenario_types import Scenario
from tailroom.store import Run, Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_RUNS = 4
"""Runs of a buffer before anything is concluded."""
EARLY_CONFIDENCE = 0.995
"""What is concluded before the last run has to be surer, as there are several looks."""
GRID_POINTS = 7
"""Buffers of the first look, evenly spread on a logarithmic scale."""
LARGEST_BDP = 16.0
"""No buffer beyond so many bandwidth-delay products is tried."""
SHOWN_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that an answer is shown with, besides the goals'."""
MOST_SHIFTS = 16
"""Of the answer, to check its phases; as many as it has runs up to this number."""
PRECISION = 0.02
"""The answer is the smallest buffer to this part, or to a packet."""


@dataclass
class Tried:
    """A buffer that was simulated."""

    limit: int
    """In packets that wait."""
    point: Point
    verdicts: dict[Goal, bool | None] = field(default_factory=dict)
    """Whether each goal is met, with 95 % confidence; `None` if that stays open."""

    def interval(self, metric: str, confidence: float = 0.95) -> Interval:
        """A metric's mean over the runs, with its interval."""
        return mean_interval(self.point.values(metric), confidence)

    @property
    def verdict(self) -> bool | None:
        """Whether all goals are met together."""
        if all(self.verdicts.values()):
            return True
        return False if False in self.verdicts.values() else None


@dataclass(frozen=True)
class Feasible:
    """Where a goal is met: between two limits, as far as buffers were tried."""

    goal: Goal
    low: float
    """Smallest limit that meets it, in packets; 0 if the smallest that was tried does, infinite if
    none does."""
    high: float
    """Largest limit that meets it; infinite if it is met by the largest that was tried."""
    is_one_interval: bool
    """Whether all buffers tried between the two meet it, or may: where not, it is not monotone."""


@dataclass(frozen=True)
class Size:
    """The answer to: how much buffer does this link need?"""

    link: Bottleneck
    goals: tuple[Goal, ...]
    limit_packets: int | None
    """Smallest limit that meets every goal with 95 % confidence, in packets that wait; `None` if
    none of those tried does."""
    tried: tuple[Tried, ...]
    """Every buffer that was simulated, by limit."""
    feasible: tuple[Feasible, ...]
    """Where each goal is met, in the order of the goals."""
    predictions: Predictions
    """What the models ask for."""
    phases: tuple[PhaseSpread, ...]
    """The answer's metrics with shifted RTTs, the goals' first; empty without an answer."""
    store: Store | None
    """Where the runs are, if they were to be kept."""

    @property
    def chosen(self) -> Tried | None:
        """The answer's own runs."""
        return next((one for one in self.tried if one.limit == self.limit_packets), None)

    @property
    def conflicts(self) -> list[tuple[Goal, Goal]]:
        """Pairs of goals that are met by some buffers each, and by none together."""
        pairs = [
            (one, other)
            for place, one in enumerate(self.feasible)
            for other in self.feasible[place + 1 :]
            if isfinite(one.low) and isfinite(other.low)
        ]
        apart = [(a, b) for a, b in pairs if max(a.low, b.low) > min(a.high, b.high)]
        return [(one.goal, other.goal) for one, other in apart]

    @property
    def unseen(self) -> list[tuple[Goal, int]]:
        """Bounds on loss that the answer's runs are too short to show, with their packets.

        None was lost, and by the rule of three (Hanley, Lippman-Hand 1983) up to 3 in so many may
        be expected all the same.
        """
        found = []
        for goal in self.goals if self.chosen else ():
            rows = list(self.chosen.point.rows.values()) if self.chosen else []
            known = names_of(rows[0])
            link, _, metric = find_metric(goal.metric, known).rpartition(".")
            arrivals = f"{link}.arrivals_packets"
            if goal.at_least or metric != "loss_fraction" or arrivals not in known:
                continue
            packets = sum(row[arrivals][0].as_py() for row in rows)
            lost = any(row[f"{link}.loss_fraction"][0].as_py() for row in rows)
            if not lost and goal.bound * packets < 3:
                found.append((goal, int(packets)))
        return found

    def plot(self) -> "Figure":
        """Draws each goal's metric over the buffer, and utilization against delay."""
        from tailroom.plots import size_curves  # noqa: PLC0415 - matplotlib takes a second

        return size_curves.draw(self)


@dataclass(frozen=True)
class SizeProgress:
    """How far the search is."""

    runs: int
    low: int
    """Largest limit known to be too small, or 0."""
    high: float
    """Smallest limit known to suffice; infinite before one is found."""


def size(  # noqa: PLR0913 - each says one thing about the question
    scenario: str | PathLike[str] | Scenario,
    goals: Sequence[str | Goal],
    *,
    link: str | None = None,
    store: str | PathLike[str] | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Mapping[str, str | ControlFactory] | None = None,
    at_most: int = 32,
    precision: float = PRECISION,
    workers: int | None = None,
    cluster: "ClusterLike | None" = None,
    progress: Callable[[SizeProgress], object] | None = None,
) -> Size:
    """Finds the smallest buffer of a link that meets every goal with 95 % confidence.

    The models say where to look. Buffers are simulated with as many seeds as it takes to tell
    whether a goal is met (at most `at_most`), first over the whole bracket, then around the edge.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python.
        goals: Such as `"utilization >= 0.98"`; metrics as `tailroom run --json` names them.
        link: The link whose buffer is sought; if left out, the one that its traffic fills first.
        store: Keeps the runs there, so that asking again takes no time; else they are dropped.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, as `tailroom.run` takes them.
        at_most: Seeds of one buffer; a goal that is still open then counts as not met.
        precision: The answer is the smallest buffer to this part of it, or to a packet.
        workers: Runs at a time; as many as there are cores if left out, or as the cluster takes.
        cluster: Runs them there, as in `tailroom.sweep`.
        progress: Called after each run.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link.
        GoalError: A goal is none, or two contradict one another.
        MetricError: There is no such metric.
        ClusterError: The cluster does not answer (the store is untouched), or cannot do the runs.
        RunError: A run failed.
    """
    wanted = [parse_goal(goal) if isinstance(goal, str) else goal for goal in goals]
    check_goals(wanted)
    source = ScenarioText.of(scenario, set or {}, congestion)
    bottleneck = models.read_bottleneck(source, link)
    names = full_names(source, [goal.metric for goal in wanted])
    check_goals([replace(goal, metric=names[goal.metric]) for goal in wanted])
    predictions = _predict(bottleneck, wanted)
    with ExitStack() as stack:
        connection = stack.enter_context(connected(cluster))
        place = store or stack.enter_context(tempfile.TemporaryDirectory(prefix="tailroom-"))
        kept = Store.create(place)
        runner = stack.enter_context(Runner(source, kept, workers=workers, cluster=connection))
        search = _Search(source, bottleneck, wanted, kept, runner, at_most, progress)
        search.run(*_bracket(bottleneck, predictions), precision)
        found = search.answer()
        phases = () if found is None else search.check_phases(found)
    tried = tuple(search.tried[limit] for limit in sorted(search.tried))
    return Size(
        link=bottleneck,
        goals=tuple(wanted),
        limit_packets=found,
        tried=tried,
        feasible=tuple(feasible_limits(goal, tried) for goal in wanted),
        predictions=predictions,
        phases=phases,
        store=kept if store else None,
    )


def _predict(link: Bottleneck, goals: Sequence[Goal]) -> Predictions:
    """Asks every model for the buffer that meets the goals that it knows."""
    known = {(goal.metric.rpartition(".")[2], goal.at_least): goal.bound for goal in goals}
    named = {
        "utilization": known.get(("utilization", True), 0.0),
        "loss_fraction": known.get(("loss_fraction", False), 0.0),
    }
    target = Target(**{name: bound for name, bound in named.items() if 0 < bound < 1})
    answers = tuple(ask(model, link, target) for model in models.MODELS.values())
    return Predictions(link, target, answers)


def _bracket(link: Bottleneck, predictions: Predictions) -> tuple[int, int]:
    """Where the models place the answer, with a margin; without an answer, up to two bdp."""
    required = [
        answer.prediction.required_packets
        for answer in predictions.answers
        if answer.prediction and answer.prediction.required_packets is not None
    ]
    finite = [one for one in required if 1 <= one <= LARGEST_BDP * max(link.bdp_packets, 100)]
    reference = max(2 * link.bdp_packets, link.limit_packets, 100.0)
    low = min(finite, default=reference / 100) / 2
    high = 2 * max(finite, default=reference / 2)
    return max(1, int(low)), max(16, int(high))


class _Search:
    """Buffers tried so far, and the next one to try."""

    def __init__(  # noqa: PLR0913, PLR0917 - a search needs them all
        self,
        source: ScenarioText,
        link: Bottleneck,
        goals: list[Goal],
        store: Store,
        runner: Runner,
        at_most: int,
        progress: Callable[[SizeProgress], object] | None,
    ) -> None:
        self.source = source
        self.link = link
        self.goals = goals
        self.store = store
        self.runner = runner
        self.at_most = max(at_most, FIRST_RUNS)
        self.progress = progress or (lambda _: None)
        self.tried: dict[int, Tried] = {}
        self.runs = 0

    def run(self, low: int, high: int, precision: float) -> None:
        """Looks over the bracket, widens it where needed, then closes in on the edge."""
        self.look(_spread(low, high))
        self._widen(int(LARGEST_BDP * max(self.link.bdp_packets, 100)))
        if self.answer() is None:
            self._seek(precision, self.goals)
        if self.answer() is None:
            # They conflict: say where each of them is met.
            for goal in self.goals:
                self._seek(precision, [goal])
        self._close_in(precision)

    def check_phases(self, limit: int) -> tuple[PhaseSpread, ...]:
        """Repeats a buffer with RTTs shifted by fractions of a packet time."""
        point = self.tried[limit].point

        def count(_done: int, _planned: int) -> None:
            self.runs += 1
            self._report()

        shifted = run_shifted(self.runner, point, min(len(point.keys), MOST_SHIFTS), count)
        goals = [goal.metric for goal in self.goals]
        metrics = [*goals, *(f"links.{self.link.name}.{name}" for name in SHOWN_METRICS)]
        return tuple(compare_rows(point.finished, shifted, metrics))

    def _widen(self, largest: int) -> None:
        """Tries larger and smaller buffers while goals that are missed come nearer that way."""
        while self.answer() is None and max(self.tried) < largest and self._gains(-1, -2):
            self.look([min(4 * max(self.tried), largest)])
        while self.answer() is None and min(self.tried) > 1 and self._gains(0, 1):
            self.look([min(self.tried) // 4 or 1])
        while self.answer() == min(self.tried) > 1:
            self.look([min(self.tried) // 4 or 1])

    def look(self, limits: Sequence[int]) -> None:
        """Simulates buffers until each goal's verdict is clear, all of them side by side."""
        new = [limit for limit in dict.fromkeys(limits) if limit not in self.tried]
        key = f"links.{self.link.name}.queue.limit"
        points = [
            Point.of(self.source, place, {key: f"{limit} packets"})
            for place, limit in enumerate(new)
        ]

        def taken(task: Task, ended: Run | RunError) -> list[Task]:
            if isinstance(ended, RunError):
                raise ended
            point = points[task.point]
            point.take(task, ended)
            self.runs += 1
            self._report()
            return self._more(point)

        first = [
            task
            for point in points
            for task in (point.missing(self.store, FIRST_RUNS) or self._more(point))
        ]
        self.runner.run(first, taken)
        for limit, point in zip(new, points, strict=True):
            verdicts = {goal: self._verdict(point, goal) for goal in self.goals}
            self.tried[limit] = Tried(limit, point, verdicts)
        self._report()

    def _more(self, point: Point) -> list[Task]:
        """More runs of a buffer while a goal's verdict is open."""
        while point.is_settled and len(point.keys) < self.at_most:
            if all(self._verdict(point, goal) is not None for goal in self.goals):
                break
            missing = point.missing(self.store, min(2 * len(point.keys), self.at_most))
            if missing:
                return missing
        return []

    def _verdict(self, point: Point, goal: Goal) -> bool | None:
        is_last = len(point.keys) >= self.at_most
        confidence = 0.95 if is_last else EARLY_CONFIDENCE
        return goal.verdict(mean_interval(point.values(goal.metric), confidence))

    def answer(self) -> int | None:
        """The smallest limit tried that meets every goal."""
        return min((one.limit for one in self.tried.values() if one.verdict), default=None)

    def _gains(self, at: int, beside: int) -> bool:
        """Whether a goal that an end of the range misses is nearer there than beside it."""
        limits = sorted(self.tried)
        end, inner = self.tried[limits[at]], self.tried[limits[beside]]
        return any(
            goal.margin(end.interval(goal.metric).mean)
            > goal.margin(inner.interval(goal.metric).mean)
            for goal, verdict in end.verdicts.items()
            if not verdict
        )

    def _close_in(self, precision: float) -> None:
        """Halves the gap below the answer, on a logarithmic scale, until it is narrow."""
        while (good := self.answer()) is not None:
            bad = max((one for one in self.tried if one < good), default=0)
            if good - bad <= max(1.0, precision * good):
                return
            middle = round(sqrt(max(bad, 0.5) * good))
            self.look([min(max(middle, bad + 1), good - 1)])

    def _seek(self, precision: float, goals: Sequence[Goal]) -> None:
        """Looks between neighbours of which each meets what the other misses of these goals.

        For all goals together this is where a buffer may meet them all, for one it is its edge.
        """
        while True:
            tried = [self.tried[limit] for limit in sorted(self.tried)]
            found = self.answer() if len(goals) > 1 else None
            middle = _widest_gap(tried, goals, precision)
            if found is not None or middle is None:
                return
            self.look([middle])

    def _report(self) -> None:
        good = self.answer()
        below = [one for one in self.tried if good is None or one < good]
        self.progress(SizeProgress(self.runs, max(below, default=0), inf if good is None else good))


def _spread(low: int, high: int) -> list[int]:
    steps = GRID_POINTS - 1
    ratio = log(high / low) / steps
    return [round(low * exp(ratio * step)) for step in range(GRID_POINTS)]


def _widest_gap(tried: Sequence[Tried], goals: Sequence[Goal], precision: float) -> int | None:
    """The middle of the widest gap between neighbours that meet all the goals between them."""
    gaps = []
    for small, large in pairwise(tried):
        met = [(bool(small.verdicts[goal]), bool(large.verdicts[goal])) for goal in goals]
        is_edge = all(a or b for a, b in met) and any(a != b for a, b in met)
        if is_edge and large.limit - small.limit > max(1.0, precision * large.limit):
            middle = round(sqrt(small.limit * large.limit))
            inside = min(max(middle, small.limit + 1), large.limit - 1)
            gaps.append((large.limit / small.limit, inside))
    return max(gaps)[1] if gaps else None


def feasible_limits(goal: Goal, tried: Sequence[Tried]) -> Feasible:
    """Where a goal is met, as far as buffers were tried."""
    met = [one.limit for one in tried if one.verdicts[goal]]
    if not met:
        return Feasible(goal, inf, inf, is_one_interval=True)
    low, high = min(met), max(met)
    inside = [one for one in tried if low < one.limit < high]
    is_one = all(one.verdicts[goal] is not False for one in inside)
    from_none = 0 if low == tried[0].limit else low
    return Feasible(goal, from_none, inf if high == tried[-1].limit else high, is_one)
