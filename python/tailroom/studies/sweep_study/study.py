"""A sweep: a scenario at many points, each repeated, every run kept in a store."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from tailroom.errors import Interrupted, RunError, ScenarioError
from tailroom.execution.dask_cluster import ClusterLike, connected
from tailroom.execution.runner import Point, Runner, Task, repeats_itself
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.source import ScenarioText
from tailroom.scenario.types import Scenario
from tailroom.simulation.metrics import find_metric, full_names
from tailroom.statistics.intervals import Interval
from tailroom.storage.store import Run, Store, SweepRecord
from tailroom.studies.phases import PhaseSpread, compare_rows, shifted_points
from tailroom.studies.sweep_study.plan import Plan, Until, plan, runs_needed
from tailroom.studies.sweep_study.tables import (
    interval_of,
    known_metrics,
    means,
    rows_by_point,
    runs_of,
)
from tailroom.studies.warm_up_time import last_warm_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SweepPlotKind = Literal["curves", "heatmap", "tradeoff"]

LINK_SERIES = "link_series"
MOST_RUNS = 10_000
"""More runs in one sweep need to be asked for."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is."""

    done: int
    """Runs that are finished, those found in the store included."""
    found: int
    """Runs that the store held already."""
    planned: int
    """Runs that are needed, as far as is known."""


@dataclass(frozen=True)
class SweepResult:
    """What a sweep has found; the store holds more."""

    store: Store
    record: SweepRecord

    @property
    def runs(self) -> pa.Table:
        """One row a run: its settings (a column each, by key), seed, and every metric."""
        return runs_of(self.store, self.record)

    @cached_property
    def rows_by_point(self) -> list[list[pa.Table]]:
        """The rows of the finished runs of each point, as the store keeps them."""
        return rows_by_point(self.store, self.record)

    @property
    def metrics(self) -> list[str]:
        """Full names of the metrics that its runs have."""
        return known_metrics(self.rows_by_point)

    def intervals(self, metric: str) -> list[Interval | None]:
        """Mean and 95 % interval of a metric at each point; `None` where it is not defined.

        Raises:
            MetricError: There is no such metric.
        """
        known = self.metrics
        name = find_metric(metric, known) if known else metric
        return [interval_of(rows, name) for rows in self.rows_by_point]

    @property
    def repeats_itself(self) -> bool:
        """Whether seeds make no difference: the scenario draws nothing at random."""
        repeated = [rows for rows in self.rows_by_point if len(rows) > 1]
        return bool(repeated) and all(map(repeats_itself, repeated))

    @property
    def imprecise(self) -> list[dict[str, object]]:
        """Settings of the points that were given up before their interval was narrow enough."""
        until = self.record.until
        if until is None:
            return []
        found = self.intervals(until["metric"])
        return [
            point["settings"]
            for point, interval in zip(self.record.points, found, strict=True)
            if interval is None or interval.half_width > until["half_width"]
        ]

    @property
    def warm_up_too_short(self) -> list[tuple[dict[str, object], float | None]]:
        """Points that are measured before their warm-up ends, with the second at which it does.

        By `tailroom.warm_up` for the mean over the point's runs, at the link that settles last;
        `None` if that is not in the first half. Empty if the series were not kept.
        """
        found = []
        for point, rows in zip(self.record.points, self.rows_by_point, strict=True):
            tables = [self.store.table(key, LINK_SERIES) for key in point["runs"]]
            series = [one for one in tables if one is not None]
            if rows and series:
                summary = json.loads(rows[0]["summary"][0].as_py())
                ends_s = last_warm_up(series)
                # Less than a tenth of the run too early may be chance.
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
            compare_rows(rows, self._rows(shifted), metrics)
            if (shifted := point.get("shifted_runs"))
            else []
            for point, rows in zip(self.record.points, self.rows_by_point, strict=True)
        ]

    def _rows(self, keys: Sequence[str]) -> list[pa.Table]:
        return [row for row in map(self.store.read, keys) if row is not None]

    def means(self, metric: str) -> pa.Table:
        """One row a point: its settings, then `mean`, `half_width` (95 %) and `runs` of a metric.

        Raises:
            MetricError: There is no such metric.
        """
        return means(self.store, self.record, metric)

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


