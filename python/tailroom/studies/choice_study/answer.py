"""The choices of a study, side by side: as a table, as JSON, as files and as a picture."""

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tailroom.statistics.intervals import Interval
from tailroom.storage.output_directory import output_directory
from tailroom.storage.result_directory import write_scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 150
MOST_SHOWN, MOST_METRICS = 6, 3
"""Choices, and metrics of each, in the representation as text."""
_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True)
class Choice:
    """One of the choices, and what its runs have shown."""

    words: tuple[str, ...]
    """What tells it from the others, one word or few under each of `Choices.headings`."""
    settings: Mapping[str, object]
    """The values that it replaces in the scenario, by key."""
    title: str
    """Of its scenario."""
    scenario: str = field(repr=False)
    """As TOML with every default filled in."""
    metrics: Mapping[str, Interval]
    """Mean and 95 % interval over the seeds of every metric that is defined, by full name. Of one
    seed the half-width is infinite."""
    warnings: tuple[str, ...]
    """Of its runs, those that differ only in numbers once."""
    measured_from_s: float
    """The statistics cover the time from here ..."""
    measured_to_s: float
    """... to here."""

    @property
    def name(self) -> str:
        """Its words in one line."""
        return ", ".join(filter(None, self.words))


@dataclass(frozen=True)
class Choices:
    """Choices side by side."""

    headings: tuple[str, ...]
    """Of the words that name the choices."""
    choices: tuple[Choice, ...]
    seeds: tuple[int, ...]
    """Seeds of each choice."""
    links: tuple[str, ...]
    """The links that matter: those that vary or whose metrics were asked for, else all."""
    metrics: tuple[str, ...]
    """Full names of the metrics to show."""
    notes: tuple[str, ...]
    """What was kept of the scenario where a word replaces a queue."""

    def __repr__(self) -> str:
        """A line per choice, with the first metrics."""
        seeds = f"{len(self.seeds)} {'seed' if len(self.seeds) == 1 else 'seeds'}"
        lines = [f"{len(self.choices)} choices, {seeds} each"]
        for one in self.choices[:MOST_SHOWN]:
            found = [(name, one.metrics[name].mean) for name in self.metrics if name in one.metrics]
            numbers = [f"{self._shown(name)} {mean:.4g}" for name, mean in found[:MOST_METRICS]]
            lines.append(f"{one.name}: {', '.join(numbers)}")
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
        """One row per choice: what names it, then each metric.

        With several seeds, `METRIC` is followed by `METRIC.half_width`, that of its 95 % interval.
        A metric that a choice does not define is null.
        """
        columns: dict[str, pa.Array] = {
            heading: pa.array([one.words[place] for one in self.choices], pa.string())
            for place, heading in enumerate(self.headings)
        }
        for metric in self.metrics:
            found = [one.metrics.get(metric) for one in self.choices]
            means = [one.mean if one else None for one in found]
            columns[metric] = pa.array(means, pa.float64())
            if len(self.seeds) > 1:
                widths = [one.half_width if one and one.count > 1 else None for one in found]
                columns[f"{metric}.half_width"] = pa.array(widths, pa.float64())
        return pa.table(columns)

    @property
    def warnings(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each warning with the names of the choices that it concerns.

        Of warnings that differ only in numbers, the text is that of the first choice.
        """
        texts: dict[str, str] = {}
        whose: dict[str, list[str]] = {}
        for one in self.choices:
            for text in one.warnings:
                alike = without_numbers(text)
                texts.setdefault(alike, text)
                whose.setdefault(alike, []).append(one.name)
        return [(texts[alike], tuple(names)) for alike, names in whose.items()]

    def plot(self) -> "Figure":
        """Draws utilization against queueing delay, a panel for each link that matters."""
        from tailroom.plots import choices_trade_off  # noqa: PLC0415 - matplotlib loads slowly

        return choices_trade_off.draw(self)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes table (CSV and JSON), scenarios and picture into a new directory.

        Raises:
            OutputDirectoryError: The directory holds something already or cannot be written.
        """
        save(self, directory)


def as_dict(found: Choices, *, every_metric: bool = True) -> dict[str, Any]:
    """Choices as `tailroom run --json` prints them; a half-width of one seed is null.

    Args:
        found: The choices.
        every_metric: All metrics that are defined, not only those that the table shows.
    """
    return {
        "seeds": list(found.seeds),
        "metrics": list(found.metrics),
        "notes": list(found.notes),
        "choices": [_choice(one, None if every_metric else found.metrics) for one in found.choices],
        "warnings": [{"text": text, "choices": list(names)} for text, names in found.warnings],
    }


def _choice(one: Choice, shown: tuple[str, ...] | None) -> dict[str, Any]:
    return {
        "name": one.name,
        "title": one.title,
        "settings": dict(one.settings),
        "measured_from_s": one.measured_from_s,
        "measured_to_s": one.measured_to_s,
        "metrics": {
            name: _interval(interval)
            for name, interval in one.metrics.items()
            if shown is None or name in shown
        },
        "warnings": list(one.warnings),
    }


def _interval(interval: Interval) -> dict[str, float | None]:
    width = interval.half_width
    return {"mean": interval.mean, "half_width": width if isfinite(width) else None}


def text_of(found: Choices, *, every_metric: bool = True) -> str:
    """Choices as JSON: the same bytes for the same choices."""
    content = as_dict(found, every_metric=every_metric)
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def save(found: Choices, directory: str | PathLike[str]) -> None:
    """Writes choices into a new directory, or nothing at all.

    Raises:
        OutputDirectoryError: The directory holds something already or cannot be written.
    """
    with output_directory(directory) as staging:
        write(found, staging)


def write(found: Choices, directory: Path) -> None:
    """Writes `choices.csv`, `choices.json`, `choices.png` and the scenarios."""
    with (directory / "choices.csv").open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        table = found.table
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    (directory / "choices.json").write_text(text_of(found), encoding="utf-8")
    for one in found.choices:
        # A directory each: their files may have the same names.
        place = _free(directory / "scenarios", one.name)
        place.mkdir(parents=True)
        write_scenario(one.scenario, place)
    found.plot().savefig(directory / "choices.png", dpi=DOTS_PER_INCH)


def _free(parent: Path, name: str) -> Path:
    """A path below `parent` that is named after a choice, and that nothing has yet."""
    plain = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "choice"
    numbered = (f"{plain}-{number}" for number in range(2, 10**6))
    path = parent / plain
    while path.exists():
        path = parent / next(numbered)
    return path


def without_numbers(text: str) -> str:
    """The text with every number replaced, so that texts that differ only in numbers are equal."""
    return _NUMBER.sub("#", text)
