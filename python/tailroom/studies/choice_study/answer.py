"""The results of several choices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import is_number
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.simulation.run_warnings import with_names
from tailroom.statistics.intervals import Interval
from tailroom.studies.setting_columns import setting_column

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_types import RunWarning

MOST_SHOWN, MOST_METRICS = 6, 3
"""Maximum numbers of choices, and of metrics per choice, in `repr`."""


@with_field_docs
@dataclass(frozen=True)
class Choice:
    """A choice and the results of its runs."""

    words: tuple[str, ...]
    """Words that distinguish the choice from the others, one entry per heading of
    `Choices.headings`."""
    settings: Mapping[str, object]
    """Values that replace those of the scenario, by key."""
    title: str
    """Title of the scenario."""
    scenario: str = field(repr=False)
    """The scenario as TOML with every default filled in."""
    metrics: Mapping[str, Interval]
    """Mean over the seeds with its 95 % interval of every metric that is defined, by full name. The
    half-width is infinite if there is one seed."""
    warnings: tuple["RunWarning", ...]
    """Warnings of the runs, each kind and place once."""
    measured_from_s: float
    """Start of the time that the statistics cover, in seconds."""
    measured_to_s: float
    """End of the time that the statistics cover, in seconds."""

    @property
    def name(self) -> str:
        """The words of the choice in one line."""
        return ", ".join(filter(None, self.words))


@with_field_docs
@dataclass(frozen=True)
class Choices(AnyResult):
    """The results of several choices.

    Their table `choices` has one row per choice: its words under the headings, or numbers whose
    unit is in the metadata of the column, then a column per metric. With several seeds, the column
    `METRIC` has the means in the unit of the metric, the column `METRIC.half_width` the half-widths
    of Student's 95 % intervals, and `METRIC.low` and `METRIC.high` have the ends of the intervals,
    which stay within the range of the metric. A metric that a choice does not define is null. The
    picture is utilization against queueing delay, one panel per link of `links`.
    """

    headings: tuple[str, ...]
    """Headings of the columns that name the choices."""
    choices: tuple[Choice, ...]
    """The choices, in the order in which they were given."""
    seeds: tuple[int, ...]
    """Seeds of each choice."""
    links: tuple[str, ...]
    """The links to show: those that vary or whose metrics are requested, else all."""
    metrics: tuple[str, ...]
    """Full names of the metrics to show."""
    notes: tuple[str, ...]
    """Limits of the scenario that were kept where a word replaces a queue."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units of settings that are numbers, by heading."""

    def __repr__(self) -> str:
        """A line per choice, with the first metrics."""
        seeds = f"{len(self.seeds)} {'seed' if len(self.seeds) == 1 else 'seeds'}"
        lines = [f"{len(self.choices)} choices, {seeds} each"]
        for choice in self.choices[:MOST_SHOWN]:
            defined = [name for name in self.metrics if name in choice.metrics]
            numbers = [
                f"{self._shown(name)} {metric_of(name).unit.text(choice.metrics[name].mean)}"
                for name in defined[:MOST_METRICS]
            ]
            lines.append(f"{choice.name}: {', '.join(numbers)}")
        if (left := len(self.choices) - MOST_SHOWN) > 0:
            lines.append(f"... and {left} more")
        return "<Choices: " + "\n  ".join(lines) + ">"

    def _shown(self, metric: str) -> str:
        """The name of a metric, without its link if there is only one."""
        return metric.removeprefix(f"links.{self.links[0]}.") if len(self.links) == 1 else metric

    @property
    def _tables(self) -> Tables:
        return {"choices": self._table}

    def _table(self) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - an optional library

        columns: dict[str, pa.Array] = {}
        for metric in self.metrics:
            intervals = [choice.metrics.get(metric) for choice in self.choices]
            means = [interval.mean if interval else None for interval in intervals]
            columns[metric] = pa.array(means, pa.float64())
            if len(self.seeds) > 1:
                numbers = [interval.as_dict() if interval else {} for interval in intervals]
                for name in ("half_width", "low", "high"):
                    values = [of_choice.get(name) for of_choice in numbers]
                    columns[f"{metric}.{name}"] = pa.array(values, pa.float64())
        table = pa.table(columns)
        for place, heading in enumerate(self.headings):
            column = setting_column(heading, self._values(place), self.units.get(heading))
            table = table.add_column(place, *column)
        return table

    def _values(self, place: int) -> list[object]:
        """The column under a heading: numbers if every choice has one, else words."""
        # The name of a scenario precedes the settings.
        settings = [[choice.words[0], *choice.settings.values()] for choice in self.choices]
        first = len(settings[0]) - len(self.headings)
        values = [of_choice[first + place] for of_choice in settings]
        if self.headings[place] in self.units or all(map(is_number, values)):
            return values
        return [choice.words[place] for choice in self.choices]

    @property
    def warnings(self) -> tuple["RunWarning", ...]:
        """What a reader should know before trusting the result, each kind and place once."""
        return tuple(warning for warning, _ in self.warnings_by_choice)

    @property
    def warnings_by_choice(self) -> list[tuple["RunWarning", tuple[str, ...]]]:
        """Each warning with the names of the choices that it concerns.

        Of each kind and place, the warning is that of the first choice.
        """
        return with_names((choice.name, choice.warnings) for choice in self.choices)

    @property
    def identical(self) -> list[tuple[str, ...]]:
        """Names of choices whose runs are the same in every metric: their difference never acts.

        A discipline that never drops or marks before its limit is the same as `drop_tail`.
        """
        groups: list[list[Choice]] = []
        for choice in self.choices:
            same = (one for one in groups if _are_same(one[0].metrics, choice.metrics))
            group = next(same, None)
            if group is None:
                groups.append([choice])
            else:
                group.append(choice)
        return [tuple(one.name for one in group) for group in groups if len(group) > 1]

    def as_dict(self, *, every_metric: bool = True) -> dict[str, Any]:
        """Choices as `tailroom run --json` prints them; a half-width of one seed is null.

        Args:
            every_metric: Include all metrics that are defined, not only those of `metrics`.
        """
        shown = None if every_metric else self.metrics
        return {
            "seeds": list(self.seeds),
            "metrics": list(self.metrics),
            "notes": list(self.notes),
            "identical": [list(names) for names in self.identical],
            "choices": [_choice(choice, shown) for choice in self.choices],
            "warnings": [{**one, "choices": list(names)} for one, names in self.warnings_by_choice],
        }


def _are_same(metrics: Mapping[str, Interval], others: Mapping[str, Interval]) -> bool:
    """Whether the metrics that both have are equal; a discipline may have some of its own."""
    both = [name for name in metrics if name in others]
    return bool(both) and all(metrics[name] == others[name] for name in both)


def _choice(choice: Choice, shown: tuple[str, ...] | None) -> dict[str, Any]:
    return {
        "name": choice.name,
        "title": choice.title,
        "settings": dict(choice.settings),
        "measured_from_s": choice.measured_from_s,
        "measured_to_s": choice.measured_to_s,
        "metrics": {
            name: interval.as_dict()
            for name, interval in choice.metrics.items()
            if shown is None or name in shown
        },
        "warnings": list(choice.warnings),
    }
