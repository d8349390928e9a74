"""The smallest buffer that meets every goal, found by simulation between the models' brackets."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from os import PathLike
from pathlib import Path

from tailroom import models
from tailroom.errors import Interrupted, TargetError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.models import Bottleneck, Requirement
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.source import own_controls
from tailroom.scenario.types import Scenario
from tailroom.storage.store import Store
from tailroom.studies.phases import PhaseSpread, compare_rows, run_shifted
from tailroom.studies.prediction import Predictions, ask
from tailroom.studies.renamed_arguments import renamed_arguments
from tailroom.studies.size_study.answer import SHOWN_METRICS, Size, SizeProgress
from tailroom.studies.size_study.question import Numbers, Question, asked_scenario, read_question
from tailroom.studies.size_study.search import (
    Search,
    Tried,
    feasible_limits,
    largest_missing,
    smallest_sufficient,
)
from tailroom.studies.size_study.stopping import (
    CONFIRMING_RUNS,
    FIRST_RUNS,
    Verdicts,
    confirmed,
    next_look,
)
from tailroom.studies.size_study.targets import Target

LARGEST_BDP = 16.0
"""Largest limit that is tried, in bandwidth-delay products."""
MOST_SHIFTS = 16
"""Maximum number of runs with shifted RTTs in the phase check of the answer."""
PRECISION = 0.02
"""Relative tolerance of the answer (0.02 = 2 %)."""
RUNS_PER_LOOK = 14
"""Typical number of runs of a buffer near an edge; a guess for the progress bar."""


@renamed_arguments(at_most="max_seeds")
def size(  # noqa: PLR0913 - each says one thing about the question
    scenario: str | PathLike[str] | Scenario | None = None,
    targets: Sequence[str | Target] = (),
    *,
    rate: str | None = None,
    rtt: str | None = None,
    flows: int | Mapping[str, int] | None = None,
    congestion: str | Mapping[str, str | ControlFactory] | None = None,
    duration: str | None = None,
    host: str | None = None,
    link: str | None = None,
    store: str | PathLike[str] | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    max_seeds: int = 32,
    precision: float = PRECISION,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[SizeProgress], object] | None = None,
) -> Size:
    """Finds the smallest buffer of a link that meets every target with 95 % confidence.

    The models say where to look. Buffers are simulated with as many seeds as it takes to tell
    whether a target is met (at most `max_seeds`; `studies/size_study/stopping.py` has the rule),
    first over the whole bracket, then around the edge, then at about half and twice the answer.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python; or give `rate` and `rtt`.
        targets: Such as `"utilization >= 98%"` or `"queue_delay_s_p99 <= 5 ms"`; metrics as
            `tailroom run --json` names them.
        rate: Without a scenario: rate of the link, as in `"1 Gbit/s"`.
        rtt: Without a scenario: RTT without queues, as in `"40 ms"` or `"5 ms to 200 ms"`.
        flows: Without a scenario: number of long flows (1 if left out), or how many of each
            congestion control: `{"cubic": 500, "bbr3": 100}`.
        congestion: Congestion controls by group, as `tailroom.run` takes them; without a scenario
            the name of the one of all flows, CUBIC if left out.
        duration: Without a scenario: simulated time of a run.
        host: Without a scenario: profile of the hosts, `"linux"` if left out.
        link: The link whose buffer is sought; if left out, the one that the targets name, else the
            slowest that carries flows.
        store: Keeps the runs there, so that asking again takes no time; else they are dropped.
        set: Replaces values of the scenario, as `tailroom.run` does.
        max_seeds: Maximum number of seeds per buffer, at least 4; a target that is still open
            then counts as not met.
        precision: Relative tolerance of the answer; the search also ends at a gap of one packet.
        workers: Maximum number of runs at a time; as many as there are cores if left out, or as
            the executor takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called after each run.

    Raises:
        ScenarioError: The scenario or one of the numbers is wrong, or there is no such link.
        TargetError: A target is malformed or impossible, two contradict one another, they name
            several links, or the buffer makes no difference to the link.
        MetricError: There is no such metric.
        ClusterError: The cluster does not answer (the store is untouched), or it or the executor
            cannot perform the runs.
        RunError: A run failed.
        Interrupted: Ctrl-C; its `known` is a `Size` as far as it goes, with the store of the
            finished runs.
    """
    control = congestion if isinstance(congestion, str) else None
    by_group = congestion if isinstance(congestion, Mapping) else None
    asked = asked_scenario(scenario, Numbers(rate, rtt, flows, control, duration, host))
    question = read_question(asked, targets, link, set or {}, by_group)
    predictions = _predict(question.link, question.goals)
    with (
        _place(store) as place,
        Runner.opened(
            place,
            in_processes=bool(own_controls(question.source.resolve(seed=None))),
            workers=workers,
            executor=executor,
        ) as runner,
    ):
        kept = runner.store
        work = _Work(question, runner, max_seeds, precision, progress)
        phases: tuple[PhaseSpread, ...] = ()

        try:
            work.search.run(*_bracket(question.link, predictions))
            phases = work.check_phases()
        except KeyboardInterrupt:
            raise Interrupted(work.size(predictions, phases, kept)) from None
        work.check_that_it_matters()
        return work.size(predictions, phases, kept if store else None)


def _predict(link: Bottleneck, goals: Sequence[Target]) -> Predictions:
    """Asks every model for the buffer that meets the goals that it knows."""
    known = {(goal.metric.rpartition(".")[2], goal.at_least): goal.bound for goal in goals}
    named = {
        "utilization": known.get(("utilization", True), 0.0),
        "loss_fraction": known.get(("loss_fraction", False), 0.0),
    }
    target = Requirement(**{name: bound for name, bound in named.items() if 0 < bound < 1})
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


@contextmanager
def _place(store: str | PathLike[str] | None) -> Iterator[Path]:
    """Where runs are kept: in the store, else in a directory that is there for this question.

    After Ctrl-C that directory stays, so that the search can go on from there.
    """
    if store:
        yield Path(store)
        return
    place = Path(tempfile.mkdtemp(prefix="tailroom-"))
    is_wanted = False
    try:
        yield place
    except Interrupted:
        is_wanted = True
        raise
    finally:
        if not is_wanted:
            shutil.rmtree(place, ignore_errors=True)


class _Work:
    """A search and its runs."""

    def __init__(
        self,
        question: Question,
        runner: Runner,
        max_seeds: int,
        precision: float,
        progress: Callable[[SizeProgress], object] | None,
    ) -> None:
        self.question = question
        self.runner = runner
        self.max_seeds = max(max_seeds, FIRST_RUNS)
        largest = int(LARGEST_BDP * max(question.link.bdp_packets, 100))
        self.search = Search(
            question.goals, self.look, self.confirm, precision=precision, largest=largest
        )
        self.progress = progress or (lambda _: None)
        self.runs = 0
        self.waiting = 0
        """Runs that the present look still needs, as far as is known."""
        self.tried: dict[int, Tried] = {}
        """Buffers with a verdict, those of the present look included."""

    def look(self, limits: Sequence[int]) -> list[Tried]:
        """Simulates buffers until each goal's verdict is clear, all of them side by side."""
        key = f"links.{self.question.link.name}.queue.limit"
        points = [Point.of(self.question.source, {key: f"{limit} packets"}) for limit in limits]
        verdicts = {point: Verdicts(self.question.goals, self.max_seeds) for point in points}
        limit_of = dict(zip(points, limits, strict=True))

        def needed(point: Point) -> int:
            judged, limit = verdicts[point], limit_of[point]
            if point.keys and not judged.look(point.values):
                self.tried[limit] = Tried(limit, point, judged.given)
                return len(point.keys)
            return next_look(len(point.keys), self.max_seeds)

        self._complete(points, needed)
        return [self.tried[limit] for limit in limits]

    def confirm(self, tried: Tried) -> Tried:
        """Adds runs to the buffer that may be the answer, and judges all of them."""
        point = tried.point
        self._complete([point], min(CONFIRMING_RUNS, self.max_seeds))
        goals = self.question.goals
        verdicts = {goal: confirmed(goal, point.values(goal.metric)) for goal in goals}
        self.tried[tried.limit] = Tried(tried.limit, point, verdicts)
        return self.tried[tried.limit]

    def _complete(self, points: Sequence[Point], needed: int | Callable[[Point], int]) -> None:
        self.runner.complete(points, needed, progress=self._counted())

    def _counted(self) -> Callable[[RunProgress], None]:
        """What counts the runs of one look, and reports them with those before."""
        before = self.runs

        def report(state: RunProgress) -> None:
            self.runs = before + state.done - state.found
            self.waiting = state.planned - state.done
            self._report()

        return report

    def check_phases(self) -> tuple[PhaseSpread, ...]:
        """Repeats the answer with RTTs shifted by fractions of a packet time."""
        packets = self.search.answer
        if packets is None:
            return ()
        point = self.search.tried[packets].point
        shifts = min(len(point.keys), MOST_SHIFTS)

        shifted = run_shifted(self.runner, point, shifts, self._counted())
        goals = [goal.metric for goal in self.question.goals]
        metrics = [*goals, *(f"links.{self.question.link.name}.{name}" for name in SHOWN_METRICS)]
        return tuple(compare_rows(point.finished, shifted, metrics))

    def check_that_it_matters(self) -> None:
        """Refuses an answer of one packet for a link where no packet is ever dropped.

        Raises:
            TargetError: The buffer of this link makes no difference.
        """
        if self.search.answer != 1:
            return
        name = self.question.link.name
        rows = self.search.tried[1].point.finished
        if any(row[f"links.{name}.drops_packets"][0].as_py() for row in rows):
            return
        others = ", ".join(self.question.link.other_links)
        elsewhere = (
            f"; choose another one ({others}) with --link NAME (in Python: link)" if others else ""
        )
        raise TargetError(
            f"the buffer of link {name} makes no difference: with room for 1 packet, no packet was "
            f"dropped and every target was met{elsewhere}"
        )

    def size(
        self, predictions: Predictions, phases: tuple[PhaseSpread, ...], store: Store | None
    ) -> Size:
        """What is known now."""
        question = self.question
        tried = tuple(self.tried[limit] for limit in sorted(self.tried))
        return Size(
            link=question.link,
            link_chosen=question.link_chosen,
            goals=question.goals,
            limit_packets=smallest_sufficient(tried),
            too_small_packets=largest_missing(tried),
            tried=tried,
            feasible=tuple(feasible_limits(goal, tried) for goal in question.goals if tried),
            predictions=predictions,
            phases=phases,
            store=store,
        )

    def _report(self) -> None:
        enough = smallest_sufficient(self.tried.values())
        ahead = self.waiting + RUNS_PER_LOOK * self.search.looks_left
        if self.search.looks_left:
            ahead += MOST_SHIFTS
        self.progress(
            SizeProgress(
                runs=self.runs,
                expected_runs=self.runs + ahead,
                low=largest_missing(self.tried.values()),
                high=inf if enough is None else enough,
            )
        )
