"""A report card of a control or a discipline on the criteria of an RFC."""

import hashlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tailroom.arguments import COMPARED_RUNS, WORKERS
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import Axis, value_words
from tailroom.scenario.control_arguments import control_words
from tailroom.scenario.custom_controls import Control
from tailroom.scenario.named_values import nearest
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.lower_bounds import Values, values_of
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.simulation.run_warnings import warn
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.statistics.outcome import Outcome
from tailroom.storage.run import RunsInMemory
from tailroom.storage.run_files import table_of
from tailroom.storage.store import Store
from tailroom.storage.sweep_record import SweepRecord
from tailroom.studies.report_card.card import Card, Criterion, Experiment
from tailroom.studies.report_card.subject import put_into, read_subject
from tailroom.studies.report_card.verdict import Grade, Grading, how_much_worse, judge
from tailroom.studies.stored_warnings import warnings_of

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning

SEEDS, QUICK_SEEDS = 8, 3
"""Default numbers of runs per point of a card and of a quick card."""
QUICK_TIMES = {"duration": "30 s", "measure_from": "10 s"}
"""Simulated times of the runs of a quick card."""


@with_field_docs
@dataclass(frozen=True)
class Compared:
    """A criterion at one point of its experiment."""

    settings: Mapping[str, object]
    """Values of the keys at this point, by key."""
    label: str
    """The point in a few words."""
    values: Mapping[str, Interval | None]
    """The quantity by name, with its 95 % interval; `None` if no run defines it."""
    worst_reference: Interval | None
    """The quantity of the reference with the worse mean; `None` if no run defines it."""
    worse: float
    """Difference or ratio to this reference; larger is worse."""
    grading: Grading
    """Whether what is tested keeps to the thresholds."""

    @property
    def verdict(self) -> Grade:
        """The verdict that the confidence intervals allow."""
        return self.grading.grade


@with_field_docs
@dataclass(frozen=True)
class Finding:
    """The verdict on a criterion over all points of its experiment."""

    criterion: Criterion
    """The criterion."""
    experiment: Experiment
    """The experiment that the criterion judges."""
    points: tuple[Compared, ...]
    """The comparison at each point of the experiment."""

    @property
    def grading(self) -> Grading:
        """Whether what is tested keeps to the thresholds at every point."""
        return Grading(
            Outcome.of_all(point.grading.passes for point in self.points),
            Outcome.of_all(point.grading.is_met for point in self.points),
        )

    @property
    def verdict(self) -> Grade:
        """The verdict that the confidence intervals allow."""
        return self.grading.grade

    @property
    def decisive(self) -> Compared:
        """The worst of the points that determine the verdict."""
        decisive = [
            point
            for point in self.points
            if point.verdict == self.verdict and point.grading.worst == self.grading.worst
        ]
        return max(decisive, key=lambda point: point.worse)

    @property
    def over(self) -> Axis | None:
        """The key in which the points differ, if it is a single numeric key, else `None`."""
        varying = [key for key in self.experiment.axes if len(self._values(key)) > 1]
        only = Axis(varying[0], tuple(self._values(varying[0]))) if len(varying) == 1 else None
        return only if only and only.numbers is not None else None

    def _values(self, key: str) -> list[object]:
        values: list[object] = []
        for point in self.points:
            if point.settings[key] not in values:
                values.append(point.settings[key])
        return values


