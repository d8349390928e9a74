"""Several choices side by side: one scenario with other values, or several scenarios."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path

from tailroom.errors import ScenarioError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.scenario.axis import Axis, axis, headings, value_words
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.kept_limits import spell_out
from tailroom.scenario.named_values import NamedValues
from tailroom.scenario.source import ScenarioSource
from tailroom.scenario.types import Scenario
from tailroom.simulation.metrics import find_metric, full_names, names_of
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.storage.store import Store
from tailroom.studies.choice_study.answer import Choice, Choices, without_numbers
from tailroom.studies.choice_study.metrics import default_metrics
from tailroom.studies.sweep_study.study import MOST_RUNS

SCENARIO_HEADING = "scenario"
"""Heading of the column that names the scenarios if there are several."""

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
    executor: "ExecutorLike | None" = None,
    progress: Callable[[RunProgress], object] | None = None,
) -> Choices:
    """Compares a scenario with other values of some keys, or several scenarios, side by side.

    A word for a queue, as in `{"links.down.queue": ["codel", "pie"]}`, replaces the discipline and
    keeps the `limit` that the scenario gives; write a table to give parameters of its own.

    Args:
        scenarios: A scenario as `tailroom.run` takes it, or several.
        vary: Keys with their values (a list, a range, or an `Axis`, as `tailroom.sweep` takes
            them). Every combination is a choice, with each of the scenarios.
        metrics: Names of the metrics to show, in full or in short; if left out, the usual metrics.
        seeds: Runs per choice, with consecutive seeds from the scenario's.
        seed: The first seed, instead of the scenario's.
        set: Replaces values of all scenarios, as `tailroom.run` does.
        congestion: Congestion controls by group, as `tailroom.run` takes them.
        store: Directory of the store that keeps the runs; runs that it holds are not repeated.
        workers: Maximum number of runs at a time; as many as there are cores if left out, or as
            the executor takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called after each run.

    Raises:
        ScenarioError: A scenario, a key or a value is wrong.
        MetricError: There is no such metric.
        StoreError: The directory is not a store.
        ClusterError: The cluster does not answer, or it or the executor cannot perform the runs.
        ControlError: A control written in Python raised an exception.
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
    with Runner.opened(
        store,
        in_processes=any(point.controls for point in planned.points),
        workers=workers,
        executor=executor,
    ) as runner:
        runner.complete(planned.points, seeds, progress=progress)
        pairs = zip(planned.points, planned.words, strict=True)
        found = [_choice(point, words, runner.store) for point, words in pairs]
    known = list(dict.fromkeys(name for one in planned.points for name in _metrics(one)))
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
    """The runs of a comparison."""

    points: list[Point]
    words: list[tuple[str, ...]]
    """The words in the columns of each point."""
    headings: tuple[str, ...]
    keys: tuple[str, ...]
    """The keys that vary."""
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
        source.resolve(seed=None)  # errors of the scenario itself come first
        spelled, kept = spell_out(source, axes)
        for note in kept:
            notes.setdefault(str(note), []).append(name)
        for settings in _combinations(spelled):
            point = Point.of(source, settings)
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
    """Refuses a metric that no choice has, before any run."""
    scenarios = {point.source.text: point.source for point in points}
    *others, last = scenarios.values()
    for source in others:
        try:
            full_names(source, [name])
        except ValueError:
            continue
        return
    full_names(last, [name])


def _metrics(point: Point) -> list[str]:
    """The metrics that runs of a point have, in the order in which the store keeps them."""
    return list(dict.fromkeys(name for row in point.finished for name in names_of(row)))


def _interval(point: Point, metric: str) -> Interval | None:
    """Mean and interval of a metric over the runs that define it; `None` if there are none."""
    values = [row[metric][0].as_py() for row in point.finished if metric in row.column_names]
    defined = [value for value in values if value is not None]
    return mean_interval(defined) if defined else None


def _choice(point: Point, words: tuple[str, ...], store: Store) -> Choice:
    intervals = {name: _interval(point, name) for name in _metrics(point)}
    rows = [row for key in point.keys if (row := store.read(key)) is not None]
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
