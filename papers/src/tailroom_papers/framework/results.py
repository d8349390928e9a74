"""Results of a part's studies, read from the store: points, runs, metrics and tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import pyarrow as pa

from tailroom.field_docs import with_field_docs
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.simulation.metrics import find_metric, names_of
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.storage.run_index import StoredRow
from tailroom.storage.store import Store
from tailroom.storage.sweep_record import SweepRecord
from tailroom.studies.stored_warnings import known_summary_of
from tailroom_papers.framework.bounds import NamedBound
from tailroom_papers.framework.check import Check, above, below, between
from tailroom_papers.framework.study import Form


class NotInDataError(LookupError):
    """The data next to a report, which are the values of metrics, lack what is asked for."""


@with_field_docs
@dataclass(frozen=True)
class StoredRun:
    """A run of a store, or of the data next to a report."""

    store: Store | None
    """The store with the run; `None` for a run of the data next to a report, which has the values
    of metrics only."""
    key: str
    """Key of the run in the store."""
    row: pa.Table
    """One row: scenario, seed, engine, every metric, the whole summary."""
    read: dict[str, float | None] = field(default_factory=dict, compare=False, repr=False)
    """Values of the metrics that were read so far, by name: what verdicts follow from."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `tailroom run --json` prints.

        Raises:
            NotInDataError: The run is of the data next to a report.
            StoreError: Another version of tailroom wrote the summary.
        """
        if "summary" not in self.row.column_names:
            raise NotInDataError(
                "the data next to a report have no summary; read the number through "
                "`run.value(FUNCTION)`, so that the data contain it"
            )
        return known_summary_of(StoredRow(self.row))

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.row["seed"][0].as_py())

    @property
    def scenario(self) -> str:
        """The scenario as TOML with every default filled in."""
        return str(self.row["scenario"][0].as_py())

    def value(self, metric: "Metric") -> float | None:
        """Returns the value of a metric; `None` if it is undefined.

        Args:
            metric: Name as in `tailroom results`, in full or in short, or a function of the run.

        Raises:
            MetricError: There is no such metric.
            NotInDataError: The run is of the data next to a report, which lack the metric.
        """
        name = find_metric(metric, names_of(self.row)) if isinstance(metric, str) else ""
        name = name or metric_name(metric)
        if name not in self.read:
            self.read[name] = self._value(name, metric)
        return self.read[name]

    def _value(self, name: str, metric: "Metric") -> float | None:
        if name in self.row.column_names:
            value: float | None = self.row[name][0].as_py()
            return value
        if isinstance(metric, str):
            raise NotInDataError(f"the data have no {name}; reproduce the paper anew to write them")
        return metric(self)

    def table(self, name: str) -> pa.Table:
        """Returns a table of the run.

        Args:
            name: Name of a table that the study keeps, such as `flow_series`.

        Raises:
            KeyError: The study does not keep the table.
            NotInDataError: The run is of the data next to a report.
        """
        if self.store is None:
            raise NotInDataError(
                f"the data next to a report have no {name}; read it through a metric"
            )
        table = self.store.table(self.key, name)
        if table is None:
            raise KeyError(f"{name} is not kept; add it to the study's `keep`")
        return table


Metric = str | Callable[[StoredRun], float | None]
"""A metric of a run: by name, or computed from the stored run by a function of a module, or by a
`functools.partial` of one."""


def metric_name(metric: Metric) -> str:
    """Returns the name of a metric in the data next to a report.

    Args:
        metric: The metric; a function has the name of its module (without packages) and its own,
            with the arguments of a partial: "measures.utilization_of(1)".

    Raises:
        ValueError: The function is a lambda or a local function, whose name is not unique.
    """
    if isinstance(metric, str):
        return metric
    arguments = ""
    function: Any = metric
    if isinstance(metric, partial):
        function = metric.func
        named = [f"{key}={value!r}" for key, value in metric.keywords.items()]
        arguments = f"({', '.join([*map(repr, metric.args), *named])})"
    name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}{arguments}"
    if "<" in name:
        raise ValueError(
            f"{name}: the metric has no name of its own; make it a function of its module, or a "
            "functools.partial of one"
        )
    return name


@with_field_docs
@dataclass(frozen=True)
class PointResults:
    """The runs at one point of a study."""

    settings: Mapping[str, Any]
    """The values that the study varies, by dotted key."""
    runs: tuple[StoredRun, ...]
    """The runs, by seed."""

    def number(self, key: str) -> float:
        """Returns the number of a setting with a unit: 0.1 of "0.1 bdp".

        Args:
            key: Dotted key that the study varies.

        Raises:
            KeyError: The study does not vary this key.
        """
        return float(self.settings[key].split()[0])

    def values(self, metric: Metric) -> list[float]:
        """Returns the values of a metric in the runs that define it, by seed.

        Args:
            metric: Name of the metric, or a function of a run.

        Raises:
            MetricError: There is no such metric.
        """
        values = (run.value(metric) for run in self.runs)
        return [value for value in values if value is not None]

    def interval(self, metric: Metric) -> Interval | None:
        """Returns the mean of a metric over the runs with its 95 % interval.

        Args:
            metric: Name of the metric, or a function of a run.

        Returns:
            The interval, within the range of a metric that is named; `None` if no run defines the
            metric.

        Raises:
            MetricError: There is no such metric.
        """
        values = self.values(metric)
        if not values:
            return None
        return metric_interval(metric, values) if isinstance(metric, str) else mean_interval(values)

    def mean(self, metric: Metric) -> float:
        """Returns the mean of a metric over the runs; NaN if no run defines it.

        Args:
            metric: Name of the metric, or a function of a run.

        Raises:
            MetricError: There is no such metric.
        """
        interval = self.interval(metric)
        return interval.mean if interval else float("nan")

    def above(
        self,
        what: str,
        metric: Metric,
        bound: NamedBound | float,
        stated: str = "",
        *,
        percent: bool | None = None,
    ) -> Check:
        """Checks whether the mean of a metric lies above a bound.

        Args:
            what: The quantity, in a few words.
            metric: Name of the metric, or a function of a run.
            bound: The bound, in the unit of the metric.
            stated: The paper's statement; "above BOUND" if left out.
            percent: Whether reports show the numbers in percent; as the bound says if left out.
        """
        return above(what, self.interval(metric), bound, stated, percent=percent)

    def below(
        self,
        what: str,
        metric: Metric,
        bound: NamedBound | float,
        stated: str = "",
        *,
        percent: bool | None = None,
    ) -> Check:
        """Checks whether the mean of a metric lies below a bound.

        Args:
            what: The quantity, in a few words.
            metric: Name of the metric, or a function of a run.
            bound: The bound, in the unit of the metric.
            stated: The paper's statement; "below BOUND" if left out.
            percent: Whether reports show the numbers in percent; as the bound says if left out.
        """
        return below(what, self.interval(metric), bound, stated, percent=percent)

    def between(self, what: str, metric: Metric, bound: NamedBound) -> Check:
        """Checks whether the mean of a metric lies in a range.

        Args:
            what: The quantity, in a few words.
            metric: Name of the metric, or a function of a run.
            bound: The range, in the unit of the metric.
        """
        return between(what, self.interval(metric), bound)


@with_field_docs
@dataclass(frozen=True)
class StudyResults:
    """The results of a study."""

    points: tuple[PointResults, ...]
    """The points, in the order of the study's grid."""

    @classmethod
    def of(cls, record: SweepRecord, runs: Mapping[str, StoredRun]) -> "StudyResults":
        """Returns the points of a study with their runs.

        Args:
            record: The points of the study, and the keys of the runs of each point.
            runs: The runs by key.
        """
        return cls(
            tuple(
                PointResults(point["settings"], tuple(runs[key] for key in point["runs"]))
                for point in record.points
            )
        )

    def at(self, settings: Mapping[str, object]) -> PointResults:
        """Returns the first point that has these settings; it may have others too.

        Args:
            settings: Values by dotted key, as in the study.

        Raises:
            KeyError: There is no such point.
        """
        for point in self.points:
            if all(point.settings.get(key) == value for key, value in settings.items()):
                return point
        raise KeyError(f"the study has no point with {dict(settings)}")

    def where(self, settings: Mapping[str, object]) -> "StudyResults":
        """Returns the points that have these settings, in the order of the grid.

        Args:
            settings: Values by dotted key, as in the study.
        """
        return StudyResults(
            tuple(
                point
                for point in self.points
                if all(point.settings.get(key) == value for key, value in settings.items())
            )
        )


