"""The smallest buffer that meets every target, by simulation within the bracket of the models."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from os import PathLike
from typing import TYPE_CHECKING

from tailroom import arguments, models
from tailroom.arguments import renamed
from tailroom.buffer_atlas import lookup
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.errors import Interrupted
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.runner import Runner
from tailroom.libraries import loading
from tailroom.models import Bottleneck, Requirement
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.scenario import ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.run_warnings import warn
from tailroom.storage.run import RunsInMemory
from tailroom.studies.phases import PhaseSpread
from tailroom.studies.prediction import Predictions, ask
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.doors import Door
from tailroom.studies.size_study.question import (
    Numbers,
    Question,
    asked_scenario,
    named_as_arguments,
    read_question,
    without_made_up_limit,
)
from tailroom.studies.size_study.question_search import QuestionSearch
from tailroom.studies.size_study.size_progress import SizeProgress
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    from tailroom.storage.store import Store

PRECISION = 0.06
"""Half-width of the interval of the answer, relative to the answer (0.06 = 6 %)."""
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
    of heavy loss. Where no buffer that is tried keeps to it as well, there is no answer, and
    `without_loss_target` is the smallest buffer that meets the targets alone. Where all values of
    another key meet the targets, as far as they were tried, the answer is the scenario's own value.

    The atlas determines the initial bracket if it has a link nearby and a target is a utilization,
    the models otherwise. After a coarse scan, a regression over the buffers near the
    answer says which limit meets the targets (`studies/size_study/regression.py`). Where it cannot,
    buffers are tested one by one, each with as many seeds as the verdict on the targets needs
    (`studies/size_study/stopping.py`). About half and twice the answer are simulated too.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python; or give `rate` and `rtt`.
        target: What the buffer must meet, such as `"utilization >= 98%"` or `"queue_delay_s_p99 <=
            5 ms"`, one or several (`tailroom list metrics`).
        rate: Without a scenario: rate of the link with its unit, as in `"1 Gbit/s"` or `"1G"`. In
            Python also a number of bit/s.
        rtt: Without a scenario: idle RTT, as in `"40 ms"` or `"5 ms to 200 ms"`. In
            Python also a number of seconds, or two.
        flows: Without a scenario: number of long flows (1 if left out), or a number per control:
            `"500 cubic, 100 bbr3"`. In Python also
            `{"cubic": 500, "bbr3": 100}`.
        congestion: Congestion control of all flows: a name, `"module:Class"` of your own, or a
            table such as `"{ kind = 'aimd', increase = 2.0 }"`. In Python also controls by group,
            as `tailroom.run` takes them.
        duration: Without a scenario: simulated duration of a run, as in `"60 s"`. In Python also a
            number of seconds.
        host: Without a scenario: profile of the hosts, `"linux"` if left out.
        access_rate: Without a scenario: rate of each flow's access link, as in `"300 Mbit/s"`;
            that of the link if left out.
        subscribers: Without a scenario: number of access lines, of which `active` have a long flow
            at the same time; instead of `flows`.
        active: Share of the subscribers that is active at the busiest time, above 0 and at most 1.
        link: The link whose buffer is sought; if left out, the link of the targets, else the
            slowest that carries flows.
        vary: Key of the scenario, or its end, whose smallest sufficient value is sought instead of
            the limit of the link's queue, such as queue.target, threshold, shaper.burst or a pool's
            alpha.
        max_seeds: Maximum number of seeds per buffer, at least 4; a target that is still open
            then counts as missed.
        precision: Half-width of the answer's interval relative to the answer, from 0.0001 to 0.5;
            if buffers are tested one by one, three times the largest gap below the answer.
        set: Replaces values of the scenario, as `tailroom.run` does. Without a scenario, the
            link is `links.bottleneck`.
        store: Directory of the store that keeps the runs; if left out, a temporary store.
        workers: Maximum number of runs at a time; if left out, the number of cores, or as many as
            `executor` takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called with a `SizeProgress` after each run, and when a stage begins.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.
        atlas: Whether the atlas may bracket the answer.
        most_loss: Largest loss fraction at the answer if no target limits a loss, above 0 and
            below 1; 0.01 if left out, or none of a class with pause frames. In Python, `None` is no
            bound.

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
        if scenario is None:
            question = without_made_up_limit(question, numbers)
        assumed = numbers.assumed
    in_processes = bool(question.source.handle.controls)
    # Ctrl-C writes the runs of a search without a store, and is to end it at once. A process that
    # is forked in the middle of an import could not import the same module.
    is_written_at_end = store is None and not in_processes
    with (
        loading(_load_store, after_s=LOAD_AFTER_S) if is_written_at_end else nullcontext(),
        Runner.open(store, in_processes=in_processes, workers=workers, executor=executor) as runner,
    ):
        predictions = _predict(question.link, question.targets)
        known = atlas_bracket(question) if atlas and question.varied.is_limit else None
        work = QuestionSearch(question, runner, max_seeds, precision, progress)
        phases: tuple[PhaseSpread, ...] = ()
        doors: tuple[Door, ...] = ()

        try:
            if question.varied.is_alpha:
                work.judge_alphas()
            else:
                work.find_smallest(known, predictions)
            phases = work.check_phases()
            doors = work.find_doors()
            work.check_that_it_matters()
            work.begin("models")
            at_answer = _predict(work.link_of_answer(), question.targets)
        except KeyboardInterrupt:
            # Ctrl-C does not wait for the models: their predictions stay those of the scenario.
            known_so_far = _assessed_at(work.link_of_answer(), predictions)
            runner.store = on_disk(runner.store)
            raise Interrupted(work.size(known_so_far, phases)) from None
        found = replace(work.size(at_answer, phases), doors=doors, assumed=assumed)
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


def _load_store() -> None:
    """Loads what `on_disk` needs, if it is installed: it takes half a second."""
    with suppress(ModuleNotFoundError):
        import pyarrow as pa  # noqa: PLC0415 - a search that ends soon does not need it

        import tailroom.storage.store  # noqa: F401, PLC0415 - as above

        pa.array([0.0])  # the first array makes Arrow load pandas, if that is installed


def on_disk(kept: "Store | RunsInMemory") -> "Store | RunsInMemory":
    """Returns the runs of an interrupted search in a store, so that it can be continued.

    They stay in memory if Arrow, with which a store is written, is not installed.

    Args:
        kept: The runs.
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
