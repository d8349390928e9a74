"""What the store holds of a part's studies: points, runs, their numbers and tables."""

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
    """One run as the store holds it."""

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
        """Its seed."""
        return int(self.row["seed"][0].as_py())

    @property
    def scenario(self) -> str:
        """The scenario as TOML with every default filled in."""
        return str(self.row["scenario"][0].as_py())

    def value(self, metric: "Metric") -> float | None:
        """A number of it, by name as in `tailroom results`; `None` if it is not defined.

        Raises:
            MetricError: There is no such metric.
        """
        if not isinstance(metric, str):
            return metric(self)
        value: float | None = self.row[find_metric(metric, names_of(self.row))][0].as_py()
        return value

    def table(self, name: str) -> pa.Table:
        """A table that its study keeps.

        Raises:
            KeyError: The study does not keep it.
        """
        table = self.store.table(self.key, name)
        if table is None:
            raise KeyError(f"{name} is not kept; add it to the study's `keep`")
        return table


Metric = str | Callable[[RunFound], float | None]
"""A number of a run: by name, or worked out of what the store holds."""


@dataclass(frozen=True)
class PointFound:
    """The runs at one point of a study."""

    settings: Mapping[str, Any]
    runs: tuple[RunFound, ...]

    def number(self, key: str) -> float:
        """The number of a setting that has a unit: 0.1 of "0.1 bdp".

        Raises:
            KeyError: The study does not vary this key.
        """
        return float(self.settings[key].split()[0])

    def values(self, metric: Metric) -> list[float]:
        """A metric of each run in which it is defined, by seed."""
        found = (run.value(metric) for run in self.runs)
        return [value for value in found if value is not None]

    def interval(self, metric: Metric) -> Interval | None:
        """Its mean over the runs with the 95 % confidence interval; `None` if undefined in all."""
        values = self.values(metric)
        return mean_interval(values) if values else None

    def mean(self, metric: Metric) -> float:
        """Its mean over the runs; NaN if it is undefined in all."""
        interval = self.interval(metric)
        return interval.mean if interval else float("nan")


@dataclass(frozen=True)
class StudyFound:
    """The points of a study, in the order of its grid."""

    points: tuple[PointFound, ...]

    @classmethod
    def of(cls, record: SweepRecord, runs: Mapping[str, RunFound]) -> "StudyFound":
        """The points of a study with those of their runs that are finished, by key."""
        return cls(
            tuple(
                PointFound(point["settings"], tuple(runs[key] for key in point["runs"]))
                for point in record.points
            )
        )

    def at(self, settings: Mapping[str, object]) -> PointFound:
        """The first point with these settings, whatever its others are.

        Raises:
            KeyError: There is none.
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
    """What a part's studies have found."""

    form: Form
    studies: Mapping[str, StudyFound]

    def study(self, name: str) -> StudyFound:
        """A study by its name in the part."""
        return self.studies[name]
