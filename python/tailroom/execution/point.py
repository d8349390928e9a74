"""A scenario at one point of a study, with the runs that it needs there."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from tailroom import _engine
from tailroom.errors import RunError, ScenarioError
from tailroom.execution.task import Task
from tailroom.scenario.axis import setting_words
from tailroom.scenario.source import ScenarioSource, own_controls
from tailroom.simulation.metrics import find_metric, names_of
from tailroom.storage.store import run_key

NOT_FROM_SEED = ("key", "seed", "wall_s")
"""Columns of a run that differ between seeds even if the simulations are equal."""


@dataclass(eq=False)
class Point:
    """A scenario with some of its values replaced, and its runs with consecutive seeds."""

    settings: dict[str, object]
    source: ScenarioSource = field(repr=False)
    scenario_hash: str
    controls: str
    """Fingerprint of the controls written in Python; empty if there are none."""
    first_seed: int
    keep: tuple[str, ...] = ()
    """Tables of each result that the store keeps, such as `link_series`."""
    keys: list[str] = field(default_factory=list)
    """Keys of the runs that the point needs, by seed."""
    rows: dict[str, pa.Table] = field(default_factory=dict, repr=False)
    """Rows of the finished runs, by key, without scenario and summary."""
    failures: dict[str, str] = field(default_factory=dict)
    """Messages of the runs that failed, by key."""

    @classmethod
    def of(
        cls, source: ScenarioSource, settings: dict[str, object], *, keep: Sequence[str] = ()
    ) -> "Point":
        """Resolves a scenario with some of its values replaced.

        Raises:
            ScenarioError: A value is wrong.
        """
        # A table comes before what replaces one of its keys.
        source = source.replacing(dict(sorted(settings.items(), key=lambda one: one[0].count("."))))
        try:
            resolved = source.resolve(seed=None)
        except ScenarioError as error:
            # The engine takes every value that replaces another for one of --set.
            text = str(error)
            for key in settings:
                text = text.replace(f"--set {key}", key)
            raise ScenarioError(text) from None
        with source.named_in_errors():
            controls = source.controls.fingerprint(own_controls(resolved))
        seed = tomllib.loads(resolved)["seed"]
        return cls(settings, source, source.hash(), controls, seed, tuple(keep))

    def extend(self, count: int) -> None:
        """Adds runs with the next seeds until the point needs `count` runs."""
        build = _engine.build()
        for seed in range(self.first_seed + len(self.keys), self.first_seed + count):
            self.keys.append(run_key(self.scenario_hash, build, seed, self.controls))

    @property
    def outstanding(self) -> list[Task]:
        """The runs that have neither finished nor failed."""
        build = _engine.build()
        return [
            Task(self.source, seed, key, self.scenario_hash, build, self.keep)
            for seed, key in enumerate(self.keys, self.first_seed)
            if key not in self.rows and key not in self.failures
        ]

    @property
    def is_settled(self) -> bool:
        """Whether every run that the point needs so far has finished or failed."""
        return len(self.rows) + len(self.failures) == len(self.keys)

    @property
    def name(self) -> str:
        """The settings, or the scenario if there are none, as messages name the point."""
        return setting_words(self.settings, {}) or self.source.place

    @property
    def finished(self) -> list[pa.Table]:
        """The rows of the finished runs, by seed, without scenario and summary."""
        return [self.rows[key] for key in self.keys if key in self.rows]

    def values(self, metric: str) -> list[float]:
        """Values of a metric in the finished runs, by seed.

        Raises:
            MetricError: There is no such metric.
            RunError: A run does not define the metric.
        """
        rows = self.finished
        name = find_metric(metric, names_of(rows[0])) if rows else metric
        values = [row[name][0].as_py() for row in rows]
        if None in values:
            raise RunError(f"{name} is not defined at {self.name}; choose another metric")
        return values


def repeats_itself(rows: Iterable[pa.Table]) -> bool:
    """Whether runs with different seeds are equal: the scenario draws nothing at random."""
    values = map(_from_seed, rows)
    first, second = next(values, None), next(values, None)
    return second is not None and second == first and all(one == first for one in values)


def _from_seed(row: pa.Table) -> dict[str, object]:
    """What of a run would differ if the seed made a difference."""
    kept = [name for name in row.column_names if name not in NOT_FROM_SEED]
    values: dict[str, object] = row.select(kept).to_pylist()[0]
    return values
