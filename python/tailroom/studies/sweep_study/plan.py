"""What a sweep is to do: its points, and how often each is repeated."""

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path

from numpy.typing import ArrayLike

from tailroom.errors import ScenarioError
from tailroom.scenario.axis import Axis, axis, values_by_key
from tailroom.scenario.kept_limits import spell_out
from tailroom.scenario.named_values import NamedValues
from tailroom.scenario.source import ScenarioSource
from tailroom.statistics.intervals import mean_interval


@dataclass(frozen=True)
class Precision:
    """Repeat a point until the confidence interval of a metric is narrow."""

    metric: str
    half_width: float
    """Largest half-width of the 95 % confidence interval of its mean."""
    at_least: int = 10
    """Runs before the interval is first looked at: fewer make it unreliable."""
    at_most: int = 100
    """Runs after which the point is given up."""


def runs_needed(values: Sequence[float] | ArrayLike, until: Precision) -> int:
    """How many runs make the interval narrow, judged by the spread of those so far.

    An interval that is looked at until it is narrow is narrow too often by chance. What keeps that
    small is that nobody looks before `at_least` runs: for normal values, intervals that end there
    or later hold the mean in 93 % of cases or more.

    Args:
        values: Of the runs so far, at least one.
        until: What is wanted of them.
    """
    interval = mean_interval(values)
    count = interval.count
    if interval.half_width <= until.half_width:
        return count
    # No more than twice as many at once: a spread from few runs is uncertain.
    ratio = min((interval.half_width / until.half_width) ** 2, 2.0) if until.half_width else 2.0
    return max(count, min(max(count + 1, int(count * ratio)), until.at_most))


@dataclass(frozen=True)
class Plan:
    """What a sweep is to do: points, and how often each is repeated."""

    source: ScenarioSource
    grid: tuple[Axis, ...]
    together: tuple[Axis, ...]
    seeds: int
    until: Precision | None
    series: bool
    """Whether the time series of the links are kept."""
    phase_check: bool
    """Whether each point is repeated with shifted RTTs."""
    title: str

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All keys that vary, those of `together` first."""
        return self.together + self.grid

    @property
    def fewest_runs(self) -> int:
        """Runs that it takes at least."""
        return self.points_count * (self.first_runs + self.shifts)

    @property
    def first_runs(self) -> int:
        """Runs of a point, as written, before it is looked at."""
        return self.until.at_least if self.until else self.seeds

    @property
    def shifts(self) -> int:
        """Runs of a point with shifted RTTs: as many as seeds, and two at least."""
        return max(self.first_runs, 2) if self.phase_check else 0

    @property
    def points_count(self) -> int:
        """Combinations of values."""
        rows = len(self.together[0].values) if self.together else 1
        return rows * prod(len(one.values) for one in self.grid)

    def points(self) -> Iterator[dict[str, object]]:
        """The settings of each point; the last axis varies fastest."""
        rows = zip(*(one.values for one in self.together), strict=True)
        keys = [one.key for one in self.axes]
        for row in rows if self.together else [()]:
            for values in itertools.product(*(one.values for one in self.grid)):
                yield NamedValues(zip(keys, (*row, *values), strict=True))

    @property
    def id(self) -> str:
        """Names the sweep: the scenario file's name, and a hash of scenario and axes."""
        axes = {one.key: one.values for one in self.axes}
        text = json.dumps([self.source.text, self.source.overrides, axes], default=str)
        name = Path(self.source.place).stem
        return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def plan(  # noqa: PLR0913 - each says one thing about a sweep
    source: ScenarioSource,
    *,
    grid: Mapping[str, object] | None = None,
    together: Mapping[str, object] | None = None,
    seeds: int | None = None,
    until: Precision | None = None,
    series: bool = False,
    phase_check: bool | None = None,
) -> Plan:
    """Reads the scenario's `[sweep]`; the arguments add keys to it, or replace what it says.

    Raises:
        ScenarioError: A key or a value is wrong, or nothing varies and nothing is repeated.
    """
    resolved = tomllib.loads(source.resolve(seed=None))
    with source.named_in_errors():
        written = tomllib.loads(source.text).get("sweep", {})
        grids = _axes({**values_by_key(written.get("grid", {})), **(grid or {})})
        rows = _axes({**values_by_key(written.get("together", {})), **(together or {})})
        keys = [one.key for one in (*grids, *rows)]
        grids, rows = (spell_out(source, some, keys)[0] for some in (grids, rows))
        _check_axes(grids, rows)
        if until is not None and seeds is not None:
            raise ScenarioError("sweep: seeds and until are given; keep one of them")
        if until is None and seeds is None and "until" in written:
            until = Precision(**written["until"])
        if seeds is None:
            seeds = written.get("seeds", 5)
        if phase_check is None:
            phase_check = written.get("phase_check", False)
        _check_repeats(seeds, until)
        if phase_check and until is None and seeds < 2:
            raise ScenarioError(
                "sweep: a phase check compares shifts with seeds; give at least 2 seeds"
            )
    title = resolved["title"]
    return Plan(source, grids, rows, seeds, until, series, phase_check, title)


def _check_repeats(seeds: int, until: Precision | None) -> None:
    if seeds < 1:
        raise ScenarioError(f"sweep: seeds = {seeds}; give at least 1")
    if until and not 2 <= until.at_least <= until.at_most:
        raise ScenarioError(
            f"sweep.until: at_least = {until.at_least}, at_most = {until.at_most}; "
            "give 2 <= at_least <= at_most"
        )
    if until and not (isfinite(until.half_width) and until.half_width >= 0):
        raise ScenarioError(
            f"sweep.until: half_width = {until.half_width}; give a number that is not negative"
        )


def _axes(values: Mapping[str, object]) -> tuple[Axis, ...]:
    return tuple(
        given if isinstance(given, Axis) else axis(key, given) for key, given in values.items()
    )


def _check_axes(grid: Sequence[Axis], together: Sequence[Axis]) -> None:
    both = {one.key for one in grid} & {one.key for one in together}
    if both:
        raise ScenarioError(f"sweep: {', '.join(both)} is in grid and in together; keep one")
    for one in grid:
        _check_distinct(one.key, one.values)
    lengths = {one.key: len(one.values) for one in together}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{key} has {count}" for key, count in lengths.items())
        raise ScenarioError(f"sweep.together: {found} values; give all the same number")
    _check_distinct("sweep.together", list(zip(*(one.values for one in together), strict=True)))
    if any(one.key == "seed" for one in (*grid, *together)):
        raise ScenarioError("sweep: seed is repeated by `seeds`; take it out of the axes")


def _check_distinct(key: str, values: Sequence[object]) -> None:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ScenarioError(f"{key}: {value!r} comes twice; keep one of them")
