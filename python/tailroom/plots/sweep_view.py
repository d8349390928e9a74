"""Data that the figures of a sweep share: keys, lines, and means along lines."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tailroom.arguments import named
from tailroom.errors import ArgumentError, MetricError
from tailroom.plots import style
from tailroom.plots.readable_names import readable
from tailroom.scenario.axis import Axis, is_buffer, key_words, value_words
from tailroom.scenario.named_values import nearest
from tailroom.simulation.metrics import find_metric
from tailroom.statistics.intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tailroom.studies.sweep_study.study import SweepResult


@dataclass(frozen=True)
class Line:
    """Points of a sweep that differ in one key only."""

    label: str
    """Settings that distinguish the line; empty for a single line."""
    places: tuple[int, ...]
    """Indices of its points in the sweep, along the key."""


@dataclass(frozen=True)
class Means:
    """A metric along a line; NaN where no run of the point is finished."""

    mean: list[float]
    low: list[float]
    """Lower ends of the 95 % confidence intervals; NaN for a single run."""
    high: list[float]
    """Upper ends."""

    @property
    def bars(self) -> "NDArray[np.float64]":
        """Lengths of error bars below and above the means, in two rows; 0 for a single run."""
        below, above = np.subtract(self.mean, self.low), np.subtract(self.high, self.mean)
        bars: NDArray[np.float64] = np.nan_to_num([below, above], nan=0.0)
        return bars


class SweepView:
    """A sweep as the figures see it."""

    def __init__(self, result: "SweepResult", link: str | None = None) -> None:
        """Reads the finished runs.

        Args:
            result: The sweep.
            link: The link whose metrics are drawn (default: the link whose keys vary, else the
                only link).

        Raises:
            ArgumentError: No run is finished.
            MetricError: There is no such link.
        """
        self.result = result
        units = result.record.units
        self.axes = {
            key: Axis(key, tuple(values), bare_unit=units.get(key, ""))
            for key, values in result.record.axes.items()
        }
        self.points = [point["settings"] for point in result.record.points]
        self._intervals: dict[str, list[Interval | None]] = {}
        runs = result.runs
        self.metrics: list[str] = [
            name
            for name, kind in zip(runs.column_names, runs.schema.types, strict=True)
            if pa.types.is_floating(kind)
            and name not in self.axes
            and name != "wall_s"
            and runs[name].null_count < len(runs)
        ]
        self._links = self._candidates(link)

    @property
    def link(self) -> str:
        """The link of metrics that are named without a link.

        Raises:
            MetricError: There are several links.
        """
        if len(self._links) > 1:
            raise MetricError(
                f"there are several links; choose one of {', '.join(self._links)} with "
                f"{named('link')}, or write a metric with its link, as in "
                f"links.{self._links[0]}.utilization"
            )
        return self._links[0]

    def key(self, name: str) -> str:
        """Returns the key of this name, or the key that ends with this name.

        Raises:
            ArgumentError: There is no such key, or there are several.
        """
        ending = [key for key in self.axes if key.endswith(f".{name}")]
        matches = [name] if name in self.axes else ending
        if len(matches) == 1:
            return matches[0]
        if not self.axes:
            raise ArgumentError(
                f"{name}: nothing varies in this sweep, so there is nothing to draw"
            )
        if matches:
            raise ArgumentError(f"{name}: several keys end so; choose one of {', '.join(matches)}")
        raise ArgumentError(f"{name}: no varying key has this name; {nearest(name, self.axes)}")

    def along(self) -> str:
        """The key to draw over: a buffer, else the first with numbers, else the first.

        Raises:
            ArgumentError: Nothing varies.
        """
        several = [key for key in self.axes if len(self.axes[key].values) > 1]
        if not several:
            raise ArgumentError(
                f"nothing varies in this sweep, so there is no curve; draw a sweep with "
                f"{named('grid')}"
            )
        limits = [key for key in several if is_buffer(key)]
        numeric = [key for key in several if self.axes[key].numbers is not None]
        return (limits or numeric or several)[0]

    def lines(self, *keys: str) -> list[Line]:
        """Groups the points by all settings except these keys, which are the axes.

        A key whose value is determined by these keys is ignored.
        """
        others = [key for key in self.axes if key not in keys and not self._settled(key, keys)]
        groups: dict[str, list[int]] = {}
        for place, settings in enumerate(self.points):
            label = ", ".join(self._setting(key, settings[key], others) for key in others)
            groups.setdefault(label, []).append(place)
        orders = {key: self._order(key) for key in keys}

        def order(place: int) -> tuple[float, ...]:
            return tuple(orders[key][_text(self.points[place][key])] for key in keys)

        return [Line(label, tuple(sorted(places, key=order))) for label, places in groups.items()]

    def positions(self, key: str, places: Sequence[int]) -> list[float]:
        """Returns positions on an axis: numbers, or indices of values that are words."""
        order = self._order(key)
        return [order[_text(self.points[place][key])] for place in places]

    def means(self, metric: str, places: Sequence[int]) -> Means:
        """Returns a metric at these points; `metric` is its full name."""
        if metric not in self._intervals:
            self._intervals[metric] = self.result.intervals(metric)
        intervals = [self._intervals[metric][place] for place in places]
        known = [interval.as_dict() if interval else {} for interval in intervals]
        mean, low, high = (
            [nan if (value := numbers.get(name)) is None else value for numbers in known]
            for name in ("mean", "low", "high")
        )
        return Means(mean, low, high)

    def runs_words(self) -> str:
        """How many finished runs the points have."""
        present = self.result.index.present
        return style.runs_words(len(present(point["runs"])) for point in self.result.record.points)

    def metric(self, name: str) -> str:
        """Returns the full name of a metric; a short name means the metric of the link first.

        Raises:
            MetricError: There is no such metric, or there are several.
        """
        if name in self.metrics:
            return name
        own = f"links.{self._links[0]}.{name}" if len(self._links) == 1 else ""
        return own if own in self.metrics else find_metric(name, self.metrics)

    def of_link(self, metric: str) -> str:
        """The full name of a metric of the link."""
        return f"links.{self.link}.{metric}"

    def words(self, key: str) -> list[str]:
        """The values of a key in few words, in the order of `positions`."""
        return readable([value_words(value, self.axes[key].values) for value in self.ordered(key)])

    def ordered(self, key: str) -> list[object]:
        """Returns the values of a key: numbers by size, others in the given order."""
        axis = self.axes[key]
        if axis.numbers is None:
            return list(axis.values)
        return [value for _, value in sorted(zip(axis.numbers, axis.values, strict=True))]

    def title(self) -> str:
        """The title of the scenario, and what varies: the title may name values that do."""
        varied = f"varied: {', '.join(map(key_words, self.axes))}" if self.axes else ""
        return "; ".join(filter(None, (self.result.record.title, varied)))

    def axis_label(self, key: str) -> str:
        """A key with its unit."""
        unit = self.axes[key].unit
        words = key_words(key)
        return f"{words} ({unit})" if unit else words

    def scenario(self, place: int) -> str | None:
        """The scenario of a point as TOML; `None` if no run of it is finished."""
        finished = self.result.index.present(self.result.record.points[place]["runs"])
        row = self.result.store.read(finished[0]) if finished else None
        return None if row is None else str(row["scenario"][0])

    def _order(self, key: str) -> dict[str, float]:
        axis = self.axes[key]
        numbers = axis.numbers or [float(place) for place in range(len(axis.values))]
        return {_text(value): place for value, place in zip(axis.values, numbers, strict=True)}

    def _settled(self, key: str, keys: Sequence[str]) -> bool:
        """Whether the values of `keys` determine the value of this key."""
        seen: dict[str, str] = {}
        for settings in self.points:
            given = _text([settings[axis_key] for axis_key in keys])
            if seen.setdefault(given, _text(settings[key])) != _text(settings[key]):
                return False
        return True

    def _setting(self, key: str, value: object, among: Sequence[str]) -> str:
        """Returns a value in words, with the end of its key unless the value is unambiguous."""
        values = self.axes[key].values
        every = [value_words(one, values) for one in values]
        exact = value_words(value, values)
        words = dict(zip(every, readable(every), strict=True)).get(exact, exact)
        last = key.rpartition(".")[2]
        alone = [other for other in among if other.rpartition(".")[2] == last] == [key]
        own = "buffer" if is_buffer(key) else last.replace("_", " ")
        name = own if alone else key_words(key)
        speaks = alone and isinstance(value, (str, Mapping)) and self.axes[key].numbers is None
        return words if speaks else f"{name} {words}"

    def _candidates(self, name: str | None) -> list[str]:
        """Returns the candidate links: the named link, the links whose keys vary, or all links.

        Raises:
            ArgumentError: No run of the sweep is finished.
            MetricError: There is no link of this name.
        """
        links = list(
            dict.fromkeys(
                metric.split(".")[1] for metric in self.metrics if metric.startswith("links.")
            )
        )
        if not links:
            raise ArgumentError("no run of this sweep is finished; there is nothing to draw yet")
        if name is None:
            varied = [key.split(".")[1] for key in self.axes if key.startswith("links.")]
            return (
                list(dict.fromkeys(link_name for link_name in varied if link_name in links))
                or links
            )
        if name not in links:
            raise MetricError(f"{name}: there is no such link; {nearest(name, links)}")
        return [name]


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
