"""The smallest buffer that meets every target, by simulation within the bracket of the models."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from math import inf
from os import PathLike
from typing import TYPE_CHECKING

from tailroom import arguments, models
from tailroom.arguments import LARGEST_SEED, renamed
from tailroom.buffer_atlas import lookup
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.errors import Interrupted, RunError, ScenarioError, TargetError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.libraries import loading
from tailroom.models import Bottleneck, Requirement
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.scenario import ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.run_warnings import warn
from tailroom.statistics.outcome import Outcome
from tailroom.storage.run import RunsInMemory
from tailroom.studies.phases import PhaseSpread, compare_rows, run_shifted
from tailroom.studies.prediction import Predictions, ask
from tailroom.studies.size_study.accepted_limits import largest_accepted, smallest_accepted
from tailroom.studies.size_study.alphas import ALPHAS, AlphaSearch
from tailroom.studies.size_study.answer import Size, SizeProgress, shown_metrics
from tailroom.studies.size_study.doors import (
    Door,
    after_trial,
    known_doors,
    missed_targets,
    nearest_miss,
)
from tailroom.studies.size_study.other_queues import OtherQueue, other_queues
from tailroom.studies.size_study.question import (
    Numbers,
    Question,
    asked_scenario,
    named_as_arguments,
    read_question,
)
from tailroom.studies.size_study.regression import Refused, Regression
from tailroom.studies.size_study.search import (
    GRID_POINTS,
    Search,
    Stage,
    Tried,
    feasible_limits,
    largest_missing,
    smallest_sufficient,
)
from tailroom.studies.size_study.stopping import (
    CONFIRMING_RUNS,
    Verdicts,
    confirmed,
    next_look,
)
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    from tailroom.storage.store import Store

LARGEST_BDP = 16.0
"""Largest limit that is tested, in bandwidth-delay products."""
LOSS_FACTOR = 4
"""Without regression, the search for a buffer that loses less begins with buffers up to this
multiple of the answer, or one bdp."""
AROUND = 8
"""The search for the value of another key begins between this part and this multiple of it."""
LARGEST_MULTIPLE = 64
"""Largest tested multiple of the value of another key; the smallest is the same part of it."""
MOST_SHIFTS = 8
"""Maximum number of runs with shifted RTTs in the phase check of the answer."""
GAP = 1 / 3
"""Largest gap below an answer that is found without regression, relative to `precision`."""
PRECISION = 0.06
"""Half-width of the interval of the answer, relative to the answer (0.06 = 6 %)."""
NARROW_GRID_POINTS = 3
"""Number of buffers in an initial bracket of the atlas, which is narrow."""
SEEDS_APART = 1000
"""Distance between the first seeds of buffers of n and n + 1 steps. Runs of two buffers with a
common seed correlate, by 0.9 on the home router's link; the regression would take them for
independent, and 85 % of its intervals would hold the truth."""
LOAD_AFTER_S = 1.0
"""Time after which a search loads what writes a store."""


@renamed(targets="target")
def size(  # noqa: PLR0913 - keyword arguments
    scenario: ScenarioLike | None = None,
    target: str | Target | Sequence[str | Target] = (),
    *,
    rate: str | float | None = None,
    rtt: "str | float | timedelta | tuple[float, float] | None" = None,
    flows: int | str | Mapping[str, int] | None = None,
    congestion: Congestion | None = None,
    duration: str | float | timedelta | None = None,
    host: str | None = None,
    access_rate: str | float | None = None,
    subscribers: int | None = None,
    active: float | None = None,
    link: str | None = None,
    vary: str | None = None,
    max_seeds: int = 32,
    precision: float = PRECISION,
    set: Mapping[str, object] | None = None,  # noqa: A002
    store: str | PathLike[str] | None = None,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[SizeProgress], object] | None = None,
    allow_code: bool = False,
    allow_files: bool = False,
    atlas: bool = True,
    most_loss: float | None = MOST_LOSS,
) -> Size:
    """Finds the smallest buffer of a link that meets every target with 95 % confidence.

    Unless a target limits a loss, `most_loss` does: small buffers may give utilization at the cost
    of heavy loss. Where no buffer that is tried keeps to it as well, the answer is the smallest
    buffer that meets the targets, and says what it loses.

    The atlas determines the initial bracket if it has a link nearby and a target is a utilization,
    the models otherwise. After a coarse scan, a regression over the buffers near the
    answer says which limit meets the targets (`studies/size_study/regression.py`). Where it cannot,
    buffers are tested one by one, each with as many seeds as the verdict on the targets needs
    (`studies/size_study/stopping.py`). About half and twice the answer are simulated too.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python; or give `rate` and `rtt`.
        target: One target or several that the buffer must meet, such as `"utilization >= 98%"` or
            `"queue_delay_s_p99 <= 5 ms"`, with metrics of `tailroom list metrics` and their units.
        rate: Without a scenario: rate of the link with its unit, as in `"1 Gbit/s"` or `"1G"`. In
            Python also a number of bit/s.
        rtt: Without a scenario: RTT without queues, as in `"40 ms"` or `"5 ms to 200 ms"`. In
            Python also a number of seconds, or two.
        flows: Without a scenario: number of long flows (1 if left out), or a number per congestion
            control: `"500 cubic, 100 bbr3"` or `"8 cubic, 8 module:Class"`. In Python also
            `{"cubic": 500, "bbr3": 100}`.
        congestion: Congestion control of all flows, or of the only group of a scenario: a name,
            `"module:Class"` of your own, or a table such as `"{ kind = 'aimd', increase = 2.0 }"`;
            without a scenario, CUBIC if left out. In Python also controls by group, as
            `tailroom.run` takes them.
        duration: Without a scenario: simulated duration of a run, as in `"60 s"`. In Python also a
            number of seconds.
        host: Without a scenario: profile of the hosts, `"linux"` if left out.
        access_rate: Without a scenario: rate of the access link of each flow, as in
            `"300 Mbit/s"`; if left out, a flow may send at the rate of the link.
        subscribers: Without a scenario: number of access lines, of which `active` have a long flow
            at the same time; instead of `flows`.
        active: Share of the subscribers that is active at the busiest time, above 0 and at most 1.
        link: The link whose buffer is sought; if left out, the link that the targets name, else
            the slowest link that carries flows. The size or another number of a pool needs none.
        vary: Key of the scenario, or its end, whose smallest sufficient value is sought instead of
            the limit of the link's queue: a target delay, a threshold, the burst of a shaper. It
            has a number of packets, bytes, seconds or bit/s, or a number without a unit; the
            search begins around it. Of the alpha of a pool, powers of two are judged.
        max_seeds: Maximum number of seeds per buffer, at least 4; a target that is still open
            then counts as missed.
        precision: Half-width of the answer's interval relative to the answer, from 0.0001 to 0.5
            (0.06 = 6 %); if buffers are tested one by one, three times the largest gap below the
            answer. The search also ends at a difference of one packet.
        set: Replaces values of the scenario, as `tailroom.run` does.
        store: Directory of the store that keeps the runs, so that the same question needs no
            simulation again; if left out, a temporary store, removed together with the result.
        workers: Maximum number of runs at a time; if left out, the number of cores, or as many as
            `executor` takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called with a `SizeProgress` after each run, and when a stage begins.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); the code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.
        atlas: Whether the atlas may determine the initial bracket.
        most_loss: Largest loss fraction of the link at the answer, above 0 and below 1, if no
            target limits a loss; 0.01 if left out. In Python, `None` is no bound.

    Raises:
        ArgumentError: An argument has the wrong type, or is out of range.
        ScenarioError: The scenario or one of the numbers is wrong, or there is no such link.
        TargetError: A target is malformed or impossible, two targets contradict each other, targets
            name several links, or the buffer makes no difference to the link.
        MetricError: There is no such metric.
        StoreError: The directory is not a store.
        ClusterError: The cluster does not answer (the store is untouched), or the cluster or the
            executor cannot perform the runs.
        ControlError: A control written in Python raised an exception.
        RunError: A run failed.
        Interrupted: Ctrl-C; its `known` is the `Size` from the finished runs, with their store.
    """
    arguments.MAX_SEEDS.check("max_seeds", max_seeds)
    arguments.PRECISION.check("precision", precision)
    arguments.WORKERS.check("workers", workers)
    numbers = Numbers(
        rate, rtt, flows, congestion, duration, host, access_rate, subscribers, active
    )
    with allowing(code=allow_code, files=allow_files), named_as_arguments(scenario):
        asked = asked_scenario(scenario, numbers, set)
        question = read_question(asked, target, link, most_loss, vary)
        assumed = numbers.assumed
    predictions = _predict(question.link, question.targets)
    in_processes = bool(question.source.handle.controls)
    # Ctrl-C writes the runs of a search without a store, and is to end it at once. A process that
    # is forked in the middle of an import could not import the same module.
    is_written_at_end = store is None and not in_processes
    with (
        loading(_load_store, after_s=LOAD_AFTER_S) if is_written_at_end else nullcontext(),
        Runner.open(store, in_processes=in_processes, workers=workers, executor=executor) as runner,
    ):
        known = atlas_bracket(question) if atlas and question.varied.is_limit else None
        work = _Work(question, runner, max_seeds, precision, progress)
        phases: tuple[PhaseSpread, ...] = ()
        doors: tuple[Door, ...] = ()

        try:
            if question.varied.is_alpha:
                work.judge_alphas()
            else:
                work.find_smallest(known, predictions)
            phases = work.check_phases()
            doors = work.find_doors()
        except KeyboardInterrupt:
            # Ctrl-C does not wait for the models: their predictions stay those of the scenario.
            known_so_far = _assessed_at(work.link_of_answer(), predictions)
            runner.store = _on_disk(runner.store)
            raise Interrupted(work.size(known_so_far, phases)) from None
        work.check_that_it_matters()
        work.begin("models")
        predictions = _predict(work.link_of_answer(), question.targets)
        found = replace(work.size(predictions, phases), doors=doors, assumed=assumed)
    warn(found.warnings, levels=3)  # `renamed` is between the caller and this function
    return found


def _predict(link: Bottleneck, targets: Sequence[Target]) -> Predictions:
    """Asks the models for the buffer that meets the targets on utilization and loss.

    Args:
        link: The link, with the limit that the predictions are about.
        targets: The targets.
    """
    bounds = {
        (target.metric.rpartition(".")[2], target.at_least): target.bound for target in targets
    }
    required = {
        "utilization": bounds.get(("utilization", True), 0.0),
        "loss_fraction": bounds.get(("loss_fraction", False), 0.0),
    }
    requirement = Requirement(**{name: bound for name, bound in required.items() if 0 < bound < 1})
    asked = (model for model in models.MODELS.values() if not model.is_slow)
    return Predictions(link, requirement, tuple(ask(model, link, requirement) for model in asked))


def _assessed_at(link: Bottleneck, predictions: Predictions) -> Predictions:
    """The same predictions with the assumptions checked against a link with another limit."""
    answers = tuple(
        replace(answer, assumptions=tuple(answer.model.assumptions(link)))
        if answer.prediction
        else answer
        for answer in predictions.answers
    )
    return replace(predictions, link=link, answers=answers)


def atlas_bracket(question: Question) -> tuple[int, int] | None:
    """The bracket of the atlas for the first target that asks for a utilization of the link.

    Args:
        question: The question.

    Returns:
        The bracket in packets; `None` if there is no such target, or no cell nearby.
    """
    for target in question.targets:
        link, _, metric = target.metric.rpartition(".")
        is_of_link = link.rpartition(".")[2] in ("", question.link.name)
        if target.at_least and metric == "utilization" and is_of_link:
            return lookup.bracket(question.link, target.bound)
    return None


def _bracket(link: Bottleneck, predictions: Predictions) -> tuple[int, int]:
    """The initial bracket, in packets: the models' limits with a margin; else up to two bdp."""
    required = [
        answer.prediction.required_packets
        for answer in predictions.answers
        if answer.prediction and answer.prediction.required_packets is not None
    ]
    largest = LARGEST_BDP * max(link.bdp_packets, 100)
    finite = [packets for packets in required if 1 <= packets <= largest]
    reference = max(2 * link.bdp_packets, link.limit_packets, 100.0)
    low = min(finite, default=reference / 100) / 2
    high = 2 * max(finite, default=reference / 2)
    return max(1, int(low)), max(16, int(high))


