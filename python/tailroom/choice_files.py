"""Choices as JSON, and as files: the table, the scenarios and the picture."""

import csv
import json
import re
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailroom.confidence import Interval
from tailroom.output_directory import output_directory
from tailroom.result_files import write_scenario

if TYPE_CHECKING:
    from tailroom.choices import Choice, Choices

DOTS_PER_INCH = 150


def as_dict(found: "Choices", *, every_metric: bool = True) -> dict[str, Any]:
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


def _choice(one: "Choice", shown: tuple[str, ...] | None) -> dict[str, Any]:
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


def text_of(found: "Choices", *, every_metric: bool = True) -> str:
    """Choices as JSON: the same bytes for the same choices."""
    content = as_dict(found, every_metric=every_metric)
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def save(found: "Choices", directory: str | PathLike[str]) -> None:
    """Writes choices into a new directory, or nothing at all.

    Raises:
        OutputDirectoryError: The directory holds something already or cannot be written.
    """
    with output_directory(directory) as staging:
        write(found, staging)


def write(found: "Choices", directory: Path) -> None:
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