@with_field_docs
@dataclass(frozen=True)
class Evaluation(AnyResult):
    """A report card: a control or a discipline compared with references on criteria of an RFC.

    `table` knows `criteria` (the main table), with a row per criterion, point and control (or
    discipline), and `runs`. The columns of `criteria` are `criterion`, `section`, `quantity` (with
    its unit), `point`, `control` or `discipline`, `mean` and `half_width` (95 %) in this unit,
    `runs`, and `verdict` (null for others). The picture has one panel per criterion.
    """

    tested: str
    """Name of the control or discipline."""
    card: Card
    """The kind of the card, with the references."""
    findings: tuple[Finding, ...]
    """Verdict and intervals, one entry per criterion."""
    runs: pa.Table
    """One row per run: experiment, control or discipline, settings (as JSON), seed, metrics."""
    quick: bool
    """Whether the card has fewer points and shorter runs."""
    kept: "Store | RunsInMemory" = field(repr=False)
    """The runs."""

    def __repr__(self) -> str:
        """The number of criteria by verdict."""
        return f"<Evaluation: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """What is tested, its references, and the number of criteria by verdict."""
        counts = ", ".join(f"{self.count(verdict)} {verdict}" for verdict in Grade)
        form = "quick card" if self.quick else "card"
        return f"{self.tested} against {', '.join(self.judged[1:])} ({form}): {counts}"

    @property
    def judged(self) -> tuple[str, ...]:
        """What is tested, then the references other than itself."""
        return tuple(dict.fromkeys((self.tested, *self.card.references)))

    @property
    def compared(self) -> tuple[str, ...]:
        """What is tested, then everything else that is measured."""
        return tuple(dict.fromkeys((*self.judged, *self.card.also_measured)))

    @property
    def store(self) -> "Store | None":
        """The store with the runs; `None` if they are in memory."""
        return None if isinstance(self.kept, RunsInMemory) else self.kept

    @property
    def warnings(self) -> tuple["RunWarning", ...]:
        """Warnings of the first run at each point, each kind and place once."""
        first: dict[tuple[str, ...], str] = {}
        for row in self.runs.select(
            ["experiment", self.card.subject, "settings", "key"]
        ).to_pylist():
            *point, key = row.values()
            first.setdefault(tuple(point), key)
        return warnings_of(self.kept, first.values())

    @property
    def _tables(self) -> Tables:
        return {"criteria": self._criteria, "runs": lambda: self.runs}

    def _criteria(self) -> pa.Table:
        rows = [
            {
                "criterion": finding.criterion.name,
                "section": finding.criterion.section,
                "quantity": finding.criterion.quantity,
                "point": point.label,
                self.card.subject: name,
                "mean": value.mean if value else None,
                "half_width": value.half_width if value else None,
                "runs": value.count if value else 0,
                "verdict": str(point.verdict) if name == self.tested else None,
            }
            for finding in self.findings
            for point in finding.points
            for name, value in point.values.items()
        ]
        return pa.Table.from_pylist(rows)

    def __getitem__(self, name: str) -> Finding:
        """The finding on the criterion of this name.

        Raises:
            KeyError: There is no such criterion; the message suggests names.
        """
        for finding in self.findings:
            if finding.criterion.name == name:
                return finding
        names = [finding.criterion.name for finding in self.findings]
        raise KeyError(f"{name}: there is no such criterion; {nearest(str(name), names)}")

    def count(self, verdict: Grade) -> int:
        """Returns the number of criteria with a verdict.

        Args:
            verdict: The verdict.
        """
        return sum(finding.verdict == verdict for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """The object that `tailroom evaluate --json` prints."""
        return {
            self.card.subject: self.tested,
            "rfc": self.card.rfc,
            "references": list(self.card.references),
            "also_measured": list(self.card.also_measured),
            "quick": self.quick,
            "criteria": [_as_dict(finding) for finding in self.findings],
        }


def evaluate(  # noqa: PLR0913 - keyword arguments
    subject: Control,
    *,
    store: str | PathLike[str] | None = None,
    quick: bool = False,
    seeds: int | None = None,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[RunProgress], object] | None = None,
) -> Evaluation:
    """Compares a congestion control with Reno and CUBIC, or a queue discipline with CoDel and PIE.

    The criteria are those of RFC 9743 for a control and of RFC 7928 for a discipline.

    Args:
        subject: A control or a discipline: a name as in a scenario (also "module:Class"), a table
            with a kind and its parameters, or a class of your own.
        store: Directory of the store that keeps the runs, so that a second call needs no
            simulation; if left out, the runs stay in memory.
        quick: Fewer points and seeds and shorter runs, for a first look.
        seeds: Number of runs per point, at least 2; if left out, 8, or 3 for a quick card.
        workers: Maximum number of runs at a time; if left out, the number of cores, or as many as
            `executor` takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called with a `RunProgress` after each run.

    Raises:
        ArgumentError: An argument has the wrong type, or is out of range.
        ScenarioError: There is no such component, or its parameters are wrong.
        StoreError: The directory is not a store.
        ClusterError: The cluster does not answer, or the cluster or the executor cannot perform
            the runs.
        ControlError: Code of your own raised an exception.
        RunError: A run failed.
        KeyboardInterrupt: Ctrl-C; the store keeps the finished runs.
    """
    COMPARED_RUNS.check("seeds", seeds)
    WORKERS.check("workers", workers)
    card, tested = read_subject(subject)
    name = control_words(tested)
    others = [other for other in (*card.references, *card.also_measured) if other != name]
    count = seeds or (QUICK_SEEDS if quick else SEEDS)
    parts = list(
        _parts(card, {name: tested, **dict(zip(others, others, strict=True))}, quick=quick)
    )
    points = [point for part in parts for point in part.points]
    with Runner.open(
        store,
        in_processes=any(point.controls for point in points),
        workers=workers,
        executor=executor,
    ) as runner:
        runner.complete(points, count, progress=progress)
        kept = runner.store
        for experiment in card.experiments:
            of_experiment = [part for part in parts if part.experiment is experiment]
            kept.record(_record(card, experiment, of_experiment))
    evaluation = Evaluation(
        tested=name,
        card=card,
        findings=tuple(_finding(card, criterion, parts) for criterion in card.criteria),
        runs=_runs(card, parts),
        quick=quick,
        kept=kept,
    )
    warn(evaluation.warnings)
    return evaluation


@dataclass
class _Part:
    """An experiment with one control or discipline."""

    experiment: Experiment
    name: str
    points: list[Point] = field(default_factory=list)


def _parts(card: Card, subjects: Mapping[str, Control], *, quick: bool) -> list[_Part]:
    """Every experiment with everything that is compared."""
    parts = []
    for experiment in card.experiments:
        times = QUICK_TIMES if quick and not experiment.is_long else {}
        for name, subject in subjects.items():
            source = put_into(card, experiment, subject, times)
            points = [Point.of(source, each) for each in _settings(experiment, quick=quick)]
            parts.append(_Part(experiment, name, points))
    return parts


def _settings(experiment: Experiment, *, quick: bool) -> list[dict[str, object]]:
    axes = {**experiment.axes, **(experiment.quick if quick else {})}
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def _record(card: Card, experiment: Experiment, parts: Sequence[_Part]) -> SweepRecord:
    """The experiment as a sweep over all compared, for `tailroom results` and `tailroom plot`."""
    points: list[dict[str, Any]] = [
        {"settings": {card.subject: part.name, **point.settings}, "runs": point.keys}
        for part in parts
        for point in part.points
    ]
    keys = list(points[0]["settings"])
    axes = {key: _distinct([point["settings"][key] for point in points]) for key in keys}
    text = json.dumps([parts[0].points[0].source.text, axes], default=str)
    return SweepRecord(
        id=f"evaluate-{experiment.name.rpartition('/')[2]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}",
        title=experiment.title,
        scenario="scenario",
        axes=axes,
        points=points,
    )


def _distinct(values: Sequence[Any]) -> list[Any]:
    return [value for place, value in enumerate(values) if value not in values[:place]]


def _finding(card: Card, criterion: Criterion, parts: Sequence[_Part]) -> Finding:
    by_name = [part for part in parts if part.experiment.name == criterion.experiment]
    tested = by_name[0]
    compared = []
    for place, point in enumerate(tested.points):
        values = {part.name: _value(criterion, part.points[place]) for part in by_name}
        worst, reference = _worst(criterion, {name: values[name] for name in card.references})
        if worst == tested.name:
            grading = Grading(Outcome.YES, Outcome.YES)  # The tested one is the reference.
        else:
            grading = judge(criterion, values[tested.name], reference)
        label = _label(point.settings, [other.settings for other in tested.points])
        worse = how_much_worse(criterion, values[tested.name], reference)
        compared.append(Compared(point.settings, label, values, reference, worse, grading))
    return Finding(criterion, tested.experiment, tuple(compared))


def _value(criterion: Criterion, point: Point) -> Interval | None:
    """The criterion's quantity over the runs that define it; `None` if no run does."""
    runs = [point.rows[key] for key in point.keys]
    runs = [run for run in runs if criterion.measure(run) is not None]
    if not runs:
        return None
    values = [criterion.measure(run) or 0.0 for run in runs]
    interval = mean_interval(values, lowest=0.0, highest=criterion.highest)
    bounded = values_of(criterion.metric, runs) if criterion.metric else []
    if not isinstance(bounded, Values):
        return interval
    most = None
    if all(map(isfinite, bounded.at_most)):
        scale = metric_of(criterion.metric).unit.scale
        at_most = [scale * value for value in bounded.at_most]
        most = mean_interval(at_most, lowest=0.0, highest=criterion.highest)
    return replace(interval, is_lower_bound=True, most=most)


