"""The plan of a sweep: its points, and the number of runs per point."""

import hashlib
import itertools
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, prod
from pathlib import Path

from numpy.typing import ArrayLike

from tailroom.arguments import named
from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.quoting import quoted
from tailroom.scenario.axis import Axis, axes_in_scenario, axis, values_by_key
from tailroom.scenario.named_values import NamedValues
from tailroom.scenario.queue_words import spell_out
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metric_value import read_value
from tailroom.statistics.intervals import mean_interval

MOST_KEYS = 100
"""Largest number of keys of a grid, and of those that vary together."""


@with_field_docs
@dataclass(frozen=True)
class Precision:
    """A stopping rule: repeat a point until the confidence interval of a metric is narrow."""

    metric: str
    """Name of the metric; the end of a name suffices."""
    half_width: float
    """Largest half-width of the 95 % confidence interval of the mean, in the metric's unit, at
    least 0."""
    at_least: int = 10
    """Minimum number of runs, at least 2; intervals of fewer runs are unreliable."""
    at_most: int = 100
    """Maximum number of runs; a point that is still imprecise then gives a warning."""


def parse_precision(text: str) -> Precision:
    """Reads a stopping rule such as "utilization<0.5%": a metric and the largest half-width.

    Args:
        text: The rule.

    Raises:
        ScenarioError: The text has another form, or the half-width is negative or infinite, or
            lacks its unit.
    """
    metric, _, width = text.partition("<")
    how = (
        'write the metric and the largest half-width of its interval, as in "utilization<0.5%" or '
        '"queue_delay_s_mean<1 ms"'
    )
    if not metric.strip() or not width.strip():
        raise ScenarioError(f"{named('until')} {text}: not METRIC<WIDTH; {how}")
    try:
        half_width = read_value(metric.strip(), width)
    except ValueError as error:
        raise ScenarioError(f"{named('until')} {text}: {error}") from None
    if half_width < 0:
        raise ScenarioError(f"{named('until')} {text}: the width is negative; {how}")
    return Precision(metric.strip(), half_width)


def runs_needed(values: Sequence[float] | ArrayLike, until: Precision) -> int:
    """Number of runs after which the interval should be narrow, from the spread of the runs so far.

    A sequence of runs that stops as soon as the interval is narrow often stops by chance. The
    minimum of `at_least` runs limits this: for normal values, the intervals contain the mean in at
    least 93 % of cases.

    Args:
        values: The metric in the runs so far, at least one value.
        until: The stopping rule.
    """
    interval = mean_interval(values)
    count = interval.count
    if interval.half_width <= until.half_width:
        return count
    # At most double the runs at once, because the spread of few runs is uncertain.
    ratio = min((interval.half_width / until.half_width) ** 2, 2.0) if until.half_width else 2.0
    return max(count, min(max(count + 1, int(count * ratio)), until.at_most))


@dataclass(frozen=True)
class Plan:
    """The points of a sweep, and the number of runs per point."""

    source: Scenario
    grid: tuple[Axis, ...]
    """Keys whose values are combined with each other."""
    together: tuple[Axis, ...]
    """Keys whose values are combined row by row."""
    seeds: int
    """Number of runs per point, unless `until` determines it."""
    until: Precision | None
    """Stopping rule of each point, instead of `seeds`."""
    series: bool
    """Whether the store keeps the time series of the links."""
    phase_check: bool
    """Whether each point is repeated with shifted RTTs."""
    title: str

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All keys that vary, those of `together` first."""
        return self.together + self.grid

    @property
    def fewest_runs(self) -> int:
        """Minimum number of runs of the sweep."""
        return self.points_count * (self.first_runs + self.shifts)

    @property
    def first_runs(self) -> int:
        """Initial number of runs of a point, with RTTs as written."""
        return self.until.at_least if self.until else self.seeds

    @property
    def shifts(self) -> int:
        """Number of runs of a point with shifted RTTs: as many as seeds, but at least two."""
        return max(self.first_runs, 2) if self.phase_check else 0

    @property
    def points_count(self) -> int:
        """Number of combinations of values."""
        rows = len(self.together[0].values) if self.together else 1
        return rows * prod(len(varied.values) for varied in self.grid)

    def points(self) -> Iterator[dict[str, object]]:
        """Yields the settings of each point by key; the last axis varies fastest."""
        rows = zip(*(varied.values for varied in self.together), strict=True)
        keys = [varied.key for varied in self.axes]
        for row in rows if self.together else [()]:
            for values in itertools.product(*(varied.values for varied in self.grid)):
                yield NamedValues(zip(keys, (*row, *values), strict=True))

    @property
    def id(self) -> str:
        """Identifier of the sweep: name of the scenario file, and hash of scenario and axes."""
        axes = {varied.key: varied.values for varied in self.axes}
        text = json.dumps([self.source.text, self.source.overrides, axes], default=str)
        # The id is part of file names and is printed.
        stem = Path(self.source.place).stem
        name = "".join(sign if sign.isprintable() and sign != "\\" else "-" for sign in stem)
        return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def plan(  # noqa: PLR0913 - keyword arguments
    source: Scenario,
    *,
    grid: Mapping[str, object] | None = None,
    together: Mapping[str, object] | None = None,
    seeds: int | None = None,
    until: Precision | str | None = None,
    max_seeds: int | None = None,
    series: bool = False,
    phase_check: bool | None = None,
) -> Plan:
    """Reads the scenario's `[sweep]`; the arguments add keys to it, or replace its values.

    Raises:
        ScenarioError: A key, a value or a number of runs is wrong.
    """
    until = _read_until(until)
    source = source.trusting([_written_values(given) for given in (grid, together)])
    source.check()
    read = source.handle
    with source.named_in_errors():
        written = read.written("sweep") or {}
        grids = _axes(source, written.get("grid", {}), grid or {})
        rows = _axes(source, written.get("together", {}), together or {})
        keys = [varied.key for varied in (*grids, *rows)]
        grids, rows = (spell_out(source, axes, keys)[0] for axes in (grids, rows))
        _check_axes(grids, rows)
        if until is not None and seeds is not None:
            raise ScenarioError("sweep: seeds and until are given; keep one of them")
        if until is None and seeds is None and "until" in written:
            until = Precision(**written["until"])
        until = _limited(until, max_seeds)
        if seeds is None:
            seeds = written.get("seeds", 5)
        if phase_check is None:
            phase_check = written.get("phase_check", False)
        _check_repeats(seeds, until)
        if phase_check and until is None and seeds < 2:
            raise ScenarioError(
                "sweep: a phase check compares shifts with several seeds; give at least 2 seeds"
            )
    title = read.resolved["title"]
    return Plan(source, grids, rows, seeds, until, series, phase_check, title)


def _written_values(given: Mapping[str, object] | None) -> list[object]:
    """Returns the values of the caller's axes."""
    axes = (given or {}).values()
    return [one.values if isinstance(one, Axis) else one for one in axes]


