"""The search for the answer to a question of `size`, and its runs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf, sqrt

from tailroom import arguments
from tailroom.arguments import LARGEST_SEED
from tailroom.errors import RunError, ScenarioError, TargetError
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.models import Bottleneck
from tailroom.statistics.outcome import Outcome
from tailroom.studies.phases import PhaseSpread, compare_rows, run_shifted, shifted_points
from tailroom.studies.prediction import Predictions
from tailroom.studies.size_study.accepted_limits import largest_accepted, smallest_accepted
from tailroom.studies.size_study.alphas import ALPHAS, AlphaSearch
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.costs import shown_metrics
from tailroom.studies.size_study.decision import Decision, decide, passed_rates
from tailroom.studies.size_study.doors import (
    Door,
    after_trial,
    best_first,
    known_doors,
    loss_door,
    missed_targets,
    nearest_miss,
    shaper_door,
    short_memory,
    too_few_seeds,
)
from tailroom.studies.size_study.known import Evidence, Known, Tried
from tailroom.studies.size_study.other_queues import other_queues
from tailroom.studies.size_study.question import Question, some_of
from tailroom.studies.size_study.regression import Refused, Regression
from tailroom.studies.size_study.search import GRID_POINTS, Search, Stage, feasible_limits
from tailroom.studies.size_study.size_progress import SizeProgress
from tailroom.studies.size_study.stopping import (
    CONFIRMING_RUNS,
    EARLY_CONFIDENCE,
    FIRST_RUNS,
    Verdicts,
    confirmed,
    next_look,
)
from tailroom.studies.size_study.targets import Target
from tailroom.studies.size_study.varied_key import LARGEST_MULTIPLE, Varied

LARGEST_BDP = 16.0
"""Largest limit that is tested, in bandwidth-delay products."""
LOSS_FACTOR = 4
"""Without regression, the search for a buffer that loses less begins with buffers up to this
multiple of the answer, or one bdp."""
AROUND = 8
"""The search for the value of another key begins between this part and this multiple of it."""
MOST_SHIFTS = 8
"""Maximum number of runs with shifted RTTs in the phase check of the answer."""
LEAST_RATE_GAP = 1.0
"""Largest gap below the least rate of a shaper or a policer that meets, relative to it: people set
the largest."""
MOST_VARIATES = 2
"""Maximum number of groups whose draws are control variates: each costs a degree of freedom."""
RATE_GAP = 0.05
"""Largest gap above the largest rate that is known to meet the targets, relative to it."""
GAP = 1 / 3
"""Largest gap below an answer that is found without regression, relative to `precision`."""
NARROW_GRID_POINTS = 3
"""Number of buffers in an initial bracket of the atlas, which is narrow."""
SEEDS_APART = 1000
"""Distance between the first seeds of buffers of n and n + 1 steps. Runs of two buffers with a
common seed correlate, by 0.9 on the home router's link; the regression would take them for
independent, and 85 % of its intervals would hold the truth."""


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


class QuestionSearch:
    """The search for the answer to a question, and its runs."""

    def __init__(
        self,
        question: Question,
        runner: Runner,
        max_seeds: int,
        precision: float,
        progress: Callable[[SizeProgress], object] | None,
    ) -> None:
        """Begins without runs.

        Args:
            question: The question.
            runner: Performs the runs.
            max_seeds: Maximum number of seeds per value.
            precision: Half-width of the answer's interval relative to the answer.
            progress: Called after each run, and when a stage begins.
        """
        self.question = question
        self.runner = runner
        self.max_seeds = max_seeds
        largest = self._largest()
        self.smallest = smallest_accepted(question.source, question.varied, largest, self._least())
        self.limits = self.smallest.packets, largest
        self.precision = precision
        self.all_targets = (*question.targets, *filter(None, [question.loss]))
        """The caller's targets, and the bound on the loss if there is one."""
        self.known = Known(self.all_targets, self._point)
        """What is known of every tested value, those in progress included."""
        self.search: Search | Regression | AlphaSearch = self._search_for(question.targets)
        self.refusals: dict[tuple[Target, ...], str] = {}
        """Why the regression could not answer, by the targets that it was asked for."""
        self.progress = progress or (lambda _: None)
        self.stage: Stage = "search"
        self.runs = 0
        self.waiting = 0
        """Runs that the values in progress still need, as far as is known."""

    def _least(self) -> int:
        """The smallest value in question, in steps."""
        question = self.question
        if question.varied.is_alpha:
            return ALPHAS[0]
        if question.varied.is_limit or question.value is None:
            return 1
        return max(1, question.value // LARGEST_MULTIPLE)

    def _largest(self) -> int:
        """The largest value in question, in steps."""
        question = self.question
        if question.varied.is_alpha:
            return ALPHAS[-1]
        if question.varied.is_limit or question.value is None:
            return question.varied.steps_of(LARGEST_BDP * max(question.link.bdp_packets, 100))
        most = LARGEST_MULTIPLE * question.value
        return largest_accepted(question.source, question.varied, question.value, most)

    def bracket(self, predictions: Predictions) -> tuple[int, int]:
        """The initial bracket, in steps.

        Args:
            predictions: What the models say of the limit.
        """
        value, steps_of = self.question.value, self.question.varied.steps_of
        if self.question.varied.is_limit or value is None:
            low, high = _bracket(self.question.link, predictions)
            return steps_of(low), steps_of(high)
        smallest, largest = self.limits
        return max(smallest, value // AROUND), min(largest, AROUND * value)

    def _search_for(self, targets: Sequence[Target]) -> Search:
        return Search(
            targets,
            self.look,
            self.confirm,
            precision=LEAST_RATE_GAP
            if self.question.varied.is_passed_rate
            else GAP * self.precision,
            limits=self.limits,
        )

    def judge_alphas(self) -> None:
        """Judges every alpha that switches have."""
        self.search = search = AlphaSearch(
            self.all_targets, self.question.targets, self.look, self.confirm
        )
        search.run()
        # The scenario's own alpha is kept where the runs do not tell it from the best one.
        kept, best = self.chosen, search.answer
        if kept and kept.limit != best:
            self.confirm(kept)
        self.known.settle()

    def find_smallest(self, known: tuple[int, int] | None, predictions: Predictions) -> None:
        """Searches the smallest value, by regression or else one by one.

        Args:
            known: The bracket of the atlas in packets, if there is one.
            predictions: What the models say of the limit.
        """
        wide = (*self.bracket(predictions), GRID_POINTS)
        steps_of = self.question.varied.steps_of
        narrow = (*map(steps_of, known), NARROW_GRID_POINTS) if known else wide
        if not self.find_by_regression(*narrow) and not self.all_meet:
            # Several targets may be met far from where one of them begins to be.
            is_near = known is not None and len(self.question.targets) == 1
            self.find(*(narrow if is_near else wide))
            if is_near and self.search.answer is None:
                self.find(*wide)
        self.limit_loss()
        self.try_scenario_value()
        if self.question.varied.quantity == "rate":
            before = self.search
            self.raise_rate()
            if not self.decision.everything:
                # The interval of the smallest is that of the search before.
                self.search = before
        self.known.settle()

    def find_by_regression(self, low: int, high: int, grid_points: int) -> bool:
        """Searches by regression; returns whether it could answer.

        The bound on the loss is a target like the others, so that the same runs serve all. Where
        the regression refuses them together, as when no buffer keeps to that bound, the others are
        asked alone. What a refused regression has learned stays known.

        Args:
            low: Lower end of the bracket, in steps.
            high: Upper end of the bracket, in steps.
            grid_points: Number of buffers with which the search begins.
        """
        if self.question.varied.is_passed_rate:
            return False
        for targets in dict.fromkeys([self.all_targets, self.question.targets]):
            self.search = regression = Regression(
                targets,
                self.simulate,
                precision=self.precision,
                limits=self.limits,
                max_seeds=self.max_seeds,
                is_counted=self.question.varied.is_counted,
                known=self.known.tried,
                groups=self._groups_with_variates(),
            )
            try:
                regression.run(low, high, grid_points)
            except Refused as reason:
                self.refusals[targets] = str(reason)
                if self.all_meet:
                    break
            else:
                return True
        self.search = self._search_for(self.question.targets)
        self.search.tried = self.known.judged(self.question.targets)
        return False

    def _groups_with_variates(self) -> tuple[str, ...]:
        """The groups of the link whose draws are control variates, chosen before the runs."""
        link = self.question.link
        crossing = {one.group for one in link.classes} | {one.group for one in link.dynamic}
        drawn = self.question.source.handle.variates(0)
        return tuple(group for group, _ in drawn if group in crossing)[:MOST_VARIATES]

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
        for tried in before.tried.values():
            self._judge(tried)
        if before.tried[found].verdict is Outcome.YES:
            return
        self.search = self._search_for(self.all_targets)
        # A value that is open on the loss may need only the runs that the other targets did not.
        self.search.tried = self.known.judged(self.all_targets)
        varied, link = self.question.varied, self.question.link
        bdp = varied.steps_of(round(link.bdp_packets)) if varied.is_limit else 0
        reach = min(max(LOSS_FACTOR * found, bdp), self.limits[1])
        self.search.run_further(found, reach, NARROW_GRID_POINTS)
        if self.search.answer is None:
            self.search = before

    def try_scenario_value(self) -> None:
        """Tests the scenario's own value, where the answer may be to leave it, and if none meets.

        If all values of another key meet, no value at the end of the range is the smallest. A limit
        above the answer may be one that a discipline with other bounds never reaches.
        """
        value, decision, before = self.question.value, self.decision, self.search
        if value is None:
            return
        may_stay = decision.everything is not None
        if self.question.varied.is_limit:
            may_stay = bool(self.question.link.binding) and value > (decision.answer or 0)
        if not may_stay and decision.answer is not None:
            return
        self.search = self._search_for(self.all_targets)
        (tried,) = self.look([value])
        if tried.verdict is Outcome.YES:
            self.search.stage = "confirm"
            self.confirm(tried)
        if self.question.varied.is_limit:
            # The interval of the answer is that of the search before.
            self.search = before

    @property
    def all_meet(self) -> bool:
        """Whether all tested values meet every target, from the end of the tested range upwards.

        No search finds a smallest one then.
        """
        everything = self.decision.everything
        return everything is not None and everything.is_all

    def raise_rate(self) -> None:
        """Closes in on the largest rate that meets, where smaller ones do.

        Of a shaper or a policer that is what people set: a lower rate gives speed away.
        """
        self.search = self._search_for(self.all_targets)
        while gap := self._gap_above():
            high, above = gap
            if above - high <= max(1, RATE_GAP * high):
                self.search.stage = "confirm"
                self.confirm(self.known.tried[high])
                if self._gap_above() == gap:
                    return
            else:
                self.look([round(sqrt(above * high))])

    def _gap_above(self) -> tuple[int, int] | None:
        """The largest rate below the first that misses, and the next tested one; `None` without."""
        decision, tried = self.decision, self.tried
        met, _ = passed_rates(tried, decision.targets)
        if not met or not (decision.everything or self.question.varied.is_passed_rate):
            return None
        above = min((one.limit for one in tried if one.limit > met[-1]), default=None)
        return None if above is None else (met[-1], above)

    @property
    def tried(self) -> list[Tried]:
        """The values with finished runs, judged by them, in ascending order."""
        tried = [one for _, one in sorted(self.known.tried.items()) if one.point.finished]
        for one in tried:
            self._judge(one)
        return tried

    @property
    def decision(self) -> Decision:
        """The answer by what is known."""
        return decide(self.question, self.tried, self.smallest)

    @property
    def chosen(self) -> Tried | None:
        """The value of the answer with its runs; `None` without an answer."""
        answer = self.decision.answer
        return None if answer is None else self.known.tried.get(answer)

    def _judge(self, tried: Tried) -> None:
        """Judges a value on the targets without a clear verdict, by the runs that there are.

        Runs that came later, for another target, may show what was left open. What a fit leaves
        open, the runs of the value alone decide only against it.
        """
        for target in self.all_targets:
            if target not in tried.verdicts:
                found = confirmed(target, tried.point.values(target.metric))
                tried.learn(target, found, Evidence.FIRST_RUNS)
            elif tried.verdicts[target] is Outcome.OPEN and target not in tried.fitted:
                found = target.outcome(tried.interval(target.metric, EARLY_CONFIDENCE))
                is_of_fit = tried.evidence.get(target) is Evidence.FIT
                if found is Outcome.NO or (found is Outcome.YES and not is_of_fit):
                    tried.learn(target, found, Evidence.RUNS)

    def begin(self, stage: Stage) -> None:
        """Reports a stage before its first run ends, unless it is the one in progress."""
        if stage != self.stage:
            self.stage = stage
            self._report()

    def look(self, limits: Sequence[int]) -> list[Tried]:
        """Simulates buffers, all at the same time, until the verdict on each target is clear."""
        self.begin(self.search.stage)
        tried = {one.point: one for one in map(self.known.__getitem__, limits)}
        targets = self.search.targets
        verdicts = {
            point: Verdicts(targets, self.max_seeds, _clear(one)) for point, one in tried.items()
        }

        def needed(point: Point) -> int:
            count = len(point.keys)
            if count < min(FIRST_RUNS, self.max_seeds):
                return next_look(count, self.max_seeds)
            if not verdicts[point].look(point.values):
                for target, outcome in verdicts[point].given.items():
                    tried[point].learn(target, outcome, Evidence.FIRST_RUNS)
                return count
            return next_look(count, self.max_seeds)

        self._complete(list(tried), needed)
        return list(tried.values())

    def simulate(self, totals: Mapping[int, int]) -> list[Tried]:
        """Simulates buffers until each has a number of runs.

        Args:
            totals: The number of runs by limit, in steps.
        """
        self.begin(self.search.stage)
        limit_of = {self.known[limit].point: limit for limit in totals}
        answer = self.search.confirming if isinstance(self.search, Regression) else None
        shifted: list[Point] = []
        if answer is not None and answer in totals:
            # The phase check finds its runs in the store.
            shifts = min(totals[answer], MOST_SHIFTS)
            shifted = shifted_points(self.known[answer].point, shifts)

        def needed(point: Point) -> int:
            return max(len(point.keys), totals[limit_of[point]]) if point in limit_of else 1

        self._complete([*limit_of, *shifted], needed)
        return [self.known[limit] for limit in totals]

    def _point(self, limit: int) -> Point:
        varied = self.question.varied
        point = Point.of(self.question.source, {varied.key: varied.setting(limit)})
        # Seeds end at the largest integer of TOML.
        point.first_seed = (point.first_seed + SEEDS_APART * limit) % (LARGEST_SEED - SEEDS_APART)
        return point

    def confirm(self, tried: Tried) -> Tried:
        """Adds runs to the buffer that may be the answer, and judges it by all its runs."""
        self.begin(self.search.stage)
        most = min(CONFIRMING_RUNS, self.max_seeds)
        self._complete([tried.point], max(most, len(tried.point.keys)))
        for target in self.search.targets:
            found = confirmed(target, tried.point.values(target.metric))
            tried.learn(target, found, Evidence.RUNS)
        return tried

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
        chosen = self.chosen
        if chosen is None:
            return ()
        point = chosen.point
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
        chosen, varied = self.chosen, self.question.varied
        smallest = 1 if varied.counts_packets else self.smallest.packets
        if chosen is None or chosen.limit != smallest or not varied.is_limit:
            return
        name = self.question.link.name
        if any(row[f"links.{name}.drops_packets"] for row in chosen.point.finished):
            return
        others = some_of(self.question.link.other_links)
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
        question, tried = self.question, self.tried
        decision, answer = self.decision, self.decision.answer
        asked = (question.source, question.link, question.varied, tried)
        doors = list(known_doors(*asked, answer=answer))
        if answer is not None or not tried:
            return best_first(doors)
        enough = next((one for one in tried if one.limit == decision.without_loss_target), None)
        if enough and question.loss:
            doors += loss_door(*asked[:3], enough, question.loss)
        else:
            doors += short_memory(*asked)
        one = nearest_miss(tried, decision.targets)
        targets = decision.targets
        missed = missed_targets(one, targets)
        burst = f"links.{question.link.name}.shaper.burst"
        with suppress(ScenarioError):  # no shaper
            shaper, value = Varied.of(question.source, burst)
            if burst != question.varied.key:
                self.begin("doors")
                most = LARGEST_MULTIPLE * value
                largest = largest_accepted(question.source, shaper, value, most)
                after = self._tried_with(one, burst, shaper.setting(largest))
                text = shaper.text(largest)
                doors += shaper_door(burst, text, targets, one, after)
        for queue in other_queues(*asked[:3], one, missed):
            self.begin("doors")
            key, discipline = queue.change
            after = self._tried_with(one, key, discipline) if key else None
            doors.append(after_trial(queue, targets, one, after))
        if not any(door.kind == "too_little_traffic" for door in doors):
            doors += too_few_seeds(one, targets, self.max_seeds)
        return best_first(doors)

    def _tried_with(self, one: Tried, key: str, value: object) -> Tried | None:
        """One run of a tested value with a change of another key, with the seed of the first."""
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
        largest = max(self.known.tried, default=None)
        steps = self.decision.answer or largest
        packets_of = self.question.varied.packets_of
        return self.question.link.with_limit(packets_of(steps)) if steps else self.question.link

    def size(self, predictions: Predictions, phases: tuple[PhaseSpread, ...]) -> Size:
        """The answer from the runs so far.

        Args:
            predictions: What the models say.
            phases: The phase check of the answer.
        """
        question, search, tried = self.question, self.search, tuple(self.tried)
        decision = self.decision
        crossing = search.interval if isinstance(search, Regression) else None
        interval = None
        if crossing and decision.answer is not None:
            interval = crossing.in_whole_steps(decision.answer)
        return Size(
            link=question.link,
            link_chosen=question.link_chosen,
            pools=question.pools,
            targets=decision.targets,
            varied=question.varied,
            answer=decision.answer,
            everything=decision.everything,
            scenario_value=question.value,
            without_loss_target=decision.without_loss_target,
            too_small=decision.too_small,
            tried=tried,
            feasible=tuple(
                feasible_limits(
                    target,
                    tried,
                    question.link if question.varied.is_limit else None,
                    question.varied,
                )
                for target in decision.targets
                if tried
            ),
            predictions=predictions,
            phases=phases,
            precision=self.precision,
            interval=interval,
            why_no_regression=self.refusals.get(tuple(search.targets), ""),
            smallest_accepted=self.smallest,
            kept=self.runner.store,
        )

    def _report(self) -> None:
        known, seeming = self.known, self.known.smallest_seeming
        met = known.met
        ahead = self.waiting + self.search.runs_left
        if self.search.runs_left:
            ahead += MOST_SHIFTS
        self.progress(
            SizeProgress(
                done=self.runs,
                total=self.runs + ahead,
                low=known.too_small,
                high=min(met, default=inf),
                stage=self.stage,
                varied=self.question.varied,
                seeming=inf if seeming is None else seeming,
                met=met,
                missed=known.missed,
            )
        )


def _clear(tried: Tried) -> dict[Target, Outcome]:
    """The verdicts on a value that more runs need not decide."""
    return {
        target: outcome for target, outcome in tried.verdicts.items() if outcome is not Outcome.OPEN
    }