@with_field_docs
@dataclass(frozen=True)
class PartResults:
    """The results of all studies of a part."""

    form: Form
    """Extent of the reproduction."""
    studies: Mapping[str, StudyResults]
    """The results of each study, by its name in the part."""

    def study(self, name: str) -> StudyResults:
        """Returns the results of a study.

        Args:
            name: Name of the study in its part.

        Raises:
            KeyError: The part has no such study.
        """
        return self.studies[name]


def paired_difference(point: PointResults, other: PointResults, metric: Metric) -> Interval | None:
    """Returns a metric at one point minus that at another, run by run.

    A seed gives the flows the same starts at both points. The effect of the starts cancels in the
    difference, so its interval is narrower.

    Args:
        point: Results at a point.
        other: Results at the other point.
        metric: Name of the metric, or a function of a run.

    Returns:
        The mean with its 95 % interval; `None` if no seed has both values.
    """
    return _mean([a - b for a, b in _pairs(point, other, metric)])


def paired_ratio(point: PointResults, other: PointResults, metric: Metric) -> Interval | None:
    """Returns the ratio of a metric at two points, run by run, as `paired_difference` does.

    Args:
        point: Results at a point.
        other: Results at the other point; runs with the value 0 are left out.
        metric: Name of the metric, or a function of a run.
    """
    return _mean([a / b for a, b in _pairs(point, other, metric) if b])


