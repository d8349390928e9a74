"""Stored results of a part's studies: points, runs, metrics and tables."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from tailroom.reproduction.form import Form
from tailroom.simulation.metrics import find_metric, names_of
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.storage.store import Store, SweepRecord


@dataclass(frozen=True)
class RunFound:
    """A stored run."""

    store: Store
    key: str
    row: pa.Table

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `tailroom run --json` prints."""
        summary: dict[str, Any] = json.loads(self.row["summary"][0].as_py())
        return summary

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.row["seed"][0].as_py())

    @property
    def scenario(self) -> str:
        """The scenario as TOML with every default filled in."""
        return str(self.row["scenario"][0].as_py())

    def value(self, metric: "Metric") -> float | None:
        """Returns a metric, by name as in `tailroom results`; `None` if it is undefined.

        Raises:
            MetricError: There is no such metric.
        """
        if not isinstance(metric, str):
            return metric(self)
        value: float | None = self.row[find_metric(metric, names_of(self.row))][0].as_py()
        return value

    def table(self, name: str) -> pa.Table:
        """Returns a table that the study keeps.

        Raises:
            KeyError: The study does not keep it.
        """
        table = self.store.table(self.key, name)
        if table is None:
            raise KeyError(f"{name} is not kept; add it to the study's `keep`")
        return table


Metric = str | Callable[[RunFound], float | None]
"""A metric of a run: by name, or computed from the stored run."""


@dataclass(frozen=True)
class PointFound:
    """The runs at one point of a study."""

    settings: Mapping[str, Any]
    runs: tuple[RunFound, ...]

    def number(self, key: str) -> float:
        """Returns the number of a setting with a unit: 0.1 of "0.1 bdp".

        Raises:
            KeyError: The study does not vary this key.
        """
        return float(self.settings[key].split()[0])

    def values(self, metric: Metric) -> list[float]:
        """Returns a metric of each run in which it is defined, by seed."""
        found = (run.value(metric) for run in self.runs)
        return [value for value in found if value is not None]

    def interval(self, metric: Metric) -> Interval | None:
        """Returns the mean over the runs with its 95 % interval; `None` if never defined."""
        values = self.values(metric)
        return mean_interval(values) if values else None

    def mean(self, metric: Metric) -> float:
        """Returns the mean of a metric over the runs; NaN if it is undefined in all runs."""
        interval = self.interval(metric)
        return interval.mean if interval else float("nan")


@dataclass(frozen=True)
class StudyFound:
    """The points of a study, in the order of its grid."""

    points: tuple[PointFound, ...]

    @classmethod
    def of(cls, record: SweepRecord, runs: Mapping[str, RunFound]) -> "StudyFound":
        """Returns the points of a study with their runs, given by key."""
        return cls(
            tuple(
                PointFound(point["settings"], tuple(runs[key] for key in point["runs"]))
                for point in record.points
            )
        )

    def at(self, settings: Mapping[str, object]) -> PointFound:
        """Returns the first point with these settings, among other settings.

        Raises:
            KeyError: There is no such point.
        """
        for point in self.points:
            if all(point.settings.get(key) == value for key, value in settings.items()):
                return point
        raise KeyError(f"the study has no point with {dict(settings)}")

    def where(self, settings: Mapping[str, object]) -> "StudyFound":
        """The points with these settings, in order."""
        return StudyFound(
            tuple(
                point
                for point in self.points
                if all(point.settings.get(key) == value for key, value in settings.items())
            )
        )


@dataclass(frozen=True)
class Found:
    """Results of a part's studies."""

    form: Form
    studies: Mapping[str, StudyFound]

    def study(self, name: str) -> StudyFound:
        """A study by its name in the part."""
        return self.studies[name]
