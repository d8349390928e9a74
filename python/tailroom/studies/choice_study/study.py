"""Several choices side by side: one scenario with other values, or several scenarios."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tailroom.errors import RunError, ScenarioError
from tailroom.execution.runner import Point, Runner, Task
from tailroom.scenario.axis import Axis, axis, headings, value_words
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.kept_limits import spell_out
from tailroom.scenario.named_values import NamedValues
from tailroom.scenario.source import ScenarioSource
from tailroom.scenario.types import Scenario
from tailroom.simulation.metrics import find_metric, full_names
from tailroom.storage.store import Run, Store
from tailroom.studies.choice_study.answer import Choice, Choices, without_numbers
from tailroom.studies.choice_study.metrics import default_metrics
from tailroom.studies.sweep_study.study import MOST_RUNS, SweepProgress
from tailroom.studies.sweep_study.tables import interval_of, known_metrics

if TYPE_CHECKING:
    pass

SCENARIO_HEADING = "scenario"
"""Of the column that names the scenarios where there are several."""

AnyScenario = str | PathLike[str] | Scenario


def choices(  # noqa: PLR0913 - each says one thing about the runs
    scenarios: AnyScenario | Sequence[AnyScenario],
    vary: Mapping[str, object] | None = None,
    *,
    metrics: Sequence[str] = (),
    seeds: int = 1,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Mapping[str, str | ControlFactory] | None = None,
    store: str | PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
) -> Choices:
    """Sets side by side what a scenario does with each of several values, or what several do.

    A word for a queue, as in `{"links.down.queue": ["codel", "pie"]}`, replaces the discipline and
    keeps the `limit` that the scenario gives; write a table to give parameters of its own.

    Args:
        scenarios: A scenario as `tailroom.run` takes it, or several.
        vary: Keys with their values (a list, a range, or an `Axis`, as `tailroom.sweep` takes
            them). Every combination is a choice, with each of the scenarios.
        metrics: Those to show, in full or in short; the usual ones if left out.
        seeds: Runs of each choice, with the scenario's seed, the next one, and so on.
        seed: The first seed, instead of the scenario's.
        set: Replaces values of all scenarios, as `tailroom.run` does.
        congestion: Congestion controls by group, as `tailroom.run` takes them.
        store: Keep the runs in this store, and take from there those that it holds.
        workers: Runs at a time; as many as there are cores if left out.
        progress: Called after each run.

    Raises:
        ScenarioError: A scenario, a key or a value is wrong.
        MetricError: There is no such metric.
        StoreError: The directory is no store.
        ControlError: A control of your own raised an exception.
        RunError: A run failed.
        KeyboardInterrupt: Ctrl-C; the runs stop at once.
    """
    if seeds < 1:
        raise ScenarioError(f"seeds = {seeds}; give at least 1")
    many = [scenarios] if isinstance(scenarios, (str, PathLike, Mapping)) else list(scenarios)
    first = {} if seed is None else {"seed": seed}
    sources = [ScenarioSource.of(one, {**(set or {}), **first}, congestion) for one in many]
    planned = _plan(sources, vary or {})
    if len(planned.points) * seeds > MOST_RUNS:
        raise ScenarioError(
            f"{len(planned.points) * seeds:,} runs, more than {MOST_RUNS:,}; take fewer values"
        )
    for name in metrics:
        _check_metric(name, planned.points)
    _run(planned.points, seeds, store, workers, progress or (lambda _: None))
    found = [_choice(*pair) for pair in zip(planned.points, planned.words, strict=True)]
    known = known_metrics([point.finished for point in planned.points])
    asked = [find_metric(name, known) for name in metrics]
    links = _links_that_matter([*planned.keys, *asked], known)
    shown = asked or default_metrics([one.metrics for one in found], known, links)
    return Choices(
        headings=planned.headings,
        choices=tuple(found),
        seeds=tuple(range(planned.points[0].first_seed, planned.points[0].first_seed + seeds)),
        links=tuple(links),
        metrics=tuple(dict.fromkeys(shown)),
        notes=tuple(planned.notes),
    )


@dataclass(frozen=True)
class _Plan:
    """What is to run."""

    points: list[Point]
    words: list[tuple[str, ...]]
    """Of each point."""
    headings: tuple[str, ...]
    keys: tuple[str, ...]
    """Those that vary."""
    notes: list[str]


def _plan(sources: Sequence[ScenarioSource], vary: Mapping[str, object]) -> _Plan:
    """Every scenario with every combination of values; the last key varies fastest."""
    axes = [one if isinstance(one, Axis) else axis(key, one) for key, one in vary.items()]
    _check_values(axes)
    names = _names(sources)
    points: list[Point] = []
    words = []
    notes: dict[str, list[str]] = {}
    for source, name in zip(sources, names, strict=True):
        source.resolve(seed=None)  # what is wrong with the scenario itself is said first
        spelled, kept = spell_out(source, axes)
        for note in kept:
            notes.setdefault(str(note), []).append(name)
        for settings in _combinations(spelled):
            point = Point.of(source, len(points), settings)
            points.append(point)
            of_values = [value_words(settings[one.key], one.values) for one in spelled]
            words.append((*([name] if len(sources) > 1 else []), *of_values))
    heads = [SCENARIO_HEADING] if len(sources) > 1 else []
    heads += headings([one.key for one in axes])
    if not heads:
        heads, words = [SCENARIO_HEADING], [(names[0],)]
    said = [
        note if len(whose) == len(sources) else f"{', '.join(whose)}: {note}"
        for note, whose in notes.items()
    ]
    return _Plan(points, words, tuple(heads), tuple(one.key for one in axes), said)


def _combinations(axes: Sequence[Axis]) -> Iterator[NamedValues]:
    keys = [one.key for one in axes]
    for values in product(*(one.values for one in axes)):
        yield NamedValues(zip(keys, values, strict=True))


def _check_values(axes: Sequence[Axis]) -> None:
    for one in axes:
        if one.key == "seed":
            raise ScenarioError("seed: repeat each choice with `seeds` instead")
        for place, value in enumerate(one.values):
            if value in one.values[:place]:
                raise ScenarioError(f"{one.key}: {value!r} comes twice; keep one of them")


def _names(sources: Sequence[ScenarioSource]) -> list[str]:
    """Names of the scenarios: of their files without directory and suffix, where these differ."""
    stems = [Path(source.place).stem for source in sources]
    places = [source.place for source in sources]
    for names in (stems, places):
        if len({*names}) == len(names):
            return names
    return [f"{place} ({number})" for number, place in enumerate(places, 1)]


def _check_metric(name: str, points: Sequence[Point]) -> None:
    """Refuses a metric that no choice has, before anything runs."""
    scenarios = {point.source.text: point.source for point in points}
    *others, last = scenarios.values()
    for source in others:
        try:
            full_names(source, [name])
        except ValueError:
            continue
        return
    full_names(last, [name])


def _run(
    points: Sequence[Point],
    seeds: int,
    store: str | PathLike[str] | None,
    workers: int | None,
    progress: Callable[[SweepProgress], object],
) -> None:
    """Completes every point.

    Raises:
        RunError: A run failed.
    """
    # Runs with controls of the user's own need processes of their own.
    typical = next((point.source for point in points if point.controls), points[0].source)
    with ExitStack() as stack:
        place = store or stack.enter_context(TemporaryDirectory(prefix="tailroom-"))
        kept = Store.create(place)

        def report() -> None:
            done = sum(len(point.rows) for point in points)
            found = sum(point.found for point in points)
            progress(SweepProgress(done, found, len(points) * seeds))

        def taken(task: Task, ended: Run | RunError) -> list[Task]:
            if isinstance(ended, RunError):
                raise RunError(f"{points[task.point].name}, seed {task.seed}: {ended}")
            points[task.point].take(task, ended)
            report()
            return []

        runner = stack.enter_context(Runner(typical, kept, workers=workers))
        runner.run([task for point in points for task in point.missing(kept, seeds)], taken)


def _choice(point: Point, words: tuple[str, ...]) -> Choice:
    rows = point.finished
    known = known_metrics([rows])
    intervals = {name: interval_of(rows, name) for name in known}
    summaries = [json.loads(row["summary"][0].as_py()) for row in rows]
    texts = [text for summary in summaries for text in summary["warnings"]]
    by_kind = {without_numbers(text): text for text in reversed(texts)}
    return Choice(
        words=words,
        settings=point.settings,
        title=summaries[0]["title"],
        scenario=rows[0]["scenario"][0].as_py(),
        metrics=NamedValues({name: one for name, one in intervals.items() if one}),
        warnings=tuple(reversed(by_kind.values())),
        measured_from_s=summaries[0]["measured_from_s"],
        measured_to_s=summaries[0]["measured_to_s"],
    )


def _links_that_matter(keys: Sequence[str], known: Sequence[str]) -> list[str]:
    """The links that keys or full names of metrics name, else all."""
    every = list(dict.fromkeys(one.split(".")[1] for one in known if one.startswith("links.")))
    named = {key.split(".")[1] for key in keys if key.startswith("links.")}
    return [link for link in every if link in named] or every
