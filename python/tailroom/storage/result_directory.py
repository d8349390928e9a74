"""A run on disk: a directory with the scenario, the summary and the tables.

The files are TOML, JSON and Parquet, which other programs can read.
"""

from __future__ import annotations

import shutil
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailroom.errors import ArgumentError
from tailroom.given_files import read_bytes
from tailroom.scenario.custom_controls import portable_file
from tailroom.scenario.json_text import json_text, read_json
from tailroom.scenario.scenario import own_controls, replace_files
from tailroom.simulation.action_log import ActionLog
from tailroom.simulation.result import Result
from tailroom.simulation.result_tables import ResultTables
from tailroom.simulation.result_types import Timing

if TYPE_CHECKING:
    import pyarrow as pa

SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
KEYS = {"links", "flows", "groups", "warnings"}
"""Some of the keys of every summary."""
ACTIONS = "actions.json"
TIMING = "timing.json"
"""How long the run took; every other file is the same for equal runs."""
KEYS_OF_TIMING = Timing.__annotations__.keys()
MOST_TEXT_BYTES = 200_000_000
"""Length of a text in such a directory."""
TABLES = tuple(sorted(table.name for table in fields(ResultTables)))
"""Names of the tables; each table is a file `NAME.parquet`."""


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
    """Writes scenario, summary and tables of a run into an existing directory."""
    write_scenario(result.scenario, directory)
    (directory / SUMMARY).write_text(json_text(result.summary), encoding="utf-8")
    if result.timing is not None:
        (directory / TIMING).write_text(json_text(result.timing), encoding="utf-8")
    # It loads Arrow and NumPy, and `run` may need neither.
    from tailroom.parquet_files import write_table  # noqa: PLC0415

    if result.actions is not None:
        (directory / ACTIONS).write_text(json_text(result.actions.as_dict()), encoding="utf-8")
    for name in TABLES:
        table = getattr(result, name)
        if table is not None:
            write_table(table, directory / f"{name}.parquet")


def _copied(source: str, directory: Path) -> str:
    """Copies a file into the directory of the scenario; files of the same name are numbered.

    Returns the name of the copy.

    Raises:
        ArgumentError: It is no file: the scenario of a loaded result may name a device.
    """
    path = Path(source)
    if path.exists() and not path.is_file():
        raise ArgumentError(
            f"{source}: is a pipe, a device or a directory, and the scenario of this result names "
            "it as a file; take a result of your own"
        )
    name = path.name
    number = 1
    while (directory / name).exists():
        number += 1
        name = f"{path.stem}-{number}{path.suffix}"
    shutil.copyfile(path, directory / name)
    return name


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
        # As of a result of `tr.run`, whatever the working directory is when it is used.
        here = path.absolute()
        scenario = replace_files(_text(path / SCENARIO), lambda name: str(here / name))
        summary = _read_summary(path / SUMMARY)
        actions = _read_actions(path / ACTIONS)
        timing = _read_timing(path / TIMING)
        tables = {name: _read_table(path / f"{name}.parquet") for name in TABLES}
    except (OSError, ValueError, RecursionError) as error:
        missing = Path(error.filename).name if isinstance(error, FileNotFoundError) else ""
        reason = f"there is no {missing}" if missing else str(error)
        raise ArgumentError(
            f"{path}: has no result of tailroom ({reason}); "
            "give a directory that `tailroom run --out` wrote"
        ) from None
    return Result(summary=summary, scenario=scenario, actions=actions, timing=timing, **tables)


def _read_summary(path: Path) -> Any:
    summary = read_json(_text(path))
    if not (isinstance(summary, dict) and summary.keys() >= KEYS):
        raise ValueError(f"{SUMMARY} is no summary of a run")
    return summary


def _read_actions(path: Path) -> ActionLog | None:
    actions = _read_if_there(path)
    return None if actions is None else ActionLog.from_dict(actions)


def _read_timing(path: Path) -> Any:
    timing = _read_if_there(path)
    if timing is not None and not (isinstance(timing, dict) and timing.keys() >= KEYS_OF_TIMING):
        raise ValueError(f"{TIMING} has no times of a run")
    return timing


def _read_if_there(path: Path) -> Any:
    return read_json(_text(path)) if path.exists() else None


def _text(path: Path) -> str:
    return read_bytes(path, MOST_TEXT_BYTES).decode()


def _read_table(path: Path) -> pa.Table | None:
    from tailroom.parquet_files import read_table  # noqa: PLC0415 - as above

    try:
        return read_table(path) if path.exists() else None
    except OSError as error:
        raise OSError(f"{path.name}: {error.strerror or error}") from None
