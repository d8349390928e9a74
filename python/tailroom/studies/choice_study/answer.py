"""The results of several choices as a table, as JSON, as files and as a picture."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tailroom.field_docs import with_field_docs
from tailroom.scenario.json_text import json_text
from tailroom.simulation.warned import with_names
from tailroom.statistics.intervals import Interval
from tailroom.storage.output import output_directory
from tailroom.storage.result_directory import write_scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.simulation.result_types import RunWarning

DOTS_PER_INCH = 150
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
class Choices:
    """The results of several choices."""

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

    def __repr__(self) -> str:
        """A line per choice, with the first metrics."""
        seeds = f"{len(self.seeds)} {'seed' if len(self.seeds) == 1 else 'seeds'}"
        lines = [f"{len(self.choices)} choices, {seeds} each"]
        for choice in self.choices[:MOST_SHOWN]:
            defined = [name for name in self.metrics if name in choice.metrics]
            numbers = [
                f"{self._shown(name)} {choice.metrics[name].mean:.4g}"
                for name in defined[:MOST_METRICS]
            ]
            lines.append(f"{choice.name}: {', '.join(numbers)}")
        if (left := len(self.choices) - MOST_SHOWN) > 0:
            lines.append(f"... and {left} more")
        return "<Choices: " + "\n  ".join(lines) + ">"

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        from tailroom.reports.notebook import choices_html  # noqa: PLC0415 - matplotlib takes a second

        return choices_html(self)

    def _shown(self, metric: str) -> str:
        """The name of a metric, without its link if there is only one."""
        return metric.removeprefix(f"links.{self.links[0]}.") if len(self.links) == 1 else metric

    @property
    def table(self) -> pa.Table:
        """One row per choice: its words under the headings, then a column per metric.

        With several seeds, the column `METRIC` has the means in the unit of the metric, the column
        `METRIC.half_width` the half-widths of Student's 95 % intervals, and `METRIC.low` and
        `METRIC.high` have the ends of the intervals, which stay within the range of the metric. A
        metric that a choice does not define is null.
        """
        columns: dict[str, pa.Array] = {
            heading: pa.array([choice.words[place] for choice in self.choices], pa.string())
            for place, heading in enumerate(self.headings)
        }
        for metric in self.metrics:
            intervals = [choice.metrics.get(metric) for choice in self.choices]
            means = [interval.mean if interval else None for interval in intervals]
            columns[metric] = pa.array(means, pa.float64())
            if len(self.seeds) > 1:
                numbers = [interval.as_dict() if interval else {} for interval in intervals]
                for name in ("half_width", "low", "high"):
                    values = [of_choice.get(name) for of_choice in numbers]
                    columns[f"{metric}.{name}"] = pa.array(values, pa.float64())
        return pa.table(columns)

    @property
    def warnings(self) -> list[tuple["RunWarning", tuple[str, ...]]]:
        """Each warning with the names of the choices that it concerns.

        Of each kind and place, the warning is that of the first choice.
        """
        return with_names((choice.name, choice.warnings) for choice in self.choices)

    def plot(self) -> "Figure":
        """Draws utilization against queueing delay, one panel per link of `links`."""
        from tailroom.plots import choices_trade_off  # noqa: PLC0415 - matplotlib loads slowly

        return choices_trade_off.draw(self)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes table (CSV and JSON), scenarios and picture into a new directory.

        Args:
            directory: The new directory; missing, or an empty directory.

        Raises:
            OutputDirectoryError: The directory is not empty or cannot be written.
        """
        save(self, directory)


def as_dict(choices: Choices, *, every_metric: bool = True) -> dict[str, Any]:
    """Choices as `tailroom run --json` prints them; a half-width of one seed is null.

    Args:
        choices: The choices.
        every_metric: Include all metrics that are defined, not only those that the table shows.
    """
    shown = None if every_metric else choices.metrics
    return {
        "seeds": list(choices.seeds),
        "metrics": list(choices.metrics),
        "notes": list(choices.notes),
        "choices": [_choice(choice, shown) for choice in choices.choices],
        "warnings": [{**one, "choices": list(names)} for one, names in choices.warnings],
    }


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


def text_of(choices: Choices, *, every_metric: bool = True) -> str:
    """Choices as JSON text; the same choices give the same bytes."""
    return json_text(as_dict(choices, every_metric=every_metric))


def save(choices: Choices, directory: str | PathLike[str]) -> None:
    """Writes choices into a new directory; writes nothing if this fails.

    Raises:
        OutputDirectoryError: The directory is not empty or cannot be written.
    """
    with output_directory(directory) as output:
        output.write(lambda staging: write(choices, staging), rescue=False)


def write(choices: Choices, directory: Path) -> None:
    """Writes `choices.csv`, `choices.json`, `choices.png` and the scenarios into a directory."""
    with (directory / "choices.csv").open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        table = choices.table
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    (directory / "choices.json").write_text(text_of(choices), encoding="utf-8")
    for choice in choices.choices:
        # The files of different scenarios may have the same names, so each gets a directory.
        scenario_directory = _free(directory / "scenarios", choice.name)
        scenario_directory.mkdir(parents=True)
        write_scenario(choice.scenario, scenario_directory)
    choices.plot().savefig(directory / "choices.png", dpi=DOTS_PER_INCH)


def _free(parent: Path, name: str) -> Path:
    """A path below `parent` that is named after a choice and does not exist yet."""
    plain = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "choice"
    numbered = (f"{plain}-{number}" for number in range(2, 10**6))
    path = parent / plain
    while path.exists():
        path = parent / next(numbered)
    return path