def _worst(
    criterion: Criterion, values: Mapping[str, Interval | None]
) -> tuple[str, Interval | None]:
    """Name and interval of the reference with the worse mean."""
    defined = {name: interval for name, interval in values.items() if interval is not None}
    if not defined:
        return "", None
    sign = 1 if criterion.better == "higher" else -1
    worst = min(defined, key=lambda name: sign * defined[name].mean)
    return worst, defined[worst]


def _label(settings: Mapping[str, object], among: Sequence[Mapping[str, object]]) -> str:
    """The settings that distinguish a point from the others; all settings of a single point."""
    varying = [key for key in settings if len(_distinct([other[key] for other in among])) > 1]
    words = []
    for key in varying or settings:
        value = settings[key]
        loss = value.get("probability") if isinstance(value, Mapping) else None
        name = {"count": " flows"}.get(key.rpartition(".")[2], "")
        text = f"{100 * loss:g} % lost" if isinstance(loss, float) else value_words(value, [value])
        words.append(f"{text}{name}")
    return ", ".join(words)


def _runs(card: Card, parts: Sequence[_Part]) -> pa.Table:
    rows = []
    for part in parts:
        for point in part.points:
            for key in point.keys:
                row = table_of([point.rows[key]])
                given = {
                    "experiment": part.experiment.name.rpartition("/")[2],
                    card.subject: part.name,
                    "settings": json.dumps(point.settings),
                }
                for place, (name, value) in enumerate(given.items()):
                    row = row.add_column(place, name, pa.array([value]))
                rows.append(row)
    return pa.concat_tables(rows, promote_options="default")


def _as_dict(finding: Finding) -> dict[str, Any]:
    criterion = finding.criterion
    return {
        "name": criterion.name,
        "title": criterion.title,
        "section": criterion.section,
        "experiment": finding.experiment.shows,
        "quantity": criterion.quantity,
        "better": criterion.better,
        **_verdict(finding.grading),
        "thresholds": {
            "by": criterion.by,
            "caution": criterion.caution,
            "failure": criterion.failure,
            "harmless": criterion.harmless,
            "reason": criterion.reason,
        },
        "points": [
            {
                "point": point.label,
                **_verdict(point.grading),
                "values": {name: _interval(value) for name, value in point.values.items()},
            }
            for point in finding.points
        ],
    }


def _verdict(grading: Grading) -> dict[str, Any]:
    """The grade, and the possible grades if it is undecided."""
    possible = {"possible": [str(grading.best), str(grading.worst)]}
    return {"verdict": str(grading.grade), **({} if grading.is_decided else possible)}


def _interval(value: Interval | None) -> dict[str, float | None] | None:
    return value.as_dict() if value else None