def more(  # noqa: PLR0913 - a comparison has these parts
    what: str,
    point: PointResults,
    other: PointResults,
    metric: Metric,
    stated: str,
    *,
    percent: bool = False,
) -> Check:
    """Checks whether a metric is larger at one point than at another, run by run.

    Args:
        what: The difference, in a few words.
        point: The point that the paper states to have more.
        other: The point that it is compared with.
        metric: Name of the metric, or a function of a run.
        stated: The paper's statement: "more than under FIFO".
        percent: Whether reports show percentage points.
    """
    check = above(what, paired_difference(point, other, metric), 0.0, stated, percent=percent)
    return replace(check, is_strict=True)


def less(  # noqa: PLR0913 - a comparison has these parts
    what: str,
    point: PointResults,
    other: PointResults,
    metric: Metric,
    stated: str,
    *,
    percent: bool = False,
) -> Check:
    """Checks whether a metric is smaller at one point than at another, run by run.

    Args:
        what: The difference, in a few words.
        point: The point that the paper states to have less.
        other: The point that it is compared with.
        metric: Name of the metric, or a function of a run.
        stated: The paper's statement: "less than under FIFO".
        percent: Whether reports show percentage points.
    """
    check = below(what, paired_difference(point, other, metric), 0.0, stated, percent=percent)
    return replace(check, is_strict=True)


def _pairs(point: PointResults, other: PointResults, metric: Metric) -> list[tuple[float, float]]:
    """The values of both points for each common seed at which both are defined."""
    of_other = {run.seed: run.value(metric) for run in other.runs}
    both = [(run.value(metric), of_other.get(run.seed)) for run in point.runs]
    return [(a, b) for a, b in both if a is not None and b is not None]


def _mean(values: list[float]) -> Interval | None:
    return mean_interval(values) if values else None
