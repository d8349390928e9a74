"""A point of a study: a scenario with some of its values replaced, and the runs that it needs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tailroom import _engine
from tailroom.arguments import named
from tailroom.errors import RunError, ScenarioError
from tailroom.execution.task import Task
from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import setting_words
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.lower_bounds import values_of
from tailroom.simulation.metrics import find_metric
from tailroom.storage.run import Row, metric_names, run_key

NOT_FROM_SEED = ("key", "seed", "wall_s")
"""Columns of a run that differ between seeds even if the simulations are equal."""
LONGEST_WORDS = 200
"""Characters of a point in a message: a key may have as many as its author wants."""


@with_field_docs
@dataclass(eq=False)
class Point:
    """A scenario with some of its values replaced, and its runs with consecutive seeds."""

    settings: dict[str, object]
    """The replaced values, by dotted key."""
    source: Scenario = field(repr=False)
    """The scenario with the replaced values."""
    scenario_hash: str
    """Hash of the scenario and of the contents of its files."""
    controls: str
    """Fingerprint of the controls written in Python; empty if there are none."""
    first_seed: int
    """Seed of the first run; later runs have the next seeds."""
    keep: tuple[str, ...] = ()
    """Tables of every result that the store keeps, such as `link_series`."""
    keys: list[str] = field(default_factory=list)
    """Keys of the runs that the point needs, by seed."""
    rows: dict[str, Row] = field(default_factory=dict, repr=False)
    """Rows of the finished runs, by key, without scenario and summary."""
    failures: dict[str, str] = field(default_factory=dict)
    """Messages of the runs that failed, by key."""
    _drawn: dict[int, dict[str, float]] = field(default_factory=dict, repr=False)
    """What `deviations` has read, by seed and group."""

    @classmethod
    def of(
        cls, source: Scenario, settings: dict[str, object], *, keep: Sequence[str] = ()
    ) -> "Point":
        """Resolves a scenario with some of its values replaced.

        Args:
            source: The scenario.
            settings: The replaced values, by dotted key.
            keep: Tables of every result that the store keeps.

        Raises:
            ScenarioError: A value is wrong.
        """
        # The value of a table comes before the values that replace keys of that table.
        by_depth = dict(sorted(settings.items(), key=lambda setting: setting[0].count(".")))
        source = source.replacing(by_depth)
        try:
            source.check()
        except ScenarioError as error:
            # Every replaced value is reported as one of `set`.
            text = str(error)
            for key in settings:
                text = text.replace(f"{named('set')} {key}", key)
            if not any(key in text for key in settings):
                # A key of the file is wrong only together with a replaced value.
                point = setting_words(settings, {})
                cut = f"{point[:LONGEST_WORDS]}..." if len(point) > LONGEST_WORDS else point
                text = f"{text}; the point has {cut}"
            raise ScenarioError(text) from None
        read = source.handle
        with source.named_in_errors():
            controls = source.controls.fingerprint(read.controls)
        return cls(settings, source, source.hash_of(read), controls, read.seed, tuple(keep))

    def extend(self, count: int) -> None:
        """Adds runs with the next seeds until the point has `count` runs."""
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
        """Name of the point in messages: its settings, or the scenario if it has none."""
        return setting_words(self.settings, {}) or self.source.place

    @property
    def finished(self) -> list[Row]:
        """The rows of the finished runs, by seed, without scenario and summary."""
        return [self.rows[key] for key in self.keys if key in self.rows]

    def values(self, metric: str) -> list[float]:
        """Returns the values of a metric in the finished runs, by seed.

        If some are only lower bounds, they know what they are at most (`Values`).

        Args:
            metric: Name of the metric, in full or in short.

        Raises:
            MetricError: There is no such metric.
            RunError: A run does not define the metric.
        """
        rows = self.finished
        name = find_metric(metric, metric_names(rows[0])) if rows else metric
        if name.endswith(".loss_fraction"):
            # A link or group of which no packet was counted has lost none.
            rows = [{**row, name: row[name] or 0.0} for row in rows]
        if any(row[name] is None for row in rows):
            raise RunError(f"{name} is not defined at {self.name}; {_remedy(name)}")
        return values_of(name, rows)

    def deviations(self, groups: Sequence[str]) -> list[list[float]]:
        """Returns how far from its mean is what groups draw in the finished runs, by seed.

        It is a function of scenario and seed alone, so that runs of a store have it too.

        Args:
            groups: Names of groups that have such a mean.
        """
        seeds = [seed for seed, key in enumerate(self.keys, self.first_seed) if key in self.rows]
        for seed in seeds if groups else ():
            if seed not in self._drawn:
                self._drawn[seed] = dict(self.source.handle.variates(seed))
        return [[self._drawn[seed][group] for seed in seeds] for group in groups]


def _remedy(metric: str) -> str:
    if ".all_sizes." in metric or ".coflows." in metric:
        return (
            "no flow or query began in the measured window: lengthen duration, or choose another "
            "metric"
        )
    return "choose another metric"


def repeats_itself(rows: Iterable[Row]) -> bool:
    """Returns whether runs with different seeds are equal, so that the scenario draws nothing."""
    values = map(_outcome, rows)
    first, second = next(values, None), next(values, None)
    return second is not None and second == first and all(other == first for other in values)


def _outcome(row: Row) -> dict[str, object]:
    """Returns the columns of a run without those that differ between all seeds."""
    return {name: value for name, value in row.items() if name not in NOT_FROM_SEED}
