"""A sweep: a scenario at many points, each repeated, every run kept in a store."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from tailroom.errors import Interrupted, ScenarioError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point, repeats_itself
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.source import ScenarioSource
from tailroom.scenario.types import Scenario
from tailroom.simulation import frames
from tailroom.simulation.metrics import full_names
from tailroom.statistics.intervals import Interval
from tailroom.storage.run_index import RunIndex
from tailroom.storage.store import Store, SweepRecord
from tailroom.studies.phases import PhaseSpread, compare_rows, shifted_points
from tailroom.studies.renamed_arguments import renamed_arguments
from tailroom.studies.sweep_study.plan import Plan, Precision, plan, runs_needed
from tailroom.studies.sweep_study.tables import (
    intervals,
    means,
    metrics_of_sweep,
    runs_of,
)
from tailroom.studies.warm_up_time import last_warm_up

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

SweepPlotKind = Literal["curves", "heatmap", "tradeoff"]

LINK_SERIES = "link_series"
MOST_RUNS = 10_000
"""A sweep of more runs must be allowed explicitly."""


@dataclass(frozen=True)
class SweepResult:
    """The results of a sweep."""

    store: Store
    record: SweepRecord

    def __repr__(self) -> str:
        """Title, keys, and the numbers of points and runs."""
        record = self.record
        keys = f" over {', '.join(record.axes)}" if record.axes else ""
        runs = sum(len(point["runs"]) for point in record.points)
        return (
            f"<SweepResult {record.id}: {record.title}; {len(record.points):,} points{keys}, "
            f"{runs:,} runs in {self.store.directory}>"
        )

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        from tailroom.reports.notebook import sweep_html  # noqa: PLC0415 - matplotlib takes a second

        return sweep_html(self)

    @cached_property
    def index(self) -> RunIndex:
        """The finished runs as columns, read once."""
        return self.store.columns()

    @cached_property
    def runs(self) -> pa.Table:
        """One row per run: its settings (one column per key), seed, and every metric.

        `result.store.runs()` has each run's whole scenario (TOML) and summary (JSON) too.
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

    @cached_property
    def metrics(self) -> list[str]:
        """Full names of the metrics that the runs have."""
        return metrics_of_sweep(self.index, self.record)

    def intervals(self, metric: str) -> list[Interval | None]:
        """Mean and 95 % interval of a metric at each point; `None` where it is not defined.

        Raises:
            MetricError: There is no such metric.
        """
        return intervals(self.index, self.record, metric)

    @cached_property
    def repeats_itself(self) -> bool:
        """Whether seeds make no difference: the scenario draws nothing at random."""
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
        found = self.intervals(until["metric"])
        return [
            point["settings"]
            for point, interval in zip(self.record.points, found, strict=True)
            if interval is None or interval.half_width > until["half_width"]
        ]

    @cached_property
    def warm_up_too_short(self) -> list[tuple[dict[str, object], float | None]]:
        """Points whose measured time begins before the warm-up ends, with the end in seconds.

        The end is that of `tailroom.warm_up` for the mean over the point's runs, at the link that
        settles last; `None` if it is not in the first half of the run. Empty if the store has no
        series.
        """
        found = []
        for point in self.record.points:
            tables = [self.store.table(key, LINK_SERIES) for key in point["runs"]]
            series = [one for one in tables if one is not None]
            finished = self.index.present(point["runs"])
            row = self.store.read(finished[0]) if finished and series else None
            if row is not None:
                summary = json.loads(row["summary"][0].as_py())
                ends_s = last_warm_up(series)
                # A difference below a tenth of the run may be chance.
                late_s = summary["measured_from_s"] + 0.1 * summary["measured_to_s"]
                if ends_s is None or ends_s > late_s:
                    found.append((point["settings"], ends_s))
        return found

    def phase_spreads(self, metrics: Sequence[str] = ()) -> list[list[PhaseSpread]]:
        """Each point's metrics over seeds and over shifted RTTs; empty if phases were not checked.

        Args:
            metrics: Names in full or in short; if left out, utilization, loss and mean queueing
                delay of each link and the goodput of each group.

        Raises:
            MetricError: There is no such metric.
        """
        return [
            compare_rows(self._rows(point["runs"]), self._rows(shifted), metrics)
            if (shifted := point.get("shifted_runs"))
            else []
            for point in self.record.points
        ]

    def _rows(self, keys: Sequence[str]) -> list[pa.Table]:
        return [self.index.row(key) for key in self.index.present(keys)]

    def means(self, metric: str) -> pa.Table:
        """One row per point: its settings, then `mean`, `half_width` (95 %) and `runs` of a metric.

        Raises:
            MetricError: There is no such metric.
        """
        return means(self.index, self.record, metric)

    def to_pandas(self, metric: str | None = None) -> "pd.DataFrame":
        """The means of a metric, one row per point, or all runs, as a pandas data frame.

        Args:
            metric: Columns are those of `means(metric)`; those of `runs` if left out.

        Raises:
            MetricError: There is no such metric.
            MissingLibraryError: pandas is not installed (`pip install 'tailroom[frames]'`).
        """
        return frames.to_pandas(self.runs if metric is None else self.means(metric))

    def to_polars(self, metric: str | None = None) -> "pl.DataFrame":
        """The means of a metric, one row per point, or all runs, as a polars data frame.

        Args:
            metric: Columns are those of `means(metric)`; those of `runs` if left out.

        Raises:
            MetricError: There is no such metric.
            MissingLibraryError: polars is not installed (`pip install 'tailroom[frames]'`).
        """
        return frames.to_polars(self.runs if metric is None else self.means(metric))

    def plot(  # noqa: PLR0913 - each says one thing about a figure
        self,
        kind: SweepPlotKind = "curves",
        *,
        x: str | None = None,
        y: str | None = None,
        metrics: Sequence[str] = (),
        models: Sequence[str] = (),
        link: str | None = None,
    ) -> "Figure":
        """Draws metrics over a key, a metric over two keys, or utilization against delay.

        Args:
            kind: `curves`: one panel a metric, with 95 % confidence bands; `heatmap`; `tradeoff`:
                utilization against mean queueing delay.
            x: Key to draw over, or how it ends; if left out, a queue limit, else the first key
                with numbers.
            y: The other key of a heat map; if left out, the first that is combined with `x`.
            metrics: Those to draw, the usual ones if left out; of a heat map one.
            models: Names of analytic models whose predictions stand beside the curves.
            link: The link whose metrics are drawn, where there are several.

        Raises:
            ValueError: There is no such kind, key or model, or the sweep has nothing to draw.
            MetricError: There is no such metric or link.
        """
        from tailroom import plots  # noqa: PLC0415 - matplotlib takes a second to load

        return plots.draw_sweep(self, kind, x=x, y=y, metrics=metrics, models=models, link=link)


