"""A sweep: a scenario at many points, several runs per point, all runs kept in a store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, cast

import pyarrow as pa

from tailroom.arguments import COMPARED_RUNS, RUNS, WORKERS, named
from tailroom.errors import Interrupted, ScenarioError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point, repeats_itself
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import setting_words
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.metrics import full_names
from tailroom.simulation.run_warnings import warn, with_names
from tailroom.statistics.intervals import Interval
from tailroom.storage.run import Row
from tailroom.storage.run_index import RunIndex
from tailroom.storage.store import Store
from tailroom.storage.sweep_record import SweepRecord
from tailroom.studies.phases import PhaseSpread, compare_rows, shifted_points
from tailroom.studies.stored_warnings import summary_of, warnings_of
from tailroom.studies.sweep_study.own_warnings import own_warnings
from tailroom.studies.sweep_study.plan import Plan, Precision, plan, runs_needed
from tailroom.studies.sweep_study.tables import (
    intervals,
    means,
    metrics_of_sweep,
    runs_of,
)
from tailroom.studies.warm_up_time import last_warm_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.simulation.result_types import RunWarning

SweepPlotKind = Literal["curves", "heatmap", "tradeoff"]
"""Pictures of a sweep."""

LINK_SERIES = "link_series"
MOST_RUNS = 10_000
"""Default maximum number of runs of a sweep."""


@with_field_docs
@dataclass(frozen=True)
class SweepResult(AnyResult):
    """The results of a sweep: its points, their runs, and means with intervals.

    `table` knows `runs` (the main table), one row per run, and for the name of a metric the table
    `means` of this metric.
    """

    store: Store
    """The store with the runs."""
    record: SweepRecord
    """The points of the sweep, and the keys of the runs of each point."""

    def __repr__(self) -> str:
        """Title, keys, and the numbers of points and finished runs."""
        record = self.record
        keys = f" over {', '.join(record.axes)}" if record.axes else ""
        planned, finished = self.planned_runs, sum(self.run_counts)
        of_planned = f" of {planned:,}" if finished < planned else ""
        return (
            f"<SweepResult {record.id}: {record.title}; {len(record.points):,} points{keys}, "
            f"{finished:,}{of_planned} runs finished, store {self.store.directory}>"
        )

    @cached_property
    def index(self) -> RunIndex:
        """The finished runs as columns, read once."""
        return self.store.columns()

    @cached_property
    def runs(self) -> pa.Table:
        """One row per run: its settings (one column per key), seed, and every metric.

        `result.store.runs()` also has the whole scenario (TOML) and summary (JSON) of each run.
        """
        return runs_of(self.store, self.record, texts=False)

    @cached_property
    def rows_by_point(self) -> list[list[pa.Table]]:
        """The rows of the finished runs of each point, without scenario and summary."""
        return [self._rows(point["runs"]) for point in self.record.points]

    @cached_property
    def run_counts(self) -> list[int]:
        """Number of finished runs of each point."""
        return [len(self.index.present(point["runs"])) for point in self.record.points]

    @property
    def planned_runs(self) -> int:
        """Number of runs of the sweep as far as planned, finished or not, without shifted RTTs."""
        return sum(len(point["runs"]) for point in self.record.points)

    @cached_property
    def metrics(self) -> list[str]:
        """Full names of the metrics that the runs have."""
        return metrics_of_sweep(self.index, self.record)

    def intervals(self, metric: str) -> list[Interval | None]:
        """Mean and 95 % interval of a metric at each point; `None` if no run defines it.

        The points are in the order of the grid; values are in the unit of the metric.

        Args:
            metric: Name of the metric; the end of a name suffices.

        Raises:
            MetricError: There is no such metric.
        """
        return intervals(self.index, self.record, metric, self.metrics)

    @cached_property
    def repeats_itself(self) -> bool:
        """Whether all seeds give the same run: the scenario draws nothing at random."""
        finished = (self.index.present(point["runs"]) for point in self.record.points)
        repeated = [keys for keys in finished if len(keys) > 1]
        return bool(repeated) and all(
            repeats_itself(map(self.index.row, keys)) for keys in repeated
        )

    @property
    def imprecise(self) -> list[dict[str, object]]:
        """Settings of the points whose interval is still too wide after `at_most` runs."""
        until = self.record.until
        if until is None:
            return []
        by_point = self.intervals(until["metric"])
        return [
            point["settings"]
            for point, interval in zip(self.record.points, by_point, strict=True)
            if interval is None or interval.half_width > until["half_width"]
        ]

    @property
    def warnings(self) -> tuple["RunWarning", ...]:
        """What a reader should know before trusting the result, each kind and place once."""
        return tuple(warning for warning, _ in self.warnings_by_point)

    @property
    def warnings_by_point(self) -> list[tuple["RunWarning", tuple[str, ...]]]:
        """Each warning with the names of the points that it concerns, those of runs last.

        A point is named by its settings.
        """
        return [*self.own_warnings, *self.warnings_of_runs]

    @cached_property
    def own_warnings(self) -> list[tuple["RunWarning", tuple[str, ...]]]:
        """What the sweep itself warns of: seeds, precision, warm-up and traffic phase effects."""
        return list(
            own_warnings(
                self.record,
                repeats_itself=self.repeats_itself,
                imprecise=self.imprecise,
                warm_up_too_short=self.warm_up_too_short,
                phase_spreads=self.phase_spreads(),
            )
        )

    @cached_property
    def warnings_of_runs(self) -> list[tuple["RunWarning", tuple[str, ...]]]:
        """What the first run of each point warns of; of each kind and place, the first warning."""
        first_runs = (self.index.present(point["runs"])[:1] for point in self.record.points)
        return with_names(
            (setting_words(point["settings"], self.record.axes), warnings_of(self.store, keys))
            for point, keys in zip(self.record.points, first_runs, strict=True)
        )

    @cached_property
    def warm_up_too_short(self) -> list[tuple[dict[str, object], float | None]]:
        """Settings of the points measured before the warm-up ends, each with the end in seconds.

        The end is that of `tailroom.warm_up` for the mean over the point's runs, at the link that
        settles last; `None` if it is not in the first half of the run. Empty if the store has no
        series.
        """
        too_short = []
        for point in self.record.points:
            tables = [self.store.table(key, LINK_SERIES) for key in point["runs"]]
            series = [table for table in tables if table is not None]
            finished = self.index.present(point["runs"])
            row = self.store.texts(finished[0]) if finished and series else None
            summary = None if row is None else summary_of(row)
            if summary is not None:
                ends_s = last_warm_up(series)
                # A difference below a tenth of the run may be chance.
                late_s = summary["measured_from_s"] + 0.1 * summary["measured_to_s"]
                if ends_s is None or ends_s > late_s:
                    too_short.append((point["settings"], ends_s))
        return too_short

    def phase_spreads(self, metrics: Sequence[str] = ()) -> list[list[PhaseSpread]]:
        """Metrics of each point over seeds and over shifted RTTs; empty without a phase check.

        Args:
            metrics: Names of metrics, the end of a name suffices; if left out, utilization, loss
                and mean queueing delay of each link and the goodput of each group.

        Raises:
            MetricError: There is no such metric.
        """
        return [
            compare_rows(self._rows(point["runs"]), self._rows(shifted), metrics)
            if (shifted := point.get("shifted_runs"))
            else []
            for point in self.record.points
        ]

    def _rows(self, keys: Sequence[str]) -> list[Row]:
        return [self.index.row(key) for key in self.index.present(keys)]

    def means(self, metric: str) -> pa.Table:
        """One row per point: its settings, then mean and 95 % interval of a metric, and the runs.

        Columns: `mean`, `half_width` (of Student's interval), `low` and `high` (ends of the
        interval, within the range of the metric) in the unit of the metric, `runs` and
        `planned_runs`. The columns of the interval are null for a single run.

        Args:
            metric: Name of the metric; the end of a name suffices.

        Raises:
            MetricError: There is no such metric.
        """
        return means(self.index, self.record, metric)

    def table(self, name: str | None = None) -> pa.Table:
        """Returns the runs, or the means of a metric.

        Args:
            name: `runs` (also if left out), or the name of a metric, for the table `means`.

        Raises:
            MetricError: There is no such metric.
        """
        return super().table(name) if name in (None, *self._tables) else self.means(str(name))

    @property
    def _tables(self) -> Tables:
        return {"runs": lambda: self.runs}

    def as_dict(self) -> dict[str, Any]:
        """The points with the means of all metrics, as JSON has them."""
        record = self.record
        metrics = {metric: self.intervals(metric) for metric in self.metrics}
        points = [
            {
                "settings": point["settings"],
                "runs": self.run_counts[place],
                "planned_runs": len(point["runs"]),
                "metrics": {
                    metric: interval.as_dict()
                    for metric, by_point in metrics.items()
                    if (interval := by_point[place])
                },
            }
            for place, point in enumerate(record.points)
        ]
        return {
            "id": record.id,
            "title": record.title,
            "axes": record.axes,
            "points": points,
            "warnings": [{**one, "points": list(names)} for one, names in self.warnings_by_point],
        }

    def plot(  # noqa: PLR0913 - keyword arguments
        self,
        kind: SweepPlotKind = "curves",
        *,
        x: str | None = None,
        y: str | None = None,
        metrics: Sequence[str] = (),
        models: Sequence[str] = (),
        link: str | None = None,
        title: bool | None = True,
    ) -> "Figure":
        """Draws metrics over a key, a metric over two keys, or utilization against delay.

        Args:
            kind: `curves`: one panel per metric, with 95 % confidence bands; `heatmap`: one metric
                over two keys; `tradeoff`: utilization against mean queueing delay.
            x: Key of the x axis, or the end of its name; if left out, a buffer, else the first
                numeric key.
            y: Key of the y axis of a heat map; if left out, the first key combined with `x`.
            metrics: Names of the metrics to draw, one for a heat map; if left out, the usual
                metrics.
            models: Names of analytic models whose predictions are added to the curves.
            link: Name of the link whose metrics are drawn, if there are several.
            title: Whether the picture has its title; `None` is no title either.

        Raises:
            ArgumentError: There is no such kind, key or model, or the sweep has nothing to draw.
            MetricError: There is no such metric or link.
        """
        options: dict[str, Any] = {"x": x, "y": y, "metrics": metrics, "models": models}
        return self._drawn(kind, link=link, title=title, **options)


def sweep(  # noqa: PLR0913 - keyword arguments
    scenario: ScenarioLike,
    *,
    grid: Mapping[str, object] | None = None,
    together: Mapping[str, object] | None = None,
    seeds: int | None = None,
    until: Precision | str | None = None,
    max_seeds: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Congestion | None = None,
    series: bool = False,
    phase_check: bool | None = None,
    store: str | PathLike[str] | None = None,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    max_runs: int = MOST_RUNS,
    progress: Callable[[RunProgress], object] | None = None,
    allow_code: bool = False,
    allow_files: bool = False,
) -> SweepResult:
    """Runs a scenario at every point of a grid, several times each, and keeps every run.

    A run that is in the store, from any sweep, is not repeated. Results do not depend on the number
    of workers.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python, with or without a
            `[sweep]`.
        grid: Keys, or ends of keys such as `limit`, with their values; every combination is a
            point. They are added to those of the scenario's `[sweep]`. In Python, values are a
            list, a range, or an `Axis`.
        together: Keys whose values are combined row by row: the first value of a key goes with the
            first values of the others.
        seeds: Number of runs per point, at least 1, with consecutive seeds from the scenario's; if
            left out, that of `[sweep]`, else 5.
        until: Instead of `seeds`: repeat each point until a metric is precise; text with the metric
            and the largest half-width of its 95 % confidence interval, as in
            `"utilization<0.5%"`. In Python also a `Precision`.
        max_seeds: With `until`: maximum number of runs per point, at least 2; 100 if left out.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        series: Keep the time series of the links; they show whether `measure_from` is late enough.
        phase_check: Repeat each point, once per seed, with RTTs shifted by fractions of a packet's
            transmission time; if left out, as in `[sweep]`.
        store: Directory of the store that keeps the runs; it is created if need be. In Python, a
            temporary store if left out, removed together with the result.
        workers: Maximum number of runs at a time; if left out, the number of cores, or as many as
            `executor` takes.
        executor: Where the runs are performed: the address of a Dask scheduler
            (`"tcp://HOST:PORT"`), a `distributed.Client`, or any `concurrent.futures.Executor`.
            The latter two stay open. If left out, the runs use the cores of this machine.
        max_runs: Most runs; a larger sweep is rejected.
        progress: Called with a `RunProgress` after each run.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.

    Raises:
        ArgumentError: An argument has the wrong type, or is out of range.
        ScenarioError: The scenario, a key or a value is wrong, or there are more than `max_runs`
            runs; the store is untouched.
        StoreError: The directory is not a store.
        ClusterError: The cluster does not answer (the store is untouched), or the cluster or the
            executor cannot perform the runs.
        MetricError: The metric of `until` is not among the results; the store is untouched.
        ControlError: A control written in Python raised an exception.
        RunError: A run failed; the other runs are kept.
        NotWrittenError: The store cannot be written, for example on a full disk.
        Interrupted: Ctrl-C, a `KeyboardInterrupt` whose `known` is the result so far; finished runs
            are kept.
    """
    RUNS.check("seeds", seeds)
    RUNS.check("max_runs", max_runs)
    COMPARED_RUNS.check("max_seeds", max_seeds)
    WORKERS.check("workers", workers)
    with allowing(code=allow_code, files=allow_files):
        source = Scenario.of(scenario, set, congestion)
    planned = plan(
        source,
        grid=grid,
        together=together,
        seeds=seeds,
        until=until,
        max_seeds=max_seeds,
        series=series,
        phase_check=phase_check,
    )
    if planned.fewest_runs > max_runs:
        raise ScenarioError(
            f"{source.place}: sweep: {planned.fewest_runs:,} runs are more than the {max_runs:,} "
            f"allowed; give fewer values or seeds, or allow more runs ({named('max_runs')})"
        )
    source = planned.source  # which trusts what the caller's axes name
    keep = (LINK_SERIES,) if planned.series else ()
    points = [Point.of(source, settings, keep=keep) for settings in planned.points()]
    shifted = [shifted_points(point, planned.shifts) for point in points]
    if planned.until:
        full_names(points[0].source, [planned.until.metric])
    with Runner.open(
        Store.temporary() if store is None else store,
        # Controls written in Python may be values of a key.
        in_processes=any(point.controls for point in points),
        workers=workers,
        executor=executor,
    ) as runner:
        work = _Work(planned, points, shifted, cast(Store, runner.store))
        try:
            work.run(runner, progress)
        except KeyboardInterrupt:
            raise Interrupted(SweepResult(work.store, work.record)) from None
    result = SweepResult(work.store, work.record)
    warn(result.warnings)
    return result


class _Work:
    """The points of a sweep, and the record of their runs."""

    def __init__(
        self, planned: Plan, points: list[Point], shifted: list[list[Point]], store: Store
    ) -> None:
        self.plan = planned
        self.points = points
        self.shifted = shifted
        """For each point, the points with shifted RTTs, of one run each."""
        self.all_points = [*points, *(shift for shifts in shifted for shift in shifts)]
        self._is_shifted = frozenset(self.all_points[len(points) :])
        self.store = store
        self.record = SweepRecord(
            id=planned.id,
            title=planned.title,
            scenario=planned.source.place,
            axes={varied.key: list(varied.values) for varied in planned.axes},
            units={varied.key: varied.bare_unit for varied in planned.axes if varied.bare_unit},
            until=vars(planned.until) if planned.until else None,
        )

    def run(self, runner: Runner, progress: Callable[[RunProgress], object] | None) -> None:
        """Performs the runs that are not in the store."""
        for point in self.all_points:
            point.extend(self._needed(point))
        self._write_record()
        try:
            runner.complete(self.all_points, self._needed, keep_going=True, progress=progress)
        finally:
            self._write_record()

    def _needed(self, point: Point) -> int:
        """Number of runs of a point: more if its metric is not precise enough yet."""
        if point in self._is_shifted:
            return 1
        if not point.keys:
            return self.plan.first_runs
        until = self.plan.until
        if until is None or not point.rows:
            return len(point.keys)
        return runs_needed(point.values(until.metric), until)

    def _write_record(self) -> None:
        self.record.points = [
            {"settings": point.settings, "runs": point.keys, **_shifted_runs(shifted)}
            for point, shifted in zip(self.points, self.shifted, strict=True)
        ]
        self.store.record(self.record)


def _shifted_runs(shifted: Sequence[Point]) -> dict[str, list[str]]:
    keys = [key for point in shifted for key in point.keys]
    return {"shifted_runs": keys} if keys else {}