def _read_until(until: Precision | str | None) -> Precision | None:
    """Returns the stopping rule, which may be given as text.

    Raises:
        ScenarioError: The value is not a stopping rule.
    """
    if isinstance(until, str):
        return parse_precision(until)
    if until is None or isinstance(until, Precision):
        return until
    raise ScenarioError(
        f'until: {until!r} is not a stopping rule; give text, as in "utilization<0.005", or a '
        "tailroom.Precision"
    )


def _limited(until: Precision | None, max_seeds: int | None) -> Precision | None:
    """Returns the stopping rule with another maximum number of runs.

    Raises:
        ScenarioError: There is no stopping rule.
    """
    if max_seeds is None:
        return until
    if until is None:
        raise ScenarioError(f"{named('max_seeds')}: limits {named('until')}; give both")
    return replace(until, at_least=min(until.at_least, max_seeds), at_most=max_seeds)


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
            f"sweep.until: half_width = {until.half_width}; give a finite number of at least 0"
        )


def _axes(
    source: Scenario, written: Mapping[str, object], given: Mapping[str, object]
) -> tuple[Axis, ...]:
    """Returns the axes of the scenario file, and those that the caller adds or replaces.

    Raises:
        ScenarioError: Too many keys vary, or an axis has wrong values.
    """
    of_file = [axis(key, one, is_text=True) for key, one in values_by_key(written).items()]
    of_caller = [one if isinstance(one, Axis) else axis(key, one) for key, one in given.items()]
    count = len(of_file) + len(of_caller)
    if count > MOST_KEYS:
        raise ScenarioError(
            f"sweep: {count:,} keys vary; at most {MOST_KEYS} are allowed; leave out those that "
            "have one value"
        )
    axes = axes_in_scenario(of_file, source) | axes_in_scenario(of_caller, source)
    return tuple(axes.values())


def _check_axes(grid: Sequence[Axis], together: Sequence[Axis]) -> None:
    both = {varied.key for varied in grid} & {varied.key for varied in together}
    if both:
        raise ScenarioError(f"sweep: {', '.join(both)} is in grid and in together; keep one")
    for varied in grid:
        _check_distinct(varied.key, varied.values)
    lengths = {varied.key: len(varied.values) for varied in together}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{key} has {count}" for key, count in lengths.items())
        raise ScenarioError(
            f"sweep.together: {counts} values; give the same number of values for each key"
        )
    rows = zip(*(varied.values for varied in together), strict=True)
    _check_distinct("sweep.together", list(rows))
    if any(varied.key == "seed" for varied in (*grid, *together)):
        raise ScenarioError("sweep: seed is not a key to vary; repeat each point with `seeds`")


def _check_distinct(key: str, values: Sequence[object]) -> None:
    known = set()
    for value in values:
        frozen = _frozen(value)
        if frozen in known:
            raise ScenarioError(f"{key}: {quoted(repr(value))} is given twice; keep one of them")
        known.add(frozen)


def _frozen(value: object) -> Hashable:
    """Returns a value of TOML as one that a set can hold; equal values stay equal."""
    if isinstance(value, Mapping):
        return frozenset((name, _frozen(part)) for name, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return value if isinstance(value, Hashable) else repr(value)