def _no_predictions(question: Question) -> Predictions:
    """Predictions of no model."""
    return Predictions(question.link, Requirement(), ())


def _load_store() -> None:
    """Loads what `_on_disk` needs, if it is installed: it takes half a second."""
    with suppress(ModuleNotFoundError):
        import pyarrow as pa  # noqa: PLC0415 - a search that ends soon does not need it

        import tailroom.storage.store  # noqa: F401, PLC0415 - as above

        pa.array([0.0])  # the first array makes Arrow load pandas, if that is installed


def _on_disk(kept: "Store | RunsInMemory") -> "Store | RunsInMemory":
    """The runs of an interrupted search in a store, so that it can be continued.

    They stay in memory if Arrow, with which a store is written, is not installed.
    """
    if not isinstance(kept, RunsInMemory):
        return kept
    try:
        from tailroom.storage.store import Store  # noqa: PLC0415 - it loads Arrow
    except ModuleNotFoundError:
        return kept
    store = Store.create(tempfile.mkdtemp(prefix="tailroom-"))
    store.add(kept.runs.values())
    return store


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
        self.max_seeds = max_seeds
        largest = self._largest()
        least = max(1, (question.value or 1) // LARGEST_MULTIPLE)
        if question.varied.is_alpha:
            least = ALPHAS[0]
        self.smallest = smallest_accepted(question.source, question.varied, largest, least)
        self.limits = self.smallest.packets, largest
        self.precision = precision
        self.search: Search | Regression | AlphaSearch = self._search_for(question.targets)
        self.refusals: dict[tuple[Target, ...], str] = {}
        """Why the regression could not answer, by the targets that it was asked for."""
        self.progress = progress or (lambda _: None)
        self.stage: Stage = "search"
        self.runs = 0
        self.waiting = 0
        """Runs that the buffers in progress still need, as far as is known."""
        self.tried: dict[int, Tried] = {}
        """Buffers with a verdict by limit, buffers in progress included."""

    def _largest(self) -> int:
        """The largest value in question, in packets or steps."""
        question = self.question
        if question.varied.is_alpha:
            return ALPHAS[-1]
        if question.value is None:
            return question.varied.steps_of(LARGEST_BDP * max(question.link.bdp_packets, 100))
        most = LARGEST_MULTIPLE * question.value
        return largest_accepted(question.source, question.varied, question.value, most)

    def bracket(self, predictions: Predictions) -> tuple[int, int]:
        """The initial bracket, in packets or steps.

        Args:
            predictions: What the models say of the limit.
        """
        value, steps_of = self.question.value, self.question.varied.steps_of
        if value is None:
            low, high = _bracket(self.question.link, predictions)
            return steps_of(low), steps_of(high)
        smallest, largest = self.limits
        return max(smallest, value // AROUND), min(largest, AROUND * value)

    def _search_for(self, targets: Sequence[Target]) -> Search:
        return Search(
            targets,
            self.look,
            self.confirm,
            precision=GAP * self.precision,
            limits=self.limits,
        )

    def judge_alphas(self) -> None:
        """Judges every alpha that switches have."""
        self.search = search = AlphaSearch(
            self._all_targets, self.question.targets, self.look, self.confirm
        )
        search.run()

    def find_smallest(self, known: tuple[int, int] | None, predictions: Predictions) -> None:
        """Searches the smallest value, by regression or else one by one.

        Args:
            known: The bracket of the atlas in packets, if there is one.
            predictions: What the models say of the limit.
        """
        wide = (*self.bracket(predictions), GRID_POINTS)
        steps_of = self.question.varied.steps_of
        narrow = (*map(steps_of, known), NARROW_GRID_POINTS) if known else wide
        if not self.find_by_regression(*narrow):
            # Several targets may be met far from where one of them begins to be.
            if known and len(self.question.targets) == 1:
                self.find(*narrow)
            if self.search.answer is None:
                self.find(*wide)
        self.limit_loss()

    def find_by_regression(self, low: int, high: int, grid_points: int) -> bool:
        """Searches by regression; returns whether it could answer.

        The bound on the loss is a target like the others, so that the same runs serve all. Where
        the regression refuses them together, as when no buffer keeps to that bound, the others are
        asked alone.

        Args:
            low: Lower end of the bracket, in steps.
            high: Upper end of the bracket, in steps.
            grid_points: Number of buffers with which the search begins.
        """
        for targets in dict.fromkeys([self._all_targets, self.question.targets]):
            self.search = regression = Regression(
                targets,
                self.simulate,
                precision=self.precision,
                limits=self.limits,
                max_seeds=self.max_seeds,
                is_counted=self.question.varied.is_counted,
            )
            try:
                regression.run(low, high, grid_points)
            except Refused as reason:
                self.refusals[targets] = str(reason)
                self.tried.clear()
            else:
                return True
        self.search = self._search_for(self.question.targets)
        return False

    @property
    def _all_targets(self) -> tuple[Target, ...]:
        """The caller's targets, and the bound on the loss if there is one."""
        return (*self.question.targets, *filter(None, [self.question.loss]))

    def find(self, low: int, high: int, grid_points: int) -> None:
        """Searches buffer by buffer; arguments as of `find_by_regression`."""
        search = self._search_for(self.question.targets)
        search.tried = self.search.tried
        self.search = search
        search.run(low, high, grid_points)

    def limit_loss(self) -> None:
        """Searches on for a buffer that keeps to the bound on the loss, if it was not asked for."""
        loss, found, before = self.question.loss, self.search.answer, self.search
        if loss is None or found is None or loss in before.targets:
            return
        if self._judged(self.tried[found]).verdict is Outcome.YES:
            return
        known = {limit: self._judged(tried) for limit, tried in before.tried.items()}
        self.tried |= known
        self.search = self._search_for(self._all_targets)
        self.search.tried = known
        varied, link = self.question.varied, self.question.link
        bdp = varied.steps_of(round(link.bdp_packets)) if varied.is_limit else 0
        reach = min(max(LOSS_FACTOR * found, bdp), self.limits[1])
        self.search.run_further(found, reach, NARROW_GRID_POINTS)
        if self.search.answer is None:
            self.search = before

    def _judged(self, tried: Tried) -> Tried:
        """A buffer with verdicts on all targets, where there is none by the runs that there are."""
        missing = {
            target: confirmed(target, tried.point.values(target.metric))
            for target in self._all_targets
            if target not in tried.verdicts
        }
        return replace(tried, verdicts={**tried.verdicts, **missing})

    def begin(self, stage: Stage) -> None:
        """Reports a stage before its first run ends, unless it is the one in progress."""
        if stage != self.stage:
            self.stage = stage
            self._report()

    def look(self, limits: Sequence[int]) -> list[Tried]:
        """Simulates buffers, all at the same time, until the verdict on each target is clear."""
        self.begin(self.search.stage)
        points = [self._point(limit) for limit in limits]
        verdicts = {point: Verdicts(self.search.targets, self.max_seeds) for point in points}
        limit_of = dict(zip(points, limits, strict=True))

        def needed(point: Point) -> int:
            judged, limit = verdicts[point], limit_of[point]
            if point.keys and not judged.look(point.values):
                self.tried[limit] = Tried(limit, point, judged.given)
                return len(point.keys)
            return next_look(len(point.keys), self.max_seeds)

        self._complete(points, needed)
        return [self.tried[limit] for limit in limits]

    def simulate(self, totals: Mapping[int, int]) -> list[Tried]:
        """Simulates buffers until each has a number of runs.

        Args:
            totals: The number of runs by limit, in packets.
        """
        self.begin(self.search.stage)
        for limit in totals:
            if limit not in self.tried:
                self.tried[limit] = Tried(limit, self._point(limit))
        limit_of = {self.tried[limit].point: limit for limit in totals}
        self._complete(list(limit_of), lambda point: max(len(point.keys), totals[limit_of[point]]))
        return [self.tried[limit] for limit in totals]

    def _point(self, limit: int) -> Point:
        varied = self.question.varied
        point = Point.of(self.question.source, {varied.key: varied.setting(limit)})
        # Seeds end at the largest integer of TOML.
        point.first_seed = (point.first_seed + SEEDS_APART * limit) % (LARGEST_SEED - SEEDS_APART)
        return point

    def confirm(self, tried: Tried) -> Tried:
        """Adds runs to the buffer that may be the answer, and judges it by all its runs."""
        self.begin(self.search.stage)
        point = tried.point
        self._complete([point], min(CONFIRMING_RUNS, self.max_seeds))
        targets = self.search.targets
        verdicts = {target: confirmed(target, point.values(target.metric)) for target in targets}
        self.tried[tried.limit] = Tried(tried.limit, point, verdicts)
        return self.tried[tried.limit]

    def _complete(self, points: Sequence[Point], needed: int | Callable[[Point], int]) -> None:
        self.runner.complete(points, needed, progress=self._counted())

    def _counted(self) -> Callable[[RunProgress], None]:
        """Returns a callback that adds the runs of one call to the runs before, and reports."""
        before = self.runs

        def report(state: RunProgress) -> None:
            self.runs = before + state.done - state.found
            self.waiting = state.total - state.done
            self._report()

        return report

    def check_phases(self) -> tuple[PhaseSpread, ...]:
        """Repeats the answer with RTTs shifted by fractions of a packet time."""
        packets = self.search.answer
        if packets is None:
            return ()
        point = self.search.tried[packets].point
        shifts = min(len(point.keys), MOST_SHIFTS)
        self.begin("phases")
        shifted = run_shifted(self.runner, point, shifts, self._counted())
        metrics = [
            *(target.metric for target in self.question.targets),
            *shown_metrics(self.question.link, self.question.pools, point.finished),
        ]
        return tuple(compare_rows(point.finished, shifted, metrics))

    def check_that_it_matters(self) -> None:
        """Rejects an answer of one packet for a link that drops no packet.

        Raises:
            TargetError: The buffer of this link makes no difference.
        """
        answer, varied = self.search.answer, self.question.varied
        smallest = 1 if varied.counts_packets else self.smallest.packets
        if answer != smallest or not varied.is_limit:
            return
        name = self.question.link.name
        rows = self.search.tried[smallest].point.finished
        if any(row[f"links.{name}.drops_packets"] for row in rows):
            return
        others = ", ".join(self.question.link.other_links)
        elsewhere = (
            f"; choose another link ({others}) with {arguments.usage('link', 'NAME')}"
            if others
            else ""
        )
        raise TargetError(
            f"the buffer of link {name} makes no difference: with room for "
            f"{varied.text(smallest)}, no packet was dropped and every target was met{elsewhere}"
        )

    def find_doors(self) -> tuple[Door, ...]:
        """What decides where the varied value does not; another queue is tried in one run."""
        question, found = self.question, self.size(_no_predictions(self.question), ())
        is_met = not (found.is_unmet or found.misses_loss_target)
        asked = (question.source, question.link, question.varied, found.tried)
        doors = list(known_doors(*asked, is_met=is_met))
        if is_met or not found.tried:
            return tuple(doors)
        one = nearest_miss(found.tried)
        missed = missed_targets(one)
        for queue in other_queues(*asked[:3], one, missed):
            self.begin("doors")
            doors.append(
                after_trial(queue, missed, one.point.finished[0], self._tried_with(one, queue))
            )
        return tuple(doors)

    def _tried_with(self, one: Tried, queue: OtherQueue) -> Tried | None:
        """One run of a tested value with a change at another queue, with the seed of the first."""
        key, value = queue.change
        if not key:
            return None
        varied = self.question.varied
        try:
            point = Point.of(
                self.question.source, {varied.key: varied.setting(one.limit), key: value}
            )
            point.first_seed = one.point.first_seed
            self._complete([point], 1)
        except (ScenarioError, RunError):
            return None
        return Tried(one.limit, point)

    def link_of_answer(self) -> Bottleneck:
        """The link with the limit of the answer; without an answer, with the largest tested one.

        With the limit of the scenario, if another key is varied.
        """
        if not self.question.varied.is_limit:
            return self.question.link
        largest = max(self.tried, default=None)
        steps = self.search.answer or largest
        packets_of = self.question.varied.packets_of
        return self.question.link.with_limit(packets_of(steps)) if steps else self.question.link

    def size(self, predictions: Predictions, phases: tuple[PhaseSpread, ...]) -> Size:
        """The answer from the runs so far."""
        question = self.question
        ended = [one for one in self.tried.values() if one.point.finished]
        tried = tuple(map(self._judged, sorted(ended, key=lambda one: one.limit)))
        is_best = isinstance(self.search, AlphaSearch)
        answer = self.search.answer if is_best else None
        without_loss_target = answer or smallest_sufficient(tried, question.targets)
        # Without an answer to the caller's targets, the bound on the loss was not asked for.
        added = [question.loss] if question.loss and without_loss_target else []
        targets = (*question.targets, *added)
        smallest = answer or smallest_sufficient(tried, targets) or without_loss_target
        decided = targets if smallest_sufficient(tried, targets) else question.targets
        return Size(
            link=question.link,
            link_chosen=question.link_chosen,
            pools=question.pools,
            targets=targets,
            varied=question.varied,
            smallest=smallest,
            without_loss_target=without_loss_target,
            too_small=0 if is_best else largest_missing(tried, decided),
            tried=tried,
            feasible=tuple(
                feasible_limits(
                    target,
                    tried,
                    question.link if question.varied.is_limit else None,
                    question.varied,
                )
                for target in targets
                if tried
            ),
            predictions=predictions,
            phases=phases,
            precision=self.precision,
            interval=self.search.interval if isinstance(self.search, Regression) else None,
            why_no_regression=self.refusals.get(tuple(self.search.targets), ""),
            smallest_accepted=self.smallest,
            kept=self.runner.store,
        )

    def _report(self) -> None:
        tried, targets = self.tried.values(), self.search.targets
        enough = smallest_sufficient(tried, targets)
        ahead = self.waiting + self.search.runs_left
        if self.search.runs_left:
            ahead += MOST_SHIFTS
        self.progress(
            SizeProgress(
                done=self.runs,
                total=self.runs + ahead,
                low=largest_missing(tried, targets),
                high=inf if enough is None else enough,
                stage=self.stage,
                varied=self.question.varied,
            )
        )