@renamed_arguments(most_runs="max_runs")
def sweep(  # noqa: PLR0913 - each says one thing about a sweep
    scenario: str | PathLike[str] | Scenario,
    store: str | PathLike[str],
    *,
    grid: Mapping[str, object] | None = None,
    together: Mapping[str, object] | None = None,
    seeds: int | None = None,
    until: Precision | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Mapping[str, str | ControlFactory] | None = None,
    series: bool = False,
    phase_check: bool | None = None,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    max_runs: int = MOST_RUNS,
    progress: Callable[[RunProgress], object] | None = None,
) -> SweepResult:
    """Runs a scenario at every point of a grid, several times each, and keeps every run.

    A run that the store holds already, from any sweep, is not repeated. The numbers are those of
    single runs, whatever the number of workers.

    Args:
        scenario: Path of a scenario file with a `[sweep]`, or without one if `grid` is given.
        store: Directory of the store; it is created if it does not exist.
        grid: Keys with their values (a list, a range, or an `Axis`); every combination is a point.
        together: Keys whose values go together, row by row.
        seeds: Runs per point, with consecutive seeds from the scenario's.
        until: Instead of `seeds`: repeat each point until a metric is precise.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, as `tailroom.run` takes them.
        series: Keep the time series of the links.
        phase_check: Repeat each point with RTTs shifted by fractions of a packet time, as often as
            with seeds; as the scenario's `[sweep]` says if left out.
        workers: Maximum number of runs at a time; as many as there are cores if left out, or as
            the executor takes.
        executor: Where the runs are performed: the address of a Dask scheduler
            (`"tcp://HOST:PORT"`), a `distributed.Client`, or any `concurrent.futures.Executor`.
            The latter two stay open. The cores of this machine if left out.
        max_runs: Refuse a sweep of more runs than this.
        progress: Called after each run, with how far the sweep is.

    Raises:
        ScenarioError: The scenario, a key or a value is wrong; the store is untouched.
        StoreError: The directory is not a store.
        ClusterError: The cluster does not answer (the store is untouched), or it or the executor
            cannot perform the runs.
        MetricError: The metric of `until` is not among the results; the store is untouched.
        ControlError: A control written in Python raised an exception.
        RunError: A run failed; the others are kept.
        NotWrittenError: The store cannot be written, for example on a full disk.
        Interrupted: Ctrl-C, a `KeyboardInterrupt` whose `known` is the result so far; what is
            finished is kept.
    """
    source = ScenarioSource.of(scenario, set or {}, congestion)
    what = plan(
        source,
        grid=grid,
        together=together,
        seeds=seeds,
        until=until,
        series=series,
        phase_check=phase_check,
    )
    if what.fewest_runs > max_runs:
        raise ScenarioError(
            f"{source.place}: sweep: {what.fewest_runs:,} runs, more than {max_runs:,}; "
            "take fewer values or seeds, or allow more (--yes; in Python: max_runs)"
        )
    keep = (LINK_SERIES,) if what.series else ()
    points = [Point.of(source, one, keep=keep) for one in what.points()]
    shifted = [shifted_points(point, what.shifts) for point in points]
    if what.until:
        full_names(points[0].source, [what.until.metric])
    with Runner.opened(
        store,
        # Controls written in Python may be values of a key.
        in_processes=any(point.controls for point in points),
        workers=workers,
        executor=executor,
    ) as runner:
        work = _Work(what, points, shifted, runner.store)
        try:
            work.run(runner, progress)
        except KeyboardInterrupt:
            raise Interrupted(SweepResult(work.store, work.record)) from None
    return SweepResult(work.store, work.record)


class _Work:
    """The points of a sweep, and the record of their runs."""

    def __init__(
        self, what: Plan, points: list[Point], shifted: list[list[Point]], store: Store
    ) -> None:
        self.what = what
        self.points = points
        self.shifted = shifted
        """For each point, the points with shifted RTTs, of one run each."""
        self.all_points = [*points, *(one for some in shifted for one in some)]
        self._is_shifted = frozenset(self.all_points[len(points) :])
        self.store = store
        self.record = SweepRecord(
            id=what.id,
            title=what.title,
            scenario=what.source.place,
            axes={one.key: list(one.values) for one in what.axes},
            until=vars(what.until) if what.until else None,
        )

    def run(self, runner: Runner, progress: Callable[[RunProgress], object] | None) -> None:
        """Performs the runs that the store lacks."""
        for point in self.all_points:
            point.extend(self._needed(point))
        self._write_record()
        try:
            runner.complete(self.all_points, self._needed, keep_going=True, progress=progress)
        finally:
            self._write_record()

    def _needed(self, point: Point) -> int:
        """Number of runs of a point: more if it is not precise enough yet."""
        if point in self._is_shifted:
            return 1
        if not point.keys:
            return self.what.first_runs
        until = self.what.until
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