def sweep(  # noqa: PLR0913 - each says one thing about a sweep
    scenario: str | PathLike[str] | Scenario,
    store: str | PathLike[str],
    *,
    grid: Mapping[str, object] | None = None,
    together: Mapping[str, object] | None = None,
    seeds: int | None = None,
    until: Until | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Mapping[str, str | ControlFactory] | None = None,
    series: bool = False,
    phase_check: bool | None = None,
    workers: int | None = None,
    cluster: "ClusterLike | None" = None,
    most_runs: int = MOST_RUNS,
    progress: Callable[["SweepProgress"], object] | None = None,
) -> SweepResult:
    """Runs a scenario at every point of a grid, several times each, and keeps every run.

    A run that the store holds already, from whichever sweep, is not run again. The numbers are
    those of single runs, whatever the number of workers.

    Args:
        scenario: Path of a scenario file with a `[sweep]`, or without one if `grid` is given.
        store: Directory of the store; it is made if it is not there.
        grid: Keys with their values (a list, a range, or an `Axis`); every combination is a point.
        together: Keys whose values go together, row by row.
        seeds: Runs of each point, with the scenario's seed, the next one, and so on.
        until: Instead, as many as make a metric precise.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, as `tailroom.run` takes them.
        series: Keep the time series of the links too.
        phase_check: Repeat each point with RTTs shifted by fractions of a packet time, as often as
            with seeds; as the scenario's `[sweep]` says if left out.
        workers: Runs at a time; as many as there are cores if left out, or as the cluster takes.
        cluster: Runs them there: the address of a Dask scheduler (`"tcp://HOST:PORT"`), or a
            `dask.distributed.Client`, which stays open.
        most_runs: Refuse a sweep of more runs than this.
        progress: Called after each run, with how far the sweep is.

    Raises:
        ScenarioError: The scenario, a key or a value is wrong; the store is untouched.
        StoreError: The directory is no store.
        ClusterError: The cluster does not answer (the store is untouched), or cannot do the runs.
        MetricError: The metric of `until` is not among the results; the store is untouched.
        ControlError: A control of your own raised an exception.
        RunError: A run failed; the others are done and kept.
        NotWrittenError: The store cannot be written, e.g. as the disk is full.
        Interrupted: Ctrl-C, a `KeyboardInterrupt` whose `known` is the result so far; what is
            finished is kept.
    """
    source = ScenarioText.of(scenario, set or {}, congestion)
    what = plan(
        source,
        grid=grid,
        together=together,
        seeds=seeds,
        until=until,
        series=series,
        phase_check=phase_check,
    )
    if what.fewest_runs > most_runs:
        raise ScenarioError(
            f"{source.place}: sweep: {what.fewest_runs:,} runs, more than {most_runs:,}; "
            "take fewer values or seeds, or allow more (--yes, most_runs)"
        )
    points = [Point.of(source, index, one) for index, one in enumerate(what.points())]
    shifted = [shifted_points(point, what.shifts) for point in points]
    if what.until:
        full_names(points[0].source, [what.until.metric])
    # A control of the user's own may be among the values of a key only.
    typical = next((point.source for point in points if point.controls), source)
    with connected(cluster) as connection:
        work = _Work(what, points, shifted, Store.create(store), progress or (lambda _: None))
        try:
            with Runner(typical, work.store, workers=workers, cluster=connection) as runner:
                work.run(runner)
        except KeyboardInterrupt:
            raise Interrupted(SweepResult(work.store, work.record)) from None
    return SweepResult(work.store, work.record)


class _Work:
    """The runs of a sweep, in whatever order they finish."""

    def __init__(
        self,
        what: Plan,
        points: list[Point],
        shifted: list[list[Point]],
        store: Store,
        report: Callable[[SweepProgress], object],
    ) -> None:
        self.what = what
        self.points = points
        self.shifted = shifted
        """Of each point, the same with shifted RTTs, one run each."""
        self.all = [*points, *(one for some in shifted for one in some)]
        for place, point in enumerate(self.all):
            point.index = place
        self.store = store
        self.report = report
        self.record = SweepRecord(
            id=what.id,
            title=what.title,
            scenario=what.source.place,
            axes={one.key: list(one.values) for one in what.axes},
            until=vars(what.until) if what.until else None,
        )

    def run(self, runner: Runner) -> None:
        """Does all that is not in the store yet."""
        first = self.what.first_runs
        waiting = [task for point in self.points for task in self._missing(point, first)]
        shifted = self.all[len(self.points) :]
        waiting += [task for point in shifted for task in self._missing(point, 1)]
        self._write_down()
        try:
            runner.run(waiting, self._take)
        finally:
            self._write_down()
        failures = [failure for point in self.all for failure in point.failures]
        if failures:
            needed = sum(len(point.keys) for point in self.all)
            raise RunError(
                f"{len(failures)} of {needed} runs failed, the others are kept; "
                f"the first: {failures[0]}"
            )

    def _missing(self, point: Point, count: int) -> list[Task]:
        """The runs that a point needs and the store does not hold."""
        keep = (LINK_SERIES,) if self.what.series else ()
        missing = point.missing(self.store, count, keep=keep)
        self._report()
        return missing or self._next(point)

    def _next(self, point: Point) -> list[Task]:
        """More runs of a point that is settled but not precise enough."""
        until = self.what.until
        is_shifted = point.index >= len(self.points)
        if until is None or is_shifted or not point.rows or not point.is_settled:
            return []
        needed = runs_needed(point.values(until.metric), until)
        return self._missing(point, needed) if needed > len(point.keys) else []

    def _take(self, task: Task, ended: Run | RunError) -> list[Task]:
        """Takes in a run; returns those that are needed in addition."""
        point = self.all[task.point]
        point.take(task, ended)
        self._report()
        return self._next(point)

    def _report(self) -> None:
        done = sum(len(point.rows) for point in self.all)
        found = sum(point.found for point in self.all)
        planned = sum(len(point.keys) for point in self.all)
        self.report(SweepProgress(done, found, planned))

    def _write_down(self) -> None:
        self.record.points = [
            {"settings": point.settings, "runs": point.keys, **_shifted_runs(shifted)}
            for point, shifted in zip(self.points, self.shifted, strict=True)
        ]
        self.store.record(self.record)


def _shifted_runs(shifted: Sequence[Point]) -> dict[str, list[str]]:
    keys = [key for point in shifted for key in point.keys]
    return {"shifted_runs": keys} if keys else {}
