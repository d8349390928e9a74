"""A comparison of choices: one scenario with other values, or several scenarios."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from tailroom.arguments import RUNS, SEED, WORKERS, check_mapping
from tailroom.errors import ScenarioError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.quoting import quoted
from tailroom.scenario.axis import Axis, axes_in_scenario, axis, headings, value_words
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.named_values import NamedValues
from tailroom.scenario.queue_words import spell_out
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.lower_bounds import values_of
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.simulation.metrics import find_metric, full_names
from tailroom.simulation.run_warnings import warn
from tailroom.statistics.intervals import Interval
from tailroom.storage.run import RunsInMemory, metric_names
from tailroom.studies.choice_study.answer import Choice, Choices
from tailroom.studies.choice_study.metrics import default_metrics
from tailroom.studies.stored_warnings import known_summary_of, warnings_of

if TYPE_CHECKING:
    from tailroom.storage.store import Store

SCENARIO_HEADING = "scenario"
"""Heading of the column that names the scenarios if there are several."""
MOST_RUNS = 10_000
"""Maximum number of runs of a comparison."""

"""A scenario as `tailroom.run` takes it."""


def choices(  # noqa: PLR0913 - keyword arguments
    scenarios: ScenarioLike | Sequence[ScenarioLike],
    vary: Mapping[str, object] | None = None,
    *,
    metrics: Sequence[str] = (),
    seeds: int = 1,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Congestion | None = None,
    store: str | PathLike[str] | None = None,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[RunProgress], object] | None = None,
    allow_code: bool = False,
    allow_files: bool = False,
) -> Choices:
    """Compares values of some keys of a scenario, or several scenarios.

    A word for a queue, as in `{"links.down.queue": ["codel", "pie"]}`, replaces the discipline and
    keeps the `limit` of the scenario; a table also sets the parameters of the discipline.

    Args:
        scenarios: A scenario as `tailroom.run` takes it, or several.
        vary: Keys, or ends of keys such as `limit`, with their values, as `tailroom.sweep` takes
            them; every combination of values with each scenario is a choice. A queue named by a
            word keeps the scenario's limit.
        metrics: Names of the metrics to show, as `tailroom run --json` has them; the end of a name
            suffices. If left out, the usual metrics.
        seeds: Number of runs per choice, at least 1, with consecutive seeds from the scenario's;
            with 2 or more, means have 95 % intervals.
        seed: The first seed, instead of the scenario's.
        set: Replaces values of all scenarios, by dotted key. In Python a mapping, as `tailroom.run`
            takes it.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        store: Directory of the store that keeps the runs; runs that it holds are not repeated.
        workers: Maximum number of runs at a time; if left out, the number of cores, or as many as
            `executor` takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called with a `RunProgress` after each run.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.

    Raises:
        ArgumentError: An argument has the wrong type, or is out of range.
        ScenarioError: A scenario, a key or a value is wrong, or there are more than 10,000 runs.
        MetricError: There is no such metric.
        StoreError: The directory is not a store, or another version of tailroom wrote one of its
            runs.
        ClusterError: The cluster does not answer, or the cluster or the executor cannot perform
            the runs.
        ControlError: A control written in Python raised an exception.
        RunError: A run failed.
        KeyboardInterrupt: Ctrl-C; the runs stop at once.
    """
    RUNS.check("seeds", seeds)
    SEED.check("seed", seed)
    WORKERS.check("workers", workers)
    check_mapping("set", set, '{"links.down.queue.limit": "625 packets"}')
    if isinstance(scenarios, (str, PathLike, Mapping, Scenario)):
        scenarios = [scenarios]
    many: list[ScenarioLike] = list(scenarios)
    first = {} if seed is None else {"seed": seed}
    overrides = {**(set or {}), **first}
    with allowing(code=allow_code, files=allow_files):
        sources = [Scenario.of(scenario, overrides, congestion) for scenario in many]
    planned = _plan(sources, vary or {})
    if len(planned.points) * seeds > MOST_RUNS:
        raise ScenarioError(
            f"{len(planned.points) * seeds:,} runs are more than the {MOST_RUNS:,} allowed; give "
            "fewer values or seeds"
        )
    for name in metrics:
        _check_metric(name, planned.points)
    with Runner.open(
        store,
        in_processes=any(point.controls for point in planned.points),
        workers=workers,
        executor=executor,
    ) as runner:
        runner.complete(planned.points, seeds, progress=progress)
        pairs = zip(planned.points, planned.words, strict=True)
        compared = [_choice(point, words, runner.store) for point, words in pairs]
    known = list(dict.fromkeys(name for point in planned.points for name in _metrics(point)))
    requested = [find_metric(name, known) for name in metrics]
    links = _links_to_show([*planned.keys, *requested], known)
    shown = requested or default_metrics([choice.metrics for choice in compared], known, links)
    found = Choices(
        headings=planned.headings,
        choices=tuple(compared),
        seeds=tuple(range(planned.points[0].first_seed, planned.points[0].first_seed + seeds)),
        links=tuple(links),
        metrics=tuple(dict.fromkeys(shown)),
        notes=tuple(planned.notes),
        units=planned.units,
    )
    warn(found.warnings)
    return found


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
    units: dict[str, str]
    """Units of the numbers, by heading."""


def _plan(sources: Sequence[Scenario], vary: Mapping[str, object]) -> _Plan:
    """Every scenario with every combination of values; the last key varies fastest."""
    axes = [
        values if isinstance(values, Axis) else axis(key, values) for key, values in vary.items()
    ]
    _check_values(axes)
    sources = [source.trusting([varied.values for varied in axes]) for source in sources]
    names = _names(sources)
    points: list[Point] = []
    words = []
    notes: dict[str, list[str]] = {}
    for source, name in zip(sources, names, strict=True):
        source.check()  # Reports errors of the scenario before those of the values.
        spelled, kept = spell_out(source, list(axes_in_scenario(axes, source).values()))
        for note in kept:
            notes.setdefault(str(note), []).append(name)
        for settings in _combinations(spelled):
            point = Point.of(source, settings)
            points.append(point)
            value_texts = [value_words(settings[varied.key], varied.values) for varied in spelled]
            words.append((*([name] if len(sources) > 1 else []), *value_texts))
    keys = tuple(varied.key for varied in spelled)
    heads = [SCENARIO_HEADING] if len(sources) > 1 else []
    named = headings(keys)
    heads += named
    if not heads:
        heads, words = [SCENARIO_HEADING], [(names[0],)]
    texts = [
        note if len(of_scenarios) == len(sources) else f"{', '.join(of_scenarios)}: {note}"
        for note, of_scenarios in notes.items()
    ]
    by_heading = zip(named, spelled, strict=True)
    units = {heading: varied.bare_unit for heading, varied in by_heading if varied.bare_unit}
    return _Plan(points, words, tuple(heads), keys, texts, units)


def _combinations(axes: Sequence[Axis]) -> Iterator[NamedValues]:
    keys = [varied.key for varied in axes]
    for values in product(*(varied.values for varied in axes)):
        yield NamedValues(zip(keys, values, strict=True))


def _check_values(axes: Sequence[Axis]) -> None:
    for varied in axes:
        if varied.key == "seed":
            raise ScenarioError("seed: is not a key to vary; repeat each choice with `seeds`")
        for place, value in enumerate(varied.values):
            if value in varied.values[:place]:
                raise ScenarioError(
                    f"{varied.key}: {quoted(repr(value))} is given twice; keep one of them"
                )


def _names(sources: Sequence[Scenario]) -> list[str]:
    """Names of the scenarios: file names without directory and suffix if these differ."""
    stems = [Path(source.place).stem for source in sources]
    places = [source.place for source in sources]
    for names in (stems, places):
        if len({*names}) == len(names):
            return names
    return [f"{place} ({number})" for number, place in enumerate(places, 1)]


def _check_metric(name: str, points: Sequence[Point]) -> None:
    """Raises the error about a metric that no choice has, before any run."""
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
    return list(dict.fromkeys(name for row in point.finished for name in metric_names(row)))


def _interval(point: Point, metric: str) -> Interval | None:
    """Mean and interval of a metric over the runs that define it; `None` if there are none."""
    defined = [row for row in point.finished if row.get(metric) is not None]
    return metric_interval(metric, values_of(metric, defined)) if defined else None


def _choice(point: Point, words: tuple[str, ...], store: "Store | RunsInMemory") -> Choice:
    intervals = {name: _interval(point, name) for name in _metrics(point)}
    run = next(row for key in point.keys if (row := store.texts(key)) is not None)
    summary = known_summary_of(run)
    return Choice(
        words=words,
        settings=point.settings,
        title=summary["title"],
        scenario=run["scenario"],
        metrics=NamedValues({name: interval for name, interval in intervals.items() if interval}),
        warnings=warnings_of(store, point.keys),
        measured_from_s=summary["measured_from_s"],
        measured_to_s=summary["measured_to_s"],
    )


def _links_to_show(keys: Sequence[str], known: Sequence[str]) -> list[str]:
    """The links in keys or in full names of metrics; all links if there are none."""
    every = list(dict.fromkeys(name.split(".")[1] for name in known if name.startswith("links.")))
    named = {key.split(".")[1] for key in keys if key.startswith("links.")}
    return [link for link in every if link in named] or every
