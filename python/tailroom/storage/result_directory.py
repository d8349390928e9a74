"""A result on disk: a directory with the scenario, the summary, the tables and pictures.

The files are TOML, JSON, Parquet and PNG, which other programs can read.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailroom.errors import ArgumentError
from tailroom.scenario.custom_controls import portable_file
from tailroom.scenario.json_text import json_text, read_json
from tailroom.scenario.scenario import own_controls, replace_files
from tailroom.simulation.result import Result
from tailroom.simulation.result_tables import ResultTables
from tailroom.storage.output import output_directory

if TYPE_CHECKING:
    import pyarrow as pa

SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
TABLES = tuple(sorted(table.name for table in fields(ResultTables)))
"""Names of the tables; each table is a file `NAME.parquet`."""


def summary_text(summary: Mapping[str, Any]) -> str:
    """Formats a summary as JSON; equal summaries give equal bytes."""
    return json_text(summary)


def write_scenario(scenario: str, directory: Path, name: str = SCENARIO) -> None:
    """Writes a resolved scenario (TOML) into a directory, and copies the files that it names.

    The modules of congestion controls written in Python are copied too if they need no other file.
    """
    text = replace_files(scenario, lambda path: _copied(path, directory))
    (directory / name).write_text(text, encoding="utf-8")
    for control in own_controls(text):
        module = portable_file(control)
        if module:
            shutil.copyfile(module, directory / module.name)


def write(result: Result, directory: Path) -> None:
    """Writes the files of a result into an existing directory."""
    write_scenario(result.scenario, directory)
    (directory / SUMMARY).write_text(summary_text(result.summary), encoding="utf-8")
    # It loads Arrow and NumPy, and `run` may need neither.
    from tailroom.parquet_files import write_table  # noqa: PLC0415

    for name in TABLES:
        table = getattr(result, name)
        if table is not None:
            write_table(table, directory / f"{name}.parquet")
    drawn = (result.link_series, result.arrival_dispersion, result.arrival_log)
    if any(table is not None for table in drawn):
        from tailroom import plots  # noqa: PLC0415 - matplotlib takes a second to load

        plots.write(result, directory)


def _copied(source: str, directory: Path) -> str:
    """Copies a file into the directory of the scenario; files of the same name are numbered.

    Returns the name of the copy.
    """
    path = Path(source)
    name = path.name
    number = 1
    while (directory / name).exists():
        number += 1
        name = f"{path.stem}-{number}{path.suffix}"
    shutil.copyfile(path, directory / name)
    return name


def save(result: Result, directory: str | PathLike[str]) -> None:
    """Writes a result into a new directory; if a file cannot be written, none is left.

    Args:
        result: The result of a run.
        directory: The new directory; missing, or an empty directory.

    Raises:
        OutputDirectoryError: The directory has content already, or cannot be written.
    """
    with output_directory(directory) as output:
        output.write(lambda staging: write(result, staging), rescue=False)


def load(directory: str | PathLike[str]) -> Result:
    """Reads a result that `Result.save` or `tailroom run --out` wrote.

    Args:
        directory: Directory of the result.

    Returns:
        The result with its scenario, summary and recorded tables.

    Raises:
        ArgumentError: The directory has no result, or one of its files is damaged.
    """
    path = Path(directory)
    try:
        scenario = (path / SCENARIO).read_text(encoding="utf-8")
        summary = read_json((path / SUMMARY).read_text(encoding="utf-8"))
        tables = {name: _read_table(path / f"{name}.parquet") for name in TABLES}
    except (OSError, ValueError) as error:
        raise ArgumentError(
            f"{path}: has no result of tailroom ({error}); "
            "give a directory that `tailroom run --out` wrote"
        ) from None
    return Result(summary=summary, scenario=scenario, **tables)


def _read_table(path: Path) -> pa.Table | None:
    from tailroom.parquet_files import read_table  # noqa: PLC0415 - as above

    return read_table(path) if path.exists() else None
